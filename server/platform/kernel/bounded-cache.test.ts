import { expect, test } from 'vitest'
import { BoundedCache } from './bounded-cache.ts'

const keysIn = (cache: BoundedCache<number, string>, keys: readonly number[]): number[] =>
  keys.filter((key) => cache.get(key) !== undefined)

const cacheOf = (maxEntries: number, maxBytes: number): BoundedCache<number, string> =>
  new BoundedCache({ maxEntries, maxBytes, bytesOf: (text) => text.length })

test('large values are forgotten before they take more than the limit, and count once while they are replaced', () => {
  const cache = cacheOf(100, 5_000)
  for (let round = 0; round < 50; round++) for (let key = 0; key < 4; key++) cache.set(key, 'x'.repeat(1_000))
  expect(keysIn(cache, [0, 1, 2, 3])).toEqual([0, 1, 2, 3])
  cache.set(4, 'y'.repeat(4_000))
  expect(keysIn(cache, [0, 1, 2, 3, 4])).toEqual([4])
  cache.set(5, 'x'.repeat(1_000))
  expect(keysIn(cache, [4, 5])).toEqual([4, 5])
})

test('many small values are bounded by their number', () => {
  const cache = cacheOf(3, 1_000_000)
  for (let key = 0; key < 4; key++) cache.set(key, 'x')
  expect(keysIn(cache, [0, 1, 2, 3])).toEqual([3])
})
