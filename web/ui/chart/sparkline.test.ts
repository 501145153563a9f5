import { expect, test } from 'vitest'
import { sparkPath } from './sparkline.tsx'

test('one path contains all bars, scaled to the maximum', () => {
  expect(sparkPath([0, 5, 10], 10, 0, 3)).toBe('M0 27h28.8v1h-28.8zM40 15.5h28.8v12.5h-28.8zM80 3h28.8v25h-28.8z')
})

test('counts of zero are a flat line', () => {
  expect(sparkPath([0, 0], 0, 0, 2)).toBe('M0 27h43.2v1h-43.2zM60 27h43.2v1h-43.2z')
})

test('a part keeps the positions of the whole', () => {
  expect(sparkPath([1, 1, 2, 2], 2, 2, 4)).toBe('M60 3h21.6v25h-21.6zM90 3h21.6v25h-21.6z')
})
