import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { DDSketch, MAX_BINS } from './ddsketch.ts'

const merged = (...parts: DDSketch[]): DDSketch => {
  const sum = new DDSketch()
  for (const part of parts) sum.merge(part)
  return sum
}

/** Without the sum, whose last digits depend on the order. */
function binsOf(sketch: DDSketch): string {
  const bytes = sketch.toBytes()
  bytes.writeDoubleLE(0, 1)
  return bytes.toString('hex')
}

const QS = [0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1]
const exact = (values: readonly number[], q: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(q * (values.length - 1))] ?? Number.NaN

/** Realistic durations: microseconds to days, many of them zero or equal. */
const duration = fc.oneof(
  fc.double({ min: 0.001, max: 1e8, noNaN: true }),
  fc.integer({ min: 0, max: 5_000 }),
  fc.constant(0),
)
const durations = fc.array(duration, { minLength: 1, maxLength: 300 })
/** Any finite number, with a range so wide that the lowest bins are merged. */
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.constant(-0))
const numbers = fc.array(number, { maxLength: 300 })
/** Thousands of different bins. */
const spread = fc
  .tuple(fc.nat(500), fc.integer({ min: 900, max: 2_500 }))
  .map(([from, n]) => Array.from({ length: n }, (_, index) => 1.03 ** (from + index) / 1e8))

describe('quantiles', () => {
  test('are within 1 % of the exact ones', () => {
    fc.assert(
      fc.property(durations, (values) => {
        const sketch = DDSketch.of(values)
        for (const [index, estimate] of sketch.quantiles(QS).entries()) {
          const truth = exact(values, QS[index] ?? 0)
          expect(Math.abs((estimate ?? Number.NaN) - truth)).toBeLessThanOrEqual(truth * 0.010_000_1 + 1e-9)
        }
      }),
    )
  })

  test('are correct for negative numbers', () => {
    const values = Array.from({ length: 1_001 }, (_, index) => index * 3 - 1_500)
    for (const q of QS) {
      const truth = exact(values, q)
      expect(Math.abs((DDSketch.of(values).quantile(q) ?? Number.NaN) - truth)).toBeLessThanOrEqual(
        Math.abs(truth) * 0.010_000_1 + 1e-9,
      )
    }
  })

  test('that are high stay correct when the lowest bins were merged', () => {
    const values = Array.from({ length: 3_000 }, (_, index) => 1.021 ** index)
    const sketch = DDSketch.of(values)
    for (const q of [0.75, 0.9, 0.99]) {
      expect(Math.abs((sketch.quantile(q) ?? 0) / exact(values, q) - 1)).toBeLessThanOrEqual(0.010_000_1)
    }
    expect(sketch.quantile(0)).toBe(1)
    expect(sketch.count).toBe(3_000)
  })

  test('of a million lognormal values in a thousand merged sketches are correct', () => {
    let seed = 42
    const random = (): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return (seed + 1) / (2 ** 31 + 1)
    }
    const values = Array.from({ length: 1_000_000 }, () =>
      Math.exp(6 + 0.8 * Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())),
    )
    const sketch = new DDSketch()
    for (let i = 0; i < values.length; i += 1_000) sketch.merge(DDSketch.of(values.slice(i, i + 1_000)))
    const sorted = values.toSorted((a, b) => a - b)
    for (const q of [0.01, 0.5, 0.75, 0.95, 0.999]) {
      const truth = sorted[Math.floor(q * 999_999)] ?? 0
      expect(Math.abs((sketch.quantile(q) ?? 0) / truth - 1)).toBeLessThanOrEqual(0.010_000_1)
    }
    // A rollup has a few hundred bytes for any traffic.
    expect(sketch.toBytes().length).toBeLessThan(1_500)
  })

  // Pareto with an infinite mean, a mixture with a far tail, and lognormal with a wide spread.
  test.each<[string, (u: number, v: number) => number]>([
    ['Pareto', (u) => 20 / u ** (1 / 0.9)],
    ['one of a hundred a thousand times slower', (u, v) => (v < 0.01 ? 1_000 : 1) * (200 + 800 * u)],
    ['lognormal', (u, v) => Math.exp(5 + 2.5 * Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v))],
  ])('of heavy-tailed values are within 1 %%: %s', (_name, draw) => {
    let seed = 7
    const random = (): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
      return (seed + 1) / (2 ** 31 + 1)
    }
    const values = Array.from({ length: 200_000 }, () => draw(random(), random()))
    const sketch = new DDSketch()
    for (let i = 0; i < values.length; i += 777) sketch.mergeBytes(DDSketch.of(values.slice(i, i + 777)).toBytes())
    const sorted = values.toSorted((a, b) => a - b)
    for (const q of [0, 0.05, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1]) {
      const truth = sorted[Math.floor(q * (values.length - 1))] ?? 0
      expect(Math.abs((sketch.quantile(q) ?? 0) / truth - 1)).toBeLessThanOrEqual(0.010_000_1)
    }
  })

  test('of an empty sketch are null', () => {
    expect(new DDSketch().quantiles([0, 0.5])).toEqual([null, null])
    expect(new DDSketch().min).toBeNull()
  })

  test('values at or above a limit are counted', () => {
    const sketch = DDSketch.of([100, 4_000, 5_000, 6_000, 7_000])
    expect(sketch.countFrom(5_000)).toBe(3)
    expect(sketch.countFrom(0)).toBe(5)
    expect(sketch.countFrom(1e6)).toBe(0)
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('add(%d) throws', (value) => {
    const sketch = DDSketch.of([1])
    expect(() => sketch.add(value)).toThrow(RangeError)
    expect(sketch.count).toBe(1)
  })
})

describe('merging', () => {
  test('equals adding all numbers to one sketch', () => {
    fc.assert(
      fc.property(numbers, numbers, (a, b) => {
        expect(binsOf(merged(DDSketch.of(a), DDSketch.of(b)))).toBe(binsOf(DDSketch.of([...a, ...b])))
      }),
    )
  })

  test('is commutative and associative, also above the maximum of bins', () => {
    fc.assert(
      fc.property(fc.oneof(numbers, spread), spread, fc.oneof(numbers, spread), (one, two, three) => {
        const [a, b, c] = [DDSketch.of(one), DDSketch.of(two), DDSketch.of(three)]
        expect(binsOf(merged(a, b))).toBe(binsOf(merged(b, a)))
        expect(binsOf(merged(merged(a, b), c))).toBe(binsOf(merged(a, merged(b, c))))
      }),
      { numRuns: cases(8, 90) },
    )
  })

  test('stored sketches give the same as one by one, also after bytes that no sketch has', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(numbers, spread), { maxLength: 5 }), (parts) => {
        const stored = parts.map((values) => DDSketch.of(values).toBytes())
        const broken = Buffer.concat([DDSketch.of([1, 2]).toBytes(), Buffer.from([0])])
        expect(() => DDSketch.sumOf([...stored, broken])).toThrow('Not a DDSketch')
        const [sum, other] = [DDSketch.sumOf(stored), merged(...stored.map((bytes) => DDSketch.fromBytes(bytes)))]
        expect(binsOf(sum)).toBe(binsOf(other))
        expect([sum.count, sum.min, sum.max]).toEqual([other.count, other.min, other.max])
      }),
      { numRuns: cases(20, 300) },
    )
  })

  test('does not change the other sketch', () => {
    const other = DDSketch.of([1, 2, 3])
    const before = other.toBytes().toString('hex')
    DDSketch.of([2, 900]).merge(other)
    expect(other.toBytes().toString('hex')).toBe(before)
  })
})

describe('removing', () => {
  test('equals a sketch of the other numbers', () => {
    fc.assert(
      fc.property(durations, durations, (kept, gone) => {
        const sketch = DDSketch.of([...kept, ...gone])
        for (const value of gone) sketch.remove(value)
        expect(sketch.count).toBe(kept.length)
        for (const q of QS) {
          const truth = exact(kept, q)
          expect(Math.abs((sketch.quantile(q) ?? Number.NaN) - truth)).toBeLessThanOrEqual(truth * 0.010_000_1 + 1e-9)
        }
      }),
    )
  })

  test('all numbers leaves an empty sketch', () => {
    const sketch = DDSketch.of([3, 700])
    for (const value of [700, 3, 3]) sketch.remove(value)
    expect([sketch.count, sketch.sum, sketch.min, sketch.quantile(0.5)]).toEqual([0, 0, null, null])
    expect(sketch.toBytes().equals(new DDSketch().toBytes())).toBe(true)
  })
})

describe('bytes', () => {
  test('give an equal sketch', () => {
    fc.assert(
      fc.property(fc.oneof(numbers, spread), (values) => {
        const sketch = DDSketch.of(values)
        const back = DDSketch.fromBytes(sketch.toBytes())
        expect(back.toBytes().equals(sketch.toBytes())).toBe(true)
        expect([back.count, back.sum, back.min, back.max]).toEqual([sketch.count, sketch.sum, sketch.min, sketch.max])
        expect(back.quantiles(QS)).toEqual(sketch.quantiles(QS))
      }),
      { numRuns: cases(25, 300) },
    )
  })

  test('are few for few numbers, and have a maximum', () => {
    expect(new DDSketch().toBytes()).toHaveLength(25)
    expect(DDSketch.of([812.4]).toBytes()).toHaveLength(28)
    const wide = Array.from({ length: 20_000 }, (_, index) => 10 ** ((index - 10_000) / 40))
    expect(DDSketch.of(wide).toBytes().length).toBeLessThan(25 + 16 * MAX_BINS)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['another version', Buffer.alloc(30, 9)],
    ['a bin without its count', Buffer.concat([DDSketch.of([1]).toBytes(), Buffer.from([1])])],
    ['a count of zero', Buffer.concat([DDSketch.of([1]).toBytes(), Buffer.from([1, 0])])],
    ['a bin twice', Buffer.concat([DDSketch.of([1]).toBytes(), Buffer.from([0, 1])])],
    ['an endless number', Buffer.concat([new DDSketch().toBytes(), Buffer.alloc(12, 255)])],
  ])('that are invalid throw: %s', (_what, bytes) => {
    expect(() => DDSketch.fromBytes(bytes)).toThrow('Not a DDSketch.')
  })
})
