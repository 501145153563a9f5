/**
 * A cache of the terms that this process wrote per issue: a hash table of fixed size in which newer entries replace older
 * ones. A replaced term is written again, without effect. Two different entries collide once in 2^52 cases.
 */
export class KnownTerms {
  readonly #marks = new Uint32Array(SLOTS)

  /** Adds an entry and returns whether it was missing. With `asText`, digits are ignored. */
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
    // Two slots per hash, the newer entry first: with one slot, two entries could replace each other forever.
    const slot = ((Math.imul(a, 0xc2b2ae35) >>> 0) % SLOTS) & ~1
    // 0 is an empty slot.
    const mark = (b ^ (b >>> 13)) >>> 0 || 1
    const newer = this.#marks[slot] ?? 0
    if (newer === mark || this.#marks[slot + 1] === mark) return false
    this.#marks[slot + 1] = newer
    this.#marks[slot] = mark
    return true
  }

  clear(): void {
    this.#marks.fill(0)
  }
}

/** 4 MiB of memory. */
const SLOTS = 1 << 20
const MAX_HASHED_CHARACTERS = 300

/** Returns an issue's number for {@link KnownTerms}: the random end of its UUIDv7. */
export const issueNumberOf = (issueId: string): number => Number.parseInt(issueId.slice(-8), 16) >>> 0
