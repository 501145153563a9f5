/** Hints of lists and refusals about terms of a query. Positions refer to the query; `end` is exclusive. */

export type QueryHint = {
  readonly start: number
  readonly end: number
  readonly sentence: string
  /** Null if nothing similar is known. */
  readonly replacement: string | null
}

export const parseHints = (value: unknown): QueryHint[] => (Array.isArray(value) ? value.filter(isHint) : [])

/** A hint or a place in another text, which begins so many characters earlier. */
export const movedBy = <Place extends { readonly start: number; readonly end: number }>(
  place: Place,
  by: number,
): Place => ({ ...place, start: place.start + by, end: place.end + by })

export const isPlace = (value: unknown): value is { start: number; end: number } =>
  typeof value === 'object' &&
  value !== null &&
  'start' in value &&
  'end' in value &&
  typeof value.start === 'number' &&
  typeof value.end === 'number'

const isHint = (value: unknown): value is QueryHint =>
  isPlace(value) &&
  'sentence' in value &&
  typeof value.sentence === 'string' &&
  'replacement' in value &&
  (value.replacement === null || typeof value.replacement === 'string')
