/** Errors of the API with the labels of the form instead of the names of the API. Pure. */

export type Labels = Readonly<Record<string, string>>

/** A field at the start of an error: `slug`, or `scrub_rules.0.path` for a field of an entry of a list. */
const NAMED = /^([a-z]\w*)((?:\.\w+)*) (?=(?:must|may|takes|needs|requires|names|holds|has|knows|is|are|cannot)\b)/u

/** `client_id` → `client`, `newPassword` → `new password`. */
const plain = (name: string): string =>
  name
    .replace(/_ids?$/u, '')
    .replaceAll(/([a-z])([A-Z])/gu, (_all, end: string, start: string) => `${end} ${start.toLowerCase()}`)
    .replaceAll('_', ' ')

/**
 * The sentence with the label of its field: `slug takes …` → `Short name: takes …`. An entry of a list is counted from 1.
 * A field without a label is named in plain words: `client_id must …` → `Client must …`.
 */
export function labelled(message: string, labels: Labels): string {
  const [start, name = '', path = ''] = NAMED.exec(message) ?? []
  if (start === undefined) return message
  const parts = path
    .split('.')
    .slice(1)
    .map((part) => (/^\d+$/u.test(part) ? ` ${Number(part) + 1}` : `, ${plain(part)}`))
    .join('')
  const label = Object.hasOwn(labels, name) ? labels[name] : undefined
  const rest = message.slice(start.length)
  if (label !== undefined) return `${label}${parts}: ${rest}`
  const words = plain(name)
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${parts} ${rest}`
}
