/**
 * Which terms of which issues were written before, as far as this process remembers: a table of fixed size in which
 * later entries push out earlier ones. What was forgotten is written once more, which changes nothing. Two different
 * entries pass for one another once in 2^52 cases.
 */
export class KnownTerms {
  readonly #marks = new Uint32Array(SLOTS)

  /** Whether the two were not met before; remembers them. Digits do not count with `asText`. */
  isNew(issue: number, key: string, value: string, asText = false): boolean {
    let a = (issue ^ 0x9e3779b9) >>> 0
    let b = (issue + 0x7f4a7c15) >>> 0
    for (let i = 0; i < key.length; i++) {
      const code = key.charCodeAt(i)
      a = Math.imul(a ^ code, 0x01000193)
      b = Math.imul(b + code, 0x85ebca6b) ^ (b >>> 15)
    }
    a = Math.imul(a ^ 0x1f, 0x01000193)
    const length = Math.min(value.length, MAX_HASHED_CHARACTERS)
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (asText && code >= 48 && code <= 57) continue
      a = Math.imul(a ^ code, 0x01000193)
      b = Math.imul(b + code, 0x85ebca6b) ^ (b >>> 15)
    }
    a ^= a >>> 16
    // Two places, the newer entry in the first: alone, two entries of one place would push out one another for ever.
    const slot = ((Math.imul(a, 0xc2b2ae35) >>> 0) % SLOTS) & ~1
    // 0 is an empty place.
    const mark = (b ^ (b >>> 13)) >>> 0 || 1
    const newer = this.#marks[slot] ?? 0
    if (newer === mark || this.#marks[slot + 1] === mark) return false
    this.#marks[slot + 1] = newer
    this.#marks[slot] = mark
    return true
  }

  /** After a transaction that came to nothing: what it would have written is not known. */
  clear(): void {
    this.#marks.fill(0)
  }
}

/** 4 MB. */
const SLOTS = 1 << 20
const MAX_HASHED_CHARACTERS = 300

/** An issue's id as a number for {@link KnownTerms}; ids are UUIDv7, whose last digits are random. */
export const issueNumberOf = (issueId: string): number => Number.parseInt(issueId.slice(-8), 16) >>> 0
