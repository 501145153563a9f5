import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findMemoryGrowths } from './memory-growth.ts'

const MB = 1_048_576
const level = (minute: number, mb: number) => ({ atMs: minute * 60_000, bytes: mb * MB })
const grown = (...levels: ReturnType<typeof level>[]) =>
  findMemoryGrowths(null, levels).atMs.map((atMs) => atMs / 60_000)

test('growth by half and by 50 MB within ten minutes', () => {
  expect(grown(level(0, 100), level(5, 150))).toEqual([5])
  expect(grown(level(0, 100), level(4, 120), level(8, 151))).toEqual([8])
  expect(grown(level(0, 100), level(5, 149))).toEqual([])
  expect(grown(level(0, 20), level(5, 60))).toEqual([])
  expect(grown(level(0, 300), level(5, 400))).toEqual([])
  expect(grown(level(0, 100), level(11, 200))).toEqual([])
  // Freed and taken again within the time.
  expect(grown(level(0, 300), level(1, 100), level(5, 200))).toEqual([5])
})

test('levels that were read before change nothing', () => {
  const first = findMemoryGrowths(null, [level(0, 100), level(5, 200)])
  const again = findMemoryGrowths(first.state, [level(0, 100), level(5, 200)])
  expect(again).toEqual({ atMs: [], state: first.state })
})

test('levels in two reports give the same as in one', () => {
  const levels = fc
    .array(fc.record({ atMs: fc.integer({ min: 0, max: 3_600_000 }), bytes: fc.integer({ min: MB, max: 1_000 * MB }) }))
    .map((all) => all.toSorted((a, b) => a.atMs - b.atMs))
  fc.assert(
    fc.property(levels, fc.nat(), (all, at) => {
      const cut = all.length === 0 ? 0 : at % all.length
      const first = findMemoryGrowths(null, all.slice(0, cut))
      const second = findMemoryGrowths(first.state, all.slice(cut))
      expect([...first.atMs, ...second.atMs]).toEqual(findMemoryGrowths(null, all).atMs)
    }),
  )
})
