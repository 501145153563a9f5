/** The longest answer of a tool, as JSON: models read every byte. */
export const MAX_ANSWER_BYTES = 100_000

/** How much of an answer is kept, in the order in which it is tried. */
const STEPS = [
  { entries: 50, characters: 2_000 },
  { entries: 20, characters: 1_000 },
  { entries: 10, characters: 500 },
  { entries: 6, characters: 200 },
  { entries: 3, characters: 100 },
] as const
type Step = (typeof STEPS)[number]

const MAX_DEPTH = 12

export type Shortened = {
  readonly text: string
  /** The value of the text. */
  readonly value: unknown
  /** Says that something was left out; null when nothing was. */
  readonly sentence: string | null
}

/** An answer as JSON that fits `maxBytes`. Of long lists their ends stay, of long texts their beginnings. */
export function shorten(value: unknown, maxBytes = MAX_ANSWER_BYTES): Shortened {
  const whole = JSON.stringify(value) ?? 'null'
  const bytes = Buffer.byteLength(whole)
  if (bytes <= maxBytes) return { text: whole, value, sentence: null }
  const had = `The answer had ${Math.ceil(bytes / 1000).toLocaleString('en')} kB`
  for (const step of STEPS) {
    const short = shortenValue(value, step, 0)
    const text = JSON.stringify(short)
    if (Buffer.byteLength(text) <= maxBytes)
      return {
        text,
        value: short,
        sentence: `${had}: its lists were cut to ${step.entries} entries and its texts to ${step.characters} characters.`,
      }
  }
  return { text: 'null', value: null, sentence: `${had} and is left out.` }
}

function shortenValue(value: unknown, step: Step, depth: number): unknown {
  if (typeof value === 'string')
    return value.length <= step.characters ? value : `${value.slice(0, step.characters).toWellFormed()}…`
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return '…'
  if (Array.isArray(value)) return ends(value, step.entries).map((entry) => shortenValue(entry, step, depth + 1))
  // Fields of the API's own shapes are fewer; an event may hold more.
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, Math.max(step.entries, 40))
      .map(([key, field]) => [key, shortenValue(field, step, depth + 1)]),
  )
}

/** The newest breadcrumb and the frame that failed are at an end of their list. */
function ends(list: readonly unknown[], entries: number): readonly unknown[] {
  if (list.length <= entries) return list
  const head = Math.ceil(entries / 2)
  return [
    ...list.slice(0, head),
    `… ${list.length - entries} of ${list.length} left out`,
    ...list.slice(head - entries),
  ]
}
