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

/** The name of code outside all functions, as Metro writes it. */
const GLOBAL_CODE = '<global>'
/** The name of a function that nothing names. */
export const ANONYMOUS = '<anonymous>'

/** A function from its first character until the one after its last. */
export type FunctionRange = { readonly start: number; readonly end: number; readonly name: string }

type Change = { readonly at: number; readonly name: string }

/**
 * @param ranges in any order; each contains another one or has no position in common with it
 * @param text the source
 * @param offset the place in the source that the ranges count from
 */
export function flattenRanges(ranges: readonly FunctionRange[], text: string, offset: number): FunctionRanges {
  const sorted = [...ranges].sort((a, b) => a.start - b.start || b.end - a.end)
  const changes: Change[] = [{ at: -offset, name: GLOBAL_CODE }]
  const open: FunctionRange[] = []
  const add = (at: number, name: string): void => {
    if (changes.at(-1)?.at === at) changes.pop()
    if (changes.at(-1)?.name !== name) changes.push({ at, name })
  }
  const closeUntil = (at: number): void => {
    for (let inner = open.at(-1); inner !== undefined && inner.end <= at; inner = open.at(-1)) {
      open.pop()
      add(inner.end, open.at(-1)?.name ?? GLOBAL_CODE)
    }
  }
  for (const range of sorted) {
    closeUntil(range.start)
    add(range.start, range.name)
    open.push(range)
  }
  closeUntil(Infinity)
  return new FunctionRanges(placesOf(changes, text, offset))
}

/** Line breaks of JavaScript other than a line feed, and than a carriage return before one. */
const OTHER_BREAKS = /\r(?!\n)|[\u2028\u2029]/g

/** Finds the lines and columns of changes, which are sorted. */
function placesOf(changes: readonly Change[], text: string, offset: number): FunctionPlace[] {
  // Looking for one character is fast.
  const hasOthers = text.includes('\r') || text.includes('\u2028') || text.includes('\u2029')
  const lines = hasOthers ? text.replace(OTHER_BREAKS, '\n') : text
  let line = 0
  let lineStart = 0
  let lineEnd = lines.indexOf('\n')
  return changes.map(({ at, name }) => {
    for (const place = at + offset; lineEnd !== -1 && lineEnd < place; lineEnd = lines.indexOf('\n', lineStart)) {
      line++
      lineStart = lineEnd + 1
    }
    return { line, column: at + offset - lineStart, name }
  })
}
