/**
 * The functions of a source as sorted places where another function begins: the function of a position is the one of the
 * last place at or before it. Metro's function maps have this form; nested ranges of a syntax tree are brought into it.
 */
export class FunctionRanges {
  readonly #lines: Int32Array
  readonly #columns: Int32Array
  readonly #names: readonly string[]
  /** Positions of generated code follow each other in the source too: the next one is mostly in the same range. */
  #last = 0

  /** @param places sorted, zero-based lines and columns */
  constructor(places: readonly FunctionPlace[]) {
    this.#lines = Int32Array.from(places, ({ line }) => line)
    this.#columns = Int32Array.from(places, ({ column }) => column)
    this.#names = places.map(({ name }) => name)
  }

  /** @returns the name of the function at a zero-based position; null before the first place */
  nameAt(line: number, column: number): string | null {
    if (this.#isIn(this.#last, line, column)) return this.#names[this.#last] ?? null
    let low = 0
    let high = this.#lines.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#isAfter(middle, line, column)) high = middle
      else low = middle + 1
    }
    if (low === 0) return null
    this.#last = low - 1
    return this.#names[low - 1] ?? null
  }

  #isIn(place: number, line: number, column: number): boolean {
    return !this.#isAfter(place, line, column) && this.#isAfter(place + 1, line, column)
  }

  #isAfter(place: number, line: number, column: number): boolean {
    if (place >= this.#lines.length) return true
    const own = this.#lines[place] ?? 0
    return own > line || (own === line && (this.#columns[place] ?? 0) > column)
  }
}

export type FunctionPlace = { readonly line: number; readonly column: number; readonly name: string }

type Place = { readonly line: number; readonly column: number }

/** The name of code outside all functions, as Metro writes it. */
export const GLOBAL_CODE = '<global>'
/** The name of a function that nothing names. */
export const ANONYMOUS = '<anonymous>'

export type FunctionRange = { readonly start: Place; readonly end: Place; readonly name: string }

const compare = (a: Place, b: Place): number => a.line - b.line || a.column - b.column

/** @param ranges in any order; each contains another one or has no position in common with it */
export function flattenRanges(ranges: readonly FunctionRange[]): FunctionRanges {
  const sorted = [...ranges].sort((a, b) => compare(a.start, b.start) || compare(b.end, a.end))
  const places: FunctionPlace[] = [{ line: 0, column: 0, name: GLOBAL_CODE }]
  const open: FunctionRange[] = []
  const add = (place: Place, name: string): void => {
    const last = places.at(-1)
    if (last !== undefined && compare(last, place) === 0) places.pop()
    if (places.at(-1)?.name !== name) places.push({ line: place.line, column: place.column, name })
  }
  const closeUntil = (place: Place | null): void => {
    for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
      if (place !== null && compare(inner.end, place) > 0) return
      open.pop()
      add(inner.end, open.at(-1)?.name ?? GLOBAL_CODE)
    }
  }
  for (const range of sorted) {
    closeUntil(range.start)
    add(range.start, range.name)
    open.push(range)
  }
  closeUntil(null)
  return new FunctionRanges(places)
}
