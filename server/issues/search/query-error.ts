import { AppError } from '../../platform/kernel/errors.ts'

/** Mistakes in queries, with their place. */

/** A part of a query: from `start` to before `end`, in UTF-16 units from 0. */
export type Span = { readonly start: number; readonly end: number }

/** A text that the user may mean; `replacement` is the text for the span, or null if nothing is similar. */
export type Hint = Span & { readonly sentence: string; readonly replacement: string | null }

/** A word that no issue has, and the similar one that is searched instead. */
export type Correction = { readonly word: string; readonly replacement: string }

/**
 * Returns the error `q: <what> (character 7).` with the place in a header.
 * @param name name of the query in the sentence
 * @param character the place that the sentence names, from 0, if it is not the beginning of the span
 */
export const queryError = (
  name: string,
  what: string,
  { start, end }: Span,
  { character = start, hints = [] }: { readonly character?: number; readonly hints?: readonly Hint[] } = {},
): AppError =>
  new AppError('invalid', `${name}: ${what} (character ${character + 1}).`, {
    headers: { [QUERY_MISTAKE]: headerOf({ start, end }, hints) },
  })

/** Errors have no field but their sentence. */
const QUERY_MISTAKE = 'x-query-mistake'
/** Proxies refuse long headers. */
const MAX_HEADER_CHARACTERS = 2_000

/** JSON in ASCII; hints with very long words are left out. */
function headerOf(position: Span, hints: readonly Hint[]): string {
  const textOf = (value: object): string =>
    JSON.stringify(value).replaceAll(
      /[^\x20-\x7e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
  const text = textOf(hints.length === 0 ? { position } : { position, hints })
  return text.length > MAX_HEADER_CHARACTERS ? textOf({ position }) : text
}

/** Returns the text of the choices that is most similar to the word, if it differs by few letters or begins with it. */
export function nearest(word: string, choices: Iterable<string>): string | null {
  const wanted = word.toLowerCase()
  const max = Math.min(3, Math.floor((wanted.length + 1) / 3))
  let best: string | null = null
  let least = max + 1
  for (const choice of choices) {
    const distance = choice.startsWith(wanted) && wanted.length >= 3 ? 0.5 : distanceOf(wanted, choice, least)
    if (distance >= least) continue
    best = choice
    least = distance
  }
  return best
}

/** Returns the number of letters to insert, remove, change or swap with their neighbour; `max` if it is that or more. */
function distanceOf(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) >= max || a.length > MAX_COMPARED || b.length > MAX_COMPARED) return max
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, change, isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity),
      )
    }
    // No later row is below the smaller of these two.
    if (Math.min(...next) >= max && Math.min(...row) >= max) return max
    before = row
    row = next
  }
  return Math.min(max, row[b.length] ?? max)
}

const MAX_COMPARED = 60

/** Patterns of LIKE. */

export const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&')
export const toLikePattern = (glob: string): string => escapeLike(glob).replaceAll('*', '%')
