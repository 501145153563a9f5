import { hash as digestOf } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { HyperLogLog } from './hyperloglog.ts'

/** 52 evenly distributed bits, like hashes of users. */
const hashOf = (text: string): number => Number.parseInt(digestOf('sha256', text, 'hex').slice(0, 13), 16)

function sketchOf(hashes: Iterable<number>): HyperLogLog {
  const sketch = new HyperLogLog()
  for (const hash of hashes) sketch.add(hash)
  return sketch
}

const users = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => hashOf(`user ${from + index}`))

const joined = (...parts: HyperLogLog[]): Buffer => {
  const sum = new HyperLogLog()
  for (const part of parts) sum.mergeBytes(part.toBytes())
  return sum.toBytes()
}

const merged = (...parts: HyperLogLog[]): Buffer => {
  const sum = new HyperLogLog()
  for (const part of parts) sum.merge(part)
  return sum.toBytes()
}

test('mergeBytes merges lists and registers in either order', () => {
  const [long, longer, short] = [
    sketchOf(users(0, 4_000)),
    sketchOf(users(2_000, 9_000)),
    sketchOf(users(8_900, 9_050)),
  ]
  for (const parts of [
    [long, longer, short],
    [short, longer, long],
    [short, short],
  ])
    expect(joined(...parts).equals(merged(...parts))).toBe(true)
  expect(() => new HyperLogLog().mergeBytes(Buffer.from([2, 1, 2]))).toThrow()
})

test.each([
  [40, 45, 60],
  [12, 150, 199],
  [12, 1_000, 92],
  [2, 2_000, 0],
  [2, 2_000, 1],
])('%i stored lists of %i count like one sketch of all', (lists, length, step) => {
  const sum = new HyperLogLog()
  const all = new Set<number>()
  for (let list = 0; list < lists; list++) {
    const own = users(list * step, list * step + length)
    for (const hash of own) all.add(hash)
    sum.mergeBytes(sketchOf(own).toBytes())
  }
  expect(sum.count()).toBe(sketchOf(all).count())
  expect(sum.toBytes().equals(sketchOf(all).toBytes())).toBe(true)
})

describe('counting', () => {
  test.each([0, 1, 2, 19, 999, 2_000])('%i elements exactly', (n) => {
    const sketch = sketchOf(users(0, n))
    expect(sketch.count()).toBe(n)
    for (const hash of users(0, n)) sketch.add(hash)
    expect(sketch.count()).toBe(n)
  })

  test.each([2_001, 5_000, 20_000, 300_000, 1_000_000])('%i elements within 2 %%', (n) => {
    const sketch = new HyperLogLog()
    for (let i = 0; i < n; i++) sketch.add(hashOf(`user ${i}`))
    expect(Math.abs(sketch.count() / n - 1)).toBeLessThanOrEqual(0.02)
  })

  test('a million elements in thousands of merged sketches within 2 %', () => {
    const sum = new HyperLogLog()
    for (let part = 0; part < 2_500; part++) sum.mergeBytes(sketchOf(users(part * 400, part * 400 + 600)).toBytes())
    expect(Math.abs(sum.count() / 1_000_200 - 1)).toBeLessThanOrEqual(0.02)
  })

  test('has no bias, also where other estimators switch methods', () => {
    for (const n of [2_100, 12_000, 40_000, 50_000]) {
      const errors = Array.from({ length: 10 }, (_, run) => {
        const sketch = new HyperLogLog()
        for (let i = 0; i < n; i++) sketch.add(hashOf(`${run} of ${n}: ${i}`))
        return sketch.count() / n - 1
      })
      expect(Math.abs(errors.reduce((a, b) => a + b, 0) / errors.length)).toBeLessThan(0.005)
    }
  })

  test('hashes whose rank bits are all zero count once', () => {
    const sketch = sketchOf([...users(0, 2_100), 0, 2 ** 40, 2 ** 51])
    expect(HyperLogLog.fromBytes(sketch.toBytes()).count()).toBe(sketch.count())
    expect(sketch.count()).toBeGreaterThan(2_050)
  })
})

// Few and many elements: both forms, and both sides of the change between them.
const someUsers = fc
  .tuple(fc.nat(2_000), fc.oneof(fc.nat(5), fc.integer({ min: 1_980, max: 2_020 }), fc.nat(4_000)))
  .map(([from, n]) => users(from, from + n))

describe('merging', () => {
  test('equals adding all elements to one sketch', () => {
    fc.assert(
      fc.property(someUsers, someUsers, (a, b) => {
        expect(merged(sketchOf(a), sketchOf(b)).equals(sketchOf([...a, ...b]).toBytes())).toBe(true)
        expect(joined(sketchOf(a), sketchOf(b)).equals(sketchOf([...a, ...b]).toBytes())).toBe(true)
      }),
      { numRuns: cases(20, 180) },
    )
  })

  test('is commutative, associative and idempotent', () => {
    fc.assert(
      fc.property(someUsers, someUsers, someUsers, (one, two, three) => {
        const [a, b, c] = [sketchOf(one), sketchOf(two), sketchOf(three)]
        expect(merged(a, b).equals(merged(b, a))).toBe(true)
        expect(merged(a, a, b, a).equals(merged(a, b))).toBe(true)
        const left = HyperLogLog.fromBytes(merged(a, b))
        const right = HyperLogLog.fromBytes(merged(b, c))
        expect(merged(left, c).equals(merged(a, right))).toBe(true)
      }),
      { numRuns: cases(12, 120) },
    )
  })

  test('does not change the other sketch', () => {
    const other = sketchOf(users(0, 10))
    const before = other.toBytes()
    sketchOf(users(5, 1_000)).merge(other)
    expect(other.toBytes().equals(before)).toBe(true)
  })
})

describe('bytes', () => {
  test('give an equal sketch, in any order of adding', () => {
    fc.assert(
      fc.property(someUsers, (hashes) => {
        const bytes = sketchOf(hashes).toBytes()
        expect(HyperLogLog.fromBytes(bytes).toBytes().equals(bytes)).toBe(true)
        expect(sketchOf(hashes.toReversed()).toBytes().equals(bytes)).toBe(true)
        expect(HyperLogLog.fromBytes(bytes).count()).toBe(sketchOf(hashes).count())
      }),
      { numRuns: cases(20, 180) },
    )
  })

  test('are few for few elements', () => {
    expect(sketchOf([]).toBytes()).toHaveLength(1)
    expect(sketchOf(users(0, 3)).toBytes()).toHaveLength(16)
    expect(sketchOf(users(0, 100_000)).toBytes()).toHaveLength(10_241)
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['another version', Buffer.from([9, 1, 2, 3, 4, 5])],
    ['half a hash', Buffer.from([1, 1, 2, 3])],
    ['a list that is too long', Buffer.alloc(1 + 2_001 * 5, 1)],
    ['registers cut short', Buffer.alloc(10_000, 2)],
  ])('that are invalid throw: %s', (_what, bytes) => {
    expect(() => HyperLogLog.fromBytes(bytes)).toThrow('Not a HyperLogLog sketch.')
  })
})
