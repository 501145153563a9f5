import { expect, test } from 'vitest'
import { slowerRelease } from './slower.ts'

const part = (name: string, count: number, p95: number) => ({
  name,
  count,
  p50_ms: 1,
  p75_ms: 2,
  p95_ms: p95,
  failures: 0,
  failure_rate: 0,
})
const MARKERS = [
  { version: 'b', at: '2026-11-19T09:40:00Z' },
  { version: 'c', at: '2026-11-20T09:40:00Z' },
]

test('the newest release with enough requests is compared with the one before', () => {
  const found = slowerRelease([part('a', 900, 100), part('b', 300, 250), part('c', 5, 900)], MARKERS)
  expect([found?.release.name, found?.previous.name]).toEqual(['b', 'a'])
})

test.each([
  ['one release', [part('b', 300, 250)]],
  ['chance', [part('a', 900, 100), part('b', 300, 110)]],
  ['few requests', [part('a', 900, 100), part('b', 99, 250)]],
  ['a release that began before the range', [part('x', 900, 250), part('y', 300, 100)]],
])('no reason for %s', (_, parts) => {
  expect(slowerRelease(parts, MARKERS)).toBeNull()
})
