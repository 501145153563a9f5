import { expect, test } from 'vitest'
import { TraceShare } from './trace-share.ts'

/** Evenly placed trace ids. */
const idOf = (n: number, of: number): string =>
  Math.floor((n / of) * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
    .padEnd(32, '0')

test('takes all traces of a quiet project, and at most so many a minute of a busy one', () => {
  let now = 0
  const share = new TraceShare(() => now, 100)
  const minuteOf = (traces: number): number => {
    let taken = 0
    for (let n = 0; n < traces; n++) if (share.takes(idOf(n, traces))) taken++
    now += 60_000
    return taken
  }
  expect(minuteOf(80)).toBe(80)
  expect(minuteOf(1_000)).toBe(100)
  // Now it knows the traffic: a tenth of the traces, whichever part of them arrives.
  expect(minuteOf(1_000)).toBe(100)
  const twice = idOf(5, 1_000)
  expect(share.takes(twice)).toBe(true)
  expect(share.takes(twice)).toBe(true)
  expect(share.takes(idOf(900, 1_000))).toBe(false)
  now += 180_000
  expect(share.takes(idOf(900, 1_000))).toBe(true)
})
