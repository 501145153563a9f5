/**
 * Lines of source that were looked through lately and hold nothing that could be a secret. The lines around the frames
 * of a problem come again with each of its events: to know them again costs a third of looking through them. Bounded;
 * where hardly any line comes twice it stands aside for a while, and costs nothing.
 */
export class PlainLines {
  readonly #lines = new Set<string>()
  readonly #most: number
  #met = 0
  #aside = 0

  constructor(most = MAX_LINES) {
    this.#most = most
  }

  has(line: string): boolean {
    if (this.#aside > 0) {
      this.#aside--
      return false
    }
    if (line.length > MAX_CHARACTERS || !this.#lines.has(line)) return false
    this.#met++
    return true
  }

  add(line: string): void {
    if (this.#aside > 0 || line.length > MAX_CHARACTERS) return
    if (this.#lines.size >= this.#most) {
      if (this.#met < this.#most) this.#aside = this.#most * ASIDE
      this.#lines.clear()
      this.#met = 0
    }
    this.#lines.add(line)
  }
}

/** With {@link MAX_CHARACTERS} at most 4 MB per thread, 7 MB where all lines have characters beyond Latin-1: two bytes each. */
const MAX_LINES = 16_384
const MAX_CHARACTERS = 200
/** Lines it lets pass for each it could keep. */
const ASIDE = 20
