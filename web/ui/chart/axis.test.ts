import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countAxis, durationAxis, share, valueAxis } from './axis.ts'

describe('an axis of durations', () => {
  test.each([
    [0, 176, [0, 10]],
    [51_000, 176, [0, 15_000, 30_000, 45_000, 60_000]],
    [154_000, 176, [0, 60_000, 120_000, 180_000]],
    [40 * 3_600_000, 176, [0, 43_200_000, 86_400_000, 129_600_000, 172_800_000]],
    [20 * 86_400_000, 176, [0, 432_000_000, 864_000_000, 1_296_000_000, 1_728_000_000]],
  ])('up to %d ms in %d pixels', (max, heightPx, ticks) =>
    expect(durationAxis(max, heightPx)).toEqual({ low: 0, high: ticks.at(-1), ticks }),
  )
})

describe('an axis of counts', () => {
  test.each([
    [0, 76, [0, 1]],
    [3, 76, [0, 2, 4]],
    [5, 76, [0, 2, 4, 6]],
    [8, 76, [0, 5, 10]],
    [407, 76, [0, 200, 400, 600]],
    [12_800, 200, [0, 2_000, 4_000, 6_000, 8_000, 10_000, 12_000, 14_000]],
  ])('up to %d in %d pixels', (max, heightPx, ticks) => expect(countAxis(max, heightPx).ticks).toEqual(ticks))

  test('starts at 0, has whole ticks, and its last tick is not below the maximum', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), fc.integer({ min: 40, max: 300 }), (max, heightPx) => {
        const { low, high, ticks } = countAxis(max, heightPx)
        expect(low).toBe(0)
        expect(ticks[0]).toBe(0)
        expect(ticks.at(-1)).toBe(high)
        expect(high).toBeGreaterThanOrEqual(max)
        expect(ticks.length).toBeGreaterThanOrEqual(2)
        expect(ticks.length).toBeLessThanOrEqual(12)
        expect(ticks.every((tick) => Number.isInteger(tick))).toBe(true)
      }),
    )
  })
})

describe('an axis of values', () => {
  const options = { heightPx: 180, include: [0.99, 0.995], max: 1 }

  test.each([[[0.9967, 0.9918]], [[1]], [[0, 1]], [[]], [[0.4]], [[0.99999, 1]], [[0.9964]]])(
    'holds %j and the limits',
    (values) => {
      const axis = valueAxis(values, options)
      for (const value of [...values, 0.99, 0.995]) {
        expect(share(axis, value)).toBeGreaterThanOrEqual(0)
        expect(share(axis, value)).toBeLessThanOrEqual(1)
      }
      expect(axis.low).toBeGreaterThanOrEqual(0)
      expect(axis.high).toBeLessThanOrEqual(1)
      expect(axis.ticks.length).toBeGreaterThanOrEqual(2)
      expect(axis.ticks.length).toBeLessThanOrEqual(9)
    },
  )

  test('of counts has whole ticks, also for a few', () => {
    const ticksOf = (values: number[]) => valueAxis(values, { heightPx: 178, include: [0], counts: true }).ticks
    expect(ticksOf([1, 2])).toEqual([0, 1, 2, 3])
    expect(ticksOf([])).toEqual([0, 1])
    expect(ticksOf([0, 200])).toEqual([0, 50, 100, 150, 200, 250])
  })

  test('has ticks at 99 and 99.5 when all values are near them', () => {
    expect(valueAxis([0.9961, 0.9972], options).ticks).toEqual(expect.arrayContaining([0.99, 0.992, 0.994, 0.996]))
    expect(valueAxis([0.9918, 0.9967], { ...options, heightPx: 140 }).ticks).toContain(0.99)
  })

  test('of any values has a tick below the lowest and above the highest, and every limit inside', () => {
    const number = (max: number) => fc.double({ min: 0, max, noNaN: true })
    const input = fc.oneof(
      fc.record({ values: fc.array(number(1)), include: fc.array(number(1)), max: fc.constant(1) }),
      // Times and counts: close to each other, or far apart.
      fc.record({ values: fc.array(number(1e7)), include: fc.array(number(1e7)), max: fc.constant(Infinity) }),
      fc.record({
        values: fc.array(fc.double({ min: 4_999, max: 5_000, noNaN: true })),
        include: fc.constant([]),
        max: fc.constant(Infinity),
      }),
    )
    fc.assert(
      fc.property(input, fc.integer({ min: 40, max: 300 }), ({ values, include, max }, heightPx) => {
        const axis = valueAxis(values, { heightPx, include, max })
        const all = [...values, ...include]
        expect(axis.ticks[0]).toBe(axis.low)
        expect(axis.ticks.at(-1)).toBe(axis.high)
        expect(axis.ticks.length).toBeGreaterThanOrEqual(2)
        expect(axis.ticks.length).toBeLessThanOrEqual(13)
        for (const value of all) {
          expect(value).toBeGreaterThanOrEqual(axis.low)
          expect(value).toBeLessThanOrEqual(axis.high)
        }
        const [step = 0] = axis.ticks.slice(1).map((tick, index) => tick - (axis.ticks[index] ?? 0))
        for (const [index, tick] of axis.ticks.slice(1).entries())
          expect(tick - (axis.ticks[index] ?? 0)).toBeCloseTo(step, 9)
      }),
    )
  })

  test('without values is from 0 to 1', () => {
    expect(valueAxis([], { heightPx: 100 })).toMatchObject({ low: 0 })
  })
})
