/**
 * Distinct counts that can be merged: HyperLogLog with 16,384 registers (Flajolet and others, 2007), the estimate by
 * Ertl ("New cardinality estimation algorithms for HyperLogLog sketches", 2017), standard error 0.8 %. Up to 2,000
 * elements are kept as the list of their hashes, which counts them exactly.
 *
 * Bytes: `1`, then the hashes, 5 bytes each, ascending; or `2`, then 16,384 registers of 5 bits.
 */

const PRECISION = 14
const REGISTERS = 1 << PRECISION
/** Bits of a hash: 14 choose the register, 26 give its rank. */
const RANK_BITS = 26
const HASH_RANGE = 2 ** (PRECISION + RANK_BITS)
const MAX_RANK = RANK_BITS + 1

const LIST = 1
const DENSE = 2
const HASH_BYTES = 5
/** A list of this length is smaller than the registers (10,241 bytes). */
const MAX_LIST_LENGTH = 2_000
const REGISTER_BITS = 5
const DENSE_BYTES = 1 + (REGISTERS * REGISTER_BITS) / 8

/** Lists that wait to be united hold memory of what they were read from. */
const MAX_WAITING = 32

export class HyperLogLog {
  /** Stored bytes that wait to be united: those of a bucket are mostly counted alone. Several are lists. */
  #stored: Buffer[] = []
  /** Null when registers are used. */
  #hashes: Set<number> | null = new Set()
  #registers: Uint8Array = NO_REGISTERS

  static of(hashes: Iterable<number>): HyperLogLog {
    const sketch = new HyperLogLog()
    for (const hash of hashes) sketch.add(hash)
    return sketch
  }

  /** Adds an element by its hash: an evenly distributed integer of at least 40 bits, of which the low 40 are used. */
  add(hash: number): void {
    this.#unpack()
    const used = hash % HASH_RANGE
    if (this.#hashes === null) {
      this.#raise(used)
      return
    }
    this.#hashes.add(used)
    if (this.#hashes.size > MAX_LIST_LENGTH) this.#densify(this.#hashes)
  }

  /** Adds the elements of another sketch. */
  merge(other: HyperLogLog): void {
    this.#unpack()
    other.#unpack()
    if (other.#hashes !== null) {
      for (const hash of other.#hashes) this.add(hash)
      return
    }
    if (this.#hashes !== null) this.#densify(this.#hashes)
    for (let i = 0; i < REGISTERS; i++) {
      const rank = other.#registers[i] ?? 0
      if (rank > (this.#registers[i] ?? 0)) this.#registers[i] = rank
    }
  }

  /**
   * Merges stored bytes without creating a sketch: a chart may merge thousands.
   * @throws Error for bytes that {@link toBytes} did not write
   */
  mergeBytes(bytes: Buffer): void {
    check(bytes)
    const [first = bytes] = this.#stored
    const areLists = first[0] === LIST && bytes[0] === LIST
    const mayWait = this.#stored.length < (areLists ? MAX_WAITING : 1)
    if (mayWait && this.#hashes?.size === 0) {
      this.#stored.push(bytes)
      return
    }
    this.#unpack()
    this.#mergeBytes(bytes)
  }

  #mergeBytes(bytes: Buffer): void {
    if (bytes[0] === LIST) this.#mergeList(bytes)
    else this.#mergeRegisters(bytes)
  }

  #mergeList(bytes: Buffer): void {
    let at = 1
    for (; at < bytes.length && this.#hashes !== null; at += HASH_BYTES) {
      this.#hashes.add(bytes.readUIntBE(at, HASH_BYTES))
      if (this.#hashes.size > MAX_LIST_LENGTH) this.#densify(this.#hashes)
    }
    const registers = this.#registers
    for (; at < bytes.length; at += HASH_BYTES) {
      // The same as #raise in 32-bit steps: 14 bits of the register, 26 of its rank.
      const b = bytes[at + 1] ?? 0
      const register = ((bytes[at] ?? 0) << 6) | (b >> 2)
      const rest = ((b & 3) << 24) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 8) | (bytes[at + 4] ?? 0)
      const rank = Math.clz32(rest) - (32 - RANK_BITS) + 1
      if (rank > (registers[register] ?? 0)) registers[register] = rank
    }
  }

  /** Four registers at once, as lanes of 32 bits: charts merge hundreds of sketches of 16,384 registers. */
  #mergeRegisters(bytes: Buffer): void {
    if (this.#hashes !== null) this.#densify(this.#hashes)
    const words = new Int32Array(this.#registers.buffer)
    for (let word = 0, at = 1; word < words.length; word += 2, at += 5) {
      const b = bytes[at + 1] ?? 0
      const c = bytes[at + 2] ?? 0
      const d = bytes[at + 3] ?? 0
      words[word] = greaterLanes(words[word] ?? 0, lanesOf(((bytes[at] ?? 0) << 12) | (b << 4) | (c >> 4)))
      words[word + 1] = greaterLanes(words[word + 1] ?? 0, lanesOf(((c & 15) << 16) | (d << 8) | (bytes[at + 4] ?? 0)))
    }
  }

  /** Estimated number of distinct elements; exact up to 2,000. */
  count(): number {
    const [first, second] = this.#stored
    // Hashes of a list are distinct.
    if (first?.[0] === LIST && second === undefined) return (first.length - 1) / HASH_BYTES
    const distinct = second === undefined ? null : countDistinct(this.#stored)
    if (distinct !== null) return distinct
    this.#unpack(second !== undefined)
    return this.#hashes === null ? Math.round(estimate(this.#registers)) : this.#hashes.size
  }

  /** The same elements give the same bytes in any order. */
  toBytes(): Buffer {
    this.#unpack()
    if (this.#hashes !== null) {
      const bytes = Buffer.allocUnsafe(1 + this.#hashes.size * HASH_BYTES)
      bytes[0] = LIST
      let at = 1
      // A third of the time of an array: numbers of a typed array are sorted without a function.
      const sorted = new Float64Array(this.#hashes.size)
      let length = 0
      for (const hash of this.#hashes) sorted[length++] = hash
      for (const hash of sorted.sort()) at = bytes.writeUIntBE(hash, at, HASH_BYTES)
      return bytes
    }
    const bytes = Buffer.alloc(DENSE_BYTES)
    bytes[0] = DENSE
    // Eight registers of 5 bits fill 5 bytes.
    for (let i = 0, at = 1; i < REGISTERS; i += 8) {
      let group = 0
      for (let j = 0; j < 8; j++) group = group * 32 + (this.#registers[i + j] ?? 0)
      at = bytes.writeUIntBE(group, at, HASH_BYTES)
    }
    return bytes
  }

  /** @throws Error for bytes that {@link toBytes} did not write */
  static fromBytes(bytes: Buffer): HyperLogLog {
    const sketch = new HyperLogLog()
    sketch.mergeBytes(bytes)
    return sketch
  }

  /** @param isDense whether stored lists are known to have more hashes than a list takes up */
  #unpack(isDense = this.#stored.length > 1 && countDistinct(this.#stored) === null): void {
    const stored = this.#stored
    if (stored.length === 0) return
    this.#stored = []
    if (isDense) this.#densify(NO_HASHES)
    for (const bytes of stored) this.#mergeBytes(bytes)
  }

  #densify(hashes: ReadonlySet<number>): void {
    this.#hashes = null
    this.#registers = new Uint8Array(REGISTERS)
    for (const hash of hashes) this.#raise(hash)
  }

  #raise(hash: number): void {
    const register = Math.floor(hash / 2 ** RANK_BITS)
    const rest = hash % 2 ** RANK_BITS
    // Leading zeros of 26 bits, plus one.
    const rank = Math.clz32(rest) - (32 - RANK_BITS) + 1
    if (rank > (this.#registers[register] ?? 0)) this.#registers[register] = rank
  }
}

/** Four registers of 5 bits, the first in the highest bits, as four bytes, the first in the lowest. */
const lanesOf = (bits: number): number =>
  (bits >> 15) | ((bits >> 2) & 0x1f00) | ((bits << 11) & 0x1f0000) | ((bits & 31) << 24)

const HIGH_BITS = 0x80808080 | 0

/** The greater of each byte of two words; bytes are below 128. */
function greaterLanes(a: number, b: number): number {
  const isGreater = ((a | HIGH_BITS) - b) & HIGH_BITS
  // 127 in each byte in which `a` is at least `b`.
  const mask = isGreater - (isGreater >>> 7)
  return (a & mask) | (b & ~mask)
}

const SLOT_BITS = 12
/** Hashes plus one, each at its place or behind it; twice as many as it takes up. */
const SLOTS = new Float64Array(1 << SLOT_BITS)
/** 2^32 divided by the golden ratio: spreads hashes over the slots by all of their bits. */
const SPREAD = 0x9e3779b1

/** How many distinct hashes lists have; null for more than one list takes up. A `Set` takes five times as long. */
function countDistinct(lists: readonly Buffer[]): number | null {
  SLOTS.fill(0)
  let distinct = 0
  for (const bytes of lists)
    for (let at = 1; at < bytes.length; at += HASH_BYTES) {
      const low = bytes.readInt32BE(at + 1)
      const high = bytes[at] ?? 0
      const hash = high * 2 ** 32 + (low >>> 0) + 1
      let slot = Math.imul(low ^ high, SPREAD) >>> (32 - SLOT_BITS)
      while (SLOTS[slot] !== 0 && SLOTS[slot] !== hash) slot = (slot + 1) & (SLOTS.length - 1)
      if (SLOTS[slot] === hash) continue
      SLOTS[slot] = hash
      if (++distinct > MAX_LIST_LENGTH) return null
    }
  return distinct
}

/** @throws Error for bytes that no sketch has */
function check(bytes: Buffer): void {
  const isList =
    bytes[0] === LIST && bytes.length <= 1 + MAX_LIST_LENGTH * HASH_BYTES && bytes.length % HASH_BYTES === 1
  if (!isList && (bytes[0] !== DENSE || bytes.length !== DENSE_BYTES)) throw notASketch()
}

const notASketch = (): Error => new Error('Not a HyperLogLog sketch.')

const NO_REGISTERS = new Uint8Array(0)
const NO_HASHES: ReadonlySet<number> = new Set()

/** Ertl's improved raw estimate: accurate over the whole range without tables. */
function estimate(registers: Uint8Array): number {
  const multiplicity = new Uint32Array(MAX_RANK + 1)
  // An iterator takes five times as long.
  for (let i = 0; i < REGISTERS; i++) {
    const rank = registers[i] ?? 0
    multiplicity[rank] = (multiplicity[rank] ?? 0) + 1
  }
  let z = REGISTERS * tau(1 - (multiplicity[MAX_RANK] ?? 0) / REGISTERS)
  for (let rank = RANK_BITS; rank >= 1; rank--) z = 0.5 * (z + (multiplicity[rank] ?? 0))
  z += REGISTERS * sigma((multiplicity[0] ?? 0) / REGISTERS)
  return REGISTERS ** 2 / (2 * Math.LN2 * z)
}

/** Corrects for empty registers; `x` is their share. */
function sigma(x: number): number {
  if (x === 1) return Number.POSITIVE_INFINITY
  let power = x
  let factor = 1
  let sum = x
  for (;;) {
    power *= power
    const next = sum + power * factor
    if (next === sum) return sum
    sum = next
    factor *= 2
  }
}

/** Corrects for full registers; `x` is the share of the others. */
function tau(x: number): number {
  if (x === 0 || x === 1) return 0
  let root = x
  let factor = 1
  let sum = 1 - x
  for (;;) {
    root = Math.sqrt(root)
    factor *= 0.5
    const next = sum - (1 - root) ** 2 * factor
    if (next === sum) return sum / 3
    sum = next
  }
}
