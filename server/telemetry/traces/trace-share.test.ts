import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TraceShare } from './trace-share.ts'

/** Evenly placed trace ids. */
const idOf = (n: number, of: number): string =>
  Math.floor((n / of) * 2 ** 32)
    .toString(16)
    .padStart(8, '0')
    .padEnd(32, '0')

/** The same ids in an order that says nothing about their places. */
const mixed = (count: number): string[] => Array.from({ length: count }, (_, n) => idOf((n * 617) % count, count))

test('takes all traces of a quiet organisation, and an even share of a busy one', () => {
  let now = 0
  const share = new TraceShare(() => now, 100)
  const minuteOf = (traces: number): number => {
    const taken = mixed(traces).filter((id) => share.takes(id)).length
    now += 60_000
    return taken
  }
  expect(minuteOf(80)).toBe(80)
  expect(minuteOf(1_000)).toBeLessThan(300)
  // Now it knows the traffic: a sixteenth of the traces, whichever part of them arrives.
  expect(minuteOf(1_000)).toBe(63)
  const twice = idOf(5, 1_000)
  expect(share.takes(twice)).toBe(true)
  expect(share.takes(twice)).toBe(true)
  expect(share.takes(idOf(900, 1_000))).toBe(false)
  now += 180_000
  expect(share.takes(idOf(900, 1_000))).toBe(true)
})

test('in any traffic, a share is one of trace ids: a process with less traffic takes all that a busy one takes', () => {
  const minutes = fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(minutes, (traffic) => {
      let now = 0
      const busy = new TraceShare(() => now, 100)
      const quiet = new TraceShare(() => now, 100)
      for (const traces of traffic) {
        for (const id of mixed(traces)) busy.takes(id)
        now += 60_000
      }
      for (let n = 0; n < 50; n++) if (busy.takes(idOf(n, 50))) expect(quiet.takes(idOf(n, 50))).toBe(true)
    }),
  )
})
