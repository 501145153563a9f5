/** Errors of the API with the labels of the form instead of the names of the API. Pure. */

/** A field at the start of an error: `slug`, or `scrub_rules.0.path` for a field of an entry of a list. */
const NAMED = /^([a-z]\w*)(?:\.(\d+))?(?:\.(\w+))? /u

/**
 * The sentence with the label of its field: `slug takes …` → `Short name: takes …`. An entry of a list is counted from
 * 1. Sentences about other fields stay as they are.
 */
export function labelled(message: string, labels: Readonly<Record<string, string>>): string {
  const [start = '', name = '', index, part] = NAMED.exec(message) ?? []
  const label = Object.hasOwn(labels, name) ? labels[name] : undefined
  if (label === undefined) return message
  const entry = index === undefined ? '' : ` ${Number(index) + 1}`
  const field = part === undefined ? '' : `, ${part.replaceAll('_', ' ')}`
  return `${label}${entry}${field}: ${message.slice(start.length)}`
}
