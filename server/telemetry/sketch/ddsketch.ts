/**
 * A mergeable sketch of quantiles (DDSketch; Masson, Rim, Lee, VLDB 2019). The borders of its bins grow by a constant
 * factor, so every quantile is within 1 % of its value. The same numbers give the same bins in any order and grouping.
 */

const ACCURACY = 0.01
/** Ratio of the upper to the lower border of a bin. */
const GAMMA = (1 + ACCURACY) / (1 - ACCURACY)
const LOG_GAMMA = Math.log(GAMMA)
/** Smaller absolute values count as zero. */
const MIN_SIZE = 1e-9
/**
 * Bin 0 holds zero, positive numbers have positive bins, negative ones negative bins. The offset keeps the bins of numbers
 * below one positive.
 */
const OFFSET = 1 - Math.ceil(Math.log(MIN_SIZE) / LOG_GAMMA)
/** The bin of the largest finite number. */
const FARTHEST_BIN = Math.ceil(Math.log(Number.MAX_VALUE) / LOG_GAMMA) + OFFSET
/** Enough bins for numbers from 1 to 780,000,000. Above this number the lowest bins are merged. */
export const MAX_BINS = 1_024

/** Where {@link addUp} adds; all 0 otherwise. */
const SUMS = new Float64Array(2 * FARTHEST_BIN + 1)

const VERSION = 1
const HEAD_BYTES = 1 + 3 * 8

export class DDSketch {
  #unpacked: Map<number, number> | null = null
  /** Stored bytes whose bins were not read yet: of most points of a chart only count and sum are asked. */
  #packed: readonly Buffer[] = []
  #count = 0
  #sum = 0
  #min = Number.POSITIVE_INFINITY
  #max = Number.NEGATIVE_INFINITY

  static of(values: Iterable<number>): DDSketch {
    const sketch = new DDSketch()
    for (const value of values) sketch.add(value)
    return sketch
  }

  get count(): number {
    return this.#count
  }

  get #bins(): Map<number, number> {
    if (this.#packed.length > 0) {
      const { bins, counts } = addUp(this.#packed)
      this.#unpacked = new Map(Array.from(bins, (bin, index) => [bin, counts[index] ?? 0]))
      this.#packed = []
    }
    return (this.#unpacked ??= new Map())
  }

  /** Exact, except for rounding. */
  get sum(): number {
    return this.#sum
  }

  /** Null when nothing was added. */
  get min(): number | null {
    return this.#count === 0 ? null : this.#min
  }

  get max(): number | null {
    return this.#count === 0 ? null : this.#max
  }

  /** @throws RangeError unless the value is finite */
  add(value: number): void {
    if (!Number.isFinite(value)) throw new RangeError('A sketch takes finite numbers only.')
    const bin = binOf(value)
    this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + 1)
    this.#count += 1
    this.#sum += value
    if (value < this.#min) this.#min = value
    if (value > this.#max) this.#max = value
    this.#collapse()
  }

  /** Removes a number that was added. If it was the minimum or maximum, the new one is known within 1 %. */
  remove(value: number): void {
    const own = binOf(value)
    const bin = this.#bins.has(own) ? own : this.#sorted()[0]?.[0]
    if (bin === undefined) return
    const left = (this.#bins.get(bin) ?? 0) - 1
    if (left > 0) this.#bins.set(bin, left)
    else this.#bins.delete(bin)
    this.#count -= 1
    this.#sum = this.#count === 0 ? 0 : this.#sum - value
    const isMin = bin <= binOf(this.#min)
    const isMax = bin >= binOf(this.#max)
    if (!isMin && !isMax) return
    const bins = this.#sorted()
    if (isMin) this.#min = bins.length === 0 ? Number.POSITIVE_INFINITY : valueOf(bins[0]?.[0] ?? 0)
    if (isMax) this.#max = bins.length === 0 ? Number.NEGATIVE_INFINITY : valueOf(bins.at(-1)?.[0] ?? 0)
  }

  /** Adds the numbers of another sketch, which stays unchanged. */
  merge(other: DDSketch): void {
    for (const [bin, count] of other.#bins) this.#bins.set(bin, (this.#bins.get(bin) ?? 0) + count)
    this.#count += other.#count
    this.#sum += other.#sum
    this.#min = Math.min(this.#min, other.#min)
    this.#max = Math.max(this.#max, other.#max)
    this.#collapse()
  }

  /** Removes the numbers of another sketch, all of which were added. The rest is known within 1 %. */
  subtract(other: DDSketch): void {
    for (const [bin, count] of other.#bins) {
      let rest = count
      // Numbers of bins that were merged are in the lowest one.
      while (rest > 0 && this.#bins.size > 0) {
        const at = this.#bins.has(bin) ? bin : (this.#sorted()[0]?.[0] ?? bin)
        const taken = Math.min(rest, this.#bins.get(at) ?? 0)
        const left = (this.#bins.get(at) ?? 0) - taken
        if (left > 0) this.#bins.set(at, left)
        else this.#bins.delete(at)
        rest -= taken
        this.#count -= taken
      }
    }
    this.#sum = this.#count === 0 ? 0 : this.#sum - other.#sum
    const bins = this.#sorted()
    const [lowest, highest] = [bins[0]?.[0], bins.at(-1)?.[0]]
    if (lowest === undefined || lowest > binOf(this.#min) || other.#min <= this.#min)
      this.#min = lowest === undefined ? Number.POSITIVE_INFINITY : valueOf(lowest)
    if (highest === undefined || highest < binOf(this.#max) || other.#max >= this.#max)
      this.#max = highest === undefined ? Number.NEGATIVE_INFINITY : valueOf(highest)
  }

  /**
   * The value at `q` (0…1) within 1 %, null when empty: `sorted[floor(q * (count - 1))]`. Minimum and maximum are exact.
   */
  quantile(q: number): number | null {
    return this.quantiles([q])[0] ?? null
  }

  /** Several quantiles in one pass. @param qs ascending */
  quantiles(qs: readonly number[]): (number | null)[] {
    if (this.#count === 0) return qs.map(() => null)
    const { bins, counts } = this.#packed.length > 0 ? addUp(this.#packed) : this.#ascending()
    let at = 0
    let passed = counts[0] ?? 0
    return qs.map((q) => {
      const rank = Math.floor(Math.min(Math.max(q, 0), 1) * (this.#count - 1))
      if (rank === 0) return this.#min
      if (rank === this.#count - 1) return this.#max
      while (passed <= rank && at < bins.length - 1) {
        at += 1
        passed += counts[at] ?? 0
      }
      return Math.min(Math.max(valueOf(bins[at] ?? 0), this.#min), this.#max)
    })
  }

  /** Number of values of at least `value`. Values up to 2 % below it may be among them: they share its bin. */
  countFrom(value: number): number {
    const minBin = binOf(value)
    let count = 0
    for (const [bin, n] of this.#bins) if (bin >= minBin) count += n
    return count
  }

  /** Number of values below `value`, as if those of a bin were spread evenly over it. For histograms. */
  countBelow(value: number): number {
    let count = 0
    for (const [bin, n] of this.#bins) {
      const [low, high] = bordersOf(bin)
      const from = Math.max(low, this.#min)
      const to = Math.min(high, this.#max)
      if (to < value) count += n
      else if (from < value) count += (n * (value - from)) / (to - from)
    }
    return count
  }

  /** Version, sum, minimum and maximum, then for each bin the distance from the previous one and the count. */
  toBytes(): Buffer {
    const bins = this.#sorted()
    // A varint of a safe integer has at most eight bytes.
    const bytes = Buffer.allocUnsafe(HEAD_BYTES + 8 + bins.length * 16)
    bytes.writeUInt8(VERSION, 0)
    bytes.writeDoubleLE(this.#sum, 1)
    bytes.writeDoubleLE(this.#count === 0 ? 0 : this.#min, 9)
    bytes.writeDoubleLE(this.#count === 0 ? 0 : this.#max, 17)
    let end = HEAD_BYTES
    let last = 0
    for (const [index, [bin, count]] of bins.entries()) {
      // Only the first may be negative.
      end = writeVarint(bytes, index === 0 ? (bin < 0 ? -bin * 2 - 1 : bin * 2) : bin - last, end)
      end = writeVarint(bytes, count, end)
      last = bin
    }
    return bytes.subarray(0, end)
  }

  /** @throws Error for bytes that {@link toBytes} did not write */
  static fromBytes(bytes: Buffer): DDSketch {
    const sketch = new DDSketch()
    sketch.mergeBytes(bytes)
    return sketch
  }

  /**
   * Merges stored bytes without creating a sketch: queries merge thousands.
   * @throws Error for bytes that {@link toBytes} did not write; the sketch is then unusable
   */
  mergeBytes(bytes: Buffer): void {
    const bins = this.#bins
    this.#addHead(
      bytes,
      readBins(bytes, (bin, count) => bins.set(bin, (bins.get(bin) ?? 0) + count)),
    )
    this.#collapse()
  }

  /**
   * The sum of stored sketches.
   * @param count of their values, where it is known: bins are then read when they are asked for
   * @throws Error for bytes that {@link toBytes} did not write; with a count maybe later
   */
  static sumOf(all: readonly Buffer[], count?: number): DDSketch {
    const sketch = new DDSketch()
    sketch.#packed = all.filter((bytes) => bytes.length !== HEAD_BYTES)
    const counted = count ?? addUp(all).counts.reduce((sum, one) => sum + one, 0)
    for (const bytes of sketch.#packed) sketch.#addHead(bytes, 1)
    sketch.#count = counted
    return sketch
  }

  #addHead(bytes: Buffer, added: number): void {
    if (added === 0) return
    if (bytes.length < HEAD_BYTES) throw notASketch()
    this.#count += added
    this.#sum += bytes.readDoubleLE(1)
    this.#min = Math.min(this.#min, bytes.readDoubleLE(9))
    this.#max = Math.max(this.#max, bytes.readDoubleLE(17))
  }

  #ascending(): Bins {
    const sorted = this.#sorted()
    return { bins: Float64Array.from(sorted, ([bin]) => bin), counts: Float64Array.from(sorted, ([, count]) => count) }
  }

  /** A typed array sorts numbers without calling a function. */
  #sortedBins(): Int32Array {
    return Int32Array.from(this.#bins.keys()).sort()
  }

  #sorted(): [number, number][] {
    return Array.from(this.#sortedBins(), (bin) => [bin, this.#bins.get(bin) ?? 0])
  }

  /**
   * Above {@link MAX_BINS} merges the lowest bins: high quantiles stay correct. The result does not depend on order or
   * grouping, because a merged bin is below the highest bins of every union.
   */
  #collapse(): void {
    const surplus = this.#bins.size - MAX_BINS
    if (surplus <= 0) return
    const bins = this.#sortedBins()
    const lowest = bins[surplus] ?? 0
    for (const bin of bins.subarray(0, surplus)) {
      this.#bins.set(lowest, (this.#bins.get(lowest) ?? 0) + (this.#bins.get(bin) ?? 0))
      this.#bins.delete(bin)
    }
  }
}

function binOf(value: number): number {
  const size = Math.abs(value)
  if (size < MIN_SIZE) return 0
  const bin = Math.ceil(Math.log(size) / LOG_GAMMA) + OFFSET
  return value < 0 ? -bin : bin
}

/** The lowest and highest value of a bin. */
function bordersOf(bin: number): [number, number] {
  if (bin === 0) return [-MIN_SIZE, MIN_SIZE]
  const high = GAMMA ** (Math.abs(bin) - OFFSET)
  return bin > 0 ? [high / GAMMA, high] : [-high, -high / GAMMA]
}

/** The value with the same relative distance to both borders of the bin. */
function valueOf(bin: number): number {
  if (bin === 0) return 0
  const value = (2 * GAMMA ** (Math.abs(bin) - OFFSET)) / (GAMMA + 1)
  return bin < 0 ? -value : value
}

type Bins = { readonly bins: Float64Array; readonly counts: Float64Array }

/** What {@link addUp} returns until its next call: charts read thousands of sketches. */
const [BINS, COUNTS] = [new Float64Array(SUMS.length), new Float64Array(SUMS.length)]

/** The bins of stored sketches, ascending. Adds them in an array, which takes a fraction of the time of a map. */
function addUp(all: readonly Buffer[]): Bins {
  let length = 0
  const push = (bin: number, count: number): void => {
    BINS[length] = bin
    COUNTS[length++] = count
  }
  const [first] = all
  if (all.length === 1 && first !== undefined) {
    readBins(first, push)
    return { bins: BINS.subarray(0, length), counts: COUNTS.subarray(0, length) }
  }
  let [lowest, highest] = [FARTHEST_BIN, -FARTHEST_BIN]
  try {
    for (const bytes of all)
      readBins(bytes, (bin, count) => {
        SUMS[bin + FARTHEST_BIN] = (SUMS[bin + FARTHEST_BIN] ?? 0) + count
        if (bin < lowest) lowest = bin
        if (bin > highest) highest = bin
      })
    for (let bin = lowest; bin <= highest; bin++) {
      const count = SUMS[bin + FARTHEST_BIN] ?? 0
      if (count !== 0) push(bin, count)
    }
  } finally {
    if (lowest <= highest) SUMS.fill(0, lowest + FARTHEST_BIN, highest + FARTHEST_BIN + 1)
  }
  // As a sketch itself does above the maximum.
  const surplus = Math.max(0, length - MAX_BINS)
  for (let at = 0; at < surplus; at++) COUNTS[surplus] = (COUNTS[surplus] ?? 0) + (COUNTS[at] ?? 0)
  return { bins: BINS.subarray(surplus, length), counts: COUNTS.subarray(surplus, length) }
}

/** Calls `add` for every bin of stored bytes, in ascending order. @returns the sum of their counts */
function readBins(bytes: Buffer, add: (bin: number, count: number) => void): number {
  if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION) throw notASketch()
  let at = HEAD_BYTES
  let bin = 0
  let bins = 0
  let added = 0
  while (at < bytes.length) {
    const step = readVarint(bytes, at)
    at += step < 0x80 ? 1 : varintBytes(step)
    const count = readVarint(bytes, at)
    at += count < 0x80 ? 1 : varintBytes(count)
    if (count === 0 || (bins > 0 && step === 0) || ++bins > MAX_BINS) throw notASketch()
    bin = bins > 1 ? bin + step : step % 2 === 0 ? step / 2 : -(step + 1) / 2
    if (Math.abs(bin) > FARTHEST_BIN) throw notASketch()
    add(bin, count)
    added += count
  }
  return added
}

const notASketch = (): Error => new Error('Not a DDSketch.')

function writeVarint(bytes: Buffer, value: number, at: number): number {
  let rest = value
  let end = at
  while (rest >= 0x80) {
    bytes[end++] = (rest % 0x80) + 0x80
    rest = Math.floor(rest / 0x80)
  }
  bytes[end++] = rest
  return end
}

function readVarint(bytes: Buffer, at: number): number {
  const first = bytes[at]
  if (first !== undefined && first < 0x80) return first
  let value = 0
  let scale = 1
  for (let end = at; end < at + 8; end++) {
    const byte = bytes[end]
    if (byte === undefined) break
    value += (byte % 0x80) * scale
    if (byte < 0x80) {
      if (!Number.isSafeInteger(value)) break
      return value
    }
    scale *= 0x80
  }
  throw notASketch()
}

/** Number of bytes that {@link writeVarint} writes. */
function varintBytes(value: number): number {
  let size = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++
  return size
}
