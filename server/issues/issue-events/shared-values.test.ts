import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Tag } from '../../events/protocol/event.api.ts'
import { sharedValues } from './read-shared-values.ts'

const events = (count: number, ...tags: [string, string][]): Tag[][] =>
  Array.from({ length: count }, () => tags.map(([key, value]) => ({ key, value })))
const named = (shares: ReturnType<typeof sharedValues>) => shares.map(({ key, value }) => `${key}:${value}`)

test('a value that other events do not have comes before one that all have', () => {
  const own = events(50, ['os', 'Android 14'], ['store', 'tall'])
  const others = [...events(40, ['os', 'Android 14']), ...events(10, ['os', 'iOS 17'], ['store', 'tall'])]
  expect(named(sharedValues(own, others))).toEqual(['store:tall', 'os:Android 14'])
  expect(sharedValues(own, others)[0]).toMatchObject({ count: 50, share: 1, baseline_count: 10, baseline_share: 0.2 })
})

test('a few events give a smaller lift than many', () => {
  const rare = sharedValues(events(2, ['a', 'x']), events(300, ['a', 'y']))
  const many = sharedValues(events(100, ['a', 'x']), events(300, ['a', 'y']))
  expect(rare[0]?.lift).toBeLessThan(many[0]?.lift ?? 0)
})

test('without other events there is no lift, and the most frequent value comes first', () => {
  const shares = sharedValues([...events(3, ['a', 'x']), ...events(5, ['a', 'y'])], [])
  expect(shares.map(({ value, baseline_share, lift }) => [value, baseline_share, lift])).toEqual([
    ['y', null, null],
    ['x', null, null],
  ])
  expect(sharedValues([], events(3, ['a', 'x']))).toEqual([])
})

test('a value of one event is left out, unless there is only one event', () => {
  expect(named(sharedValues([...events(5, ['a', 'x']), ...events(1, ['id', '7'])], []))).toEqual(['a:x'])
  expect(named(sharedValues(events(1, ['id', '7']), []))).toEqual(['id:7'])
})

test('shares are at most 1, counts are positive, and at most 60 values are returned', () => {
  const tag = fc.record({ key: fc.constantFrom('a', 'b', '__proto__', ''), value: fc.string({ maxLength: 3 }) })
  const some = fc.array(fc.array(tag, { maxLength: 8 }), { maxLength: 30 })
  fc.assert(
    fc.property(some, some, (own, others) => {
      const shares = sharedValues(own, others)
      expect(shares.length).toBeLessThanOrEqual(60)
      for (const one of shares) {
        expect(one.count).toBeGreaterThan(0)
        expect(one.share).toBeLessThanOrEqual(1)
        expect(one.baseline_share ?? 0).toBeLessThanOrEqual(1)
        if (one.lift !== null) expect(one.lift).toBeGreaterThan(0)
      }
    }),
  )
})
