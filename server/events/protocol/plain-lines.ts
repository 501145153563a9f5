/**
 * A cache of source lines without possible secrets. The lines around frames repeat with each event of a problem, and
 * looking one up costs a third of checking it. Bounded; it pauses while lines hardly repeat.
 */
export class PlainLines {
  readonly #lines = new Set<string>()
  readonly #max: number
  #hits = 0
  #skipsLeft = 0

  constructor(max = MAX_LINES) {
    this.#max = max
  }

  has(line: string): boolean {
    if (this.#skipsLeft > 0) {
      this.#skipsLeft--
      return false
    }
    if (line.length > MAX_CHARACTERS || !this.#lines.has(line)) return false
    this.#hits++
    return true
  }

  add(line: string): void {
    if (this.#skipsLeft > 0 || line.length > MAX_CHARACTERS) return
    if (this.#lines.size >= this.#max) {
      if (this.#hits < this.#max) this.#skipsLeft = this.#max * SKIPS_PER_LINE
      this.#lines.clear()
      this.#hits = 0
    }
    this.#lines.add(line)
  }
}

/** With {@link MAX_CHARACTERS} at most 4 MB per thread, 7 MB where all lines have characters beyond Latin-1: two bytes each. */
const MAX_LINES = 16_384
const MAX_CHARACTERS = 200
/** During a pause, the number of lines it skips for each line of its capacity. */
const SKIPS_PER_LINE = 20
