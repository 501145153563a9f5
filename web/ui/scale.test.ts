import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countAxis, niceStep } from './scale.ts'

test.each([
  [200, 2, 100],
  [207, 2, 200],
  [7, 2, 5],
  [1, 2, 0.5],
  [0, 2, 1],
])('up to %d with %d ticks steps by %d', (max, ticks, step) => expect(niceStep(max, ticks)).toBe(step))

test('an axis of counts begins at 0, has whole ticks, and room for its highest bar', () => {
  expect(countAxis(0)).toEqual({ ticks: [0, 1], top: 1 })
  expect(countAxis(3).ticks).toEqual([0, 2])
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), (max) => {
      const { ticks, top } = countAxis(max)
      expect(ticks[0]).toBe(0)
      expect(ticks.length).toBeGreaterThanOrEqual(2)
      expect(ticks.length).toBeLessThanOrEqual(6)
      expect(ticks.every((tick) => Number.isInteger(tick) && tick <= top)).toBe(true)
      expect(top).toBeGreaterThanOrEqual(max)
    }),
  )
})
