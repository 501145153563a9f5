import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { formatClock, formatDay, setZone } from '../../ui/format.ts'
import { timeTicks } from './time-ticks.ts'

beforeAll(() => {
  vi.stubEnv('TZ', 'Europe/Berlin')
})
afterAll(() => {
  vi.unstubAllEnvs()
})
afterEach(() => setZone('local'))

const WEEK_MS = 7 * 86_400_000
const textsOf = (from: string, lengthMs: number) =>
  timeTicks(Date.parse(from), Date.parse(from) + lengthMs, false).map(({ text }) => text)
/** The wall clock where each label is. */
const clocksAt = (from: string, lengthMs: number) =>
  timeTicks(Date.parse(from), Date.parse(from) + lengthMs, false).map(({ at }) =>
    formatClock(Date.parse(from) + at * lengthMs),
  )

describe('days of a week', () => {
  test.each([
    [
      'clocks go forward on 29 March',
      '2026-03-25T12:00:00Z',
      ['26 Mar', '27 Mar', '28 Mar', '29 Mar', '30 Mar', '31 Mar', '1 Apr'],
    ],
    [
      'clocks go back on 25 October',
      '2026-10-21T12:00:00Z',
      ['22 Oct', '23 Oct', '24 Oct', '25 Oct', '26 Oct', '27 Oct', '28 Oct'],
    ],
  ])('%s: every day once, at its midnight', (_, from, days) => {
    expect(textsOf(from, WEEK_MS)).toEqual(days)
    expect(clocksAt(from, WEEK_MS)).toEqual(days.map(() => '00:00'))
  })

  test('the day of the change is an hour shorter or longer on the axis', () => {
    const gaps = (from: string) => {
      const places = timeTicks(Date.parse(from), Date.parse(from) + WEEK_MS, false).map(({ at }) => at * 168)
      return places.slice(1).map((at, index) => Math.round(at - (places[index] ?? 0)))
    }
    expect(gaps('2026-03-25T12:00:00Z')).toEqual([24, 24, 24, 23, 24, 24])
    expect(gaps('2026-10-21T12:00:00Z')).toEqual([24, 24, 24, 25, 24, 24])
  })
})

test('a day keeps whole hours when the clocks change', () => {
  const day = 86_400_000
  expect(textsOf('2026-03-28T20:30:00Z', day)).toEqual(['00:00', '04:00', '08:00', '12:00', '16:00', '20:00'])
  expect(textsOf('2026-10-24T20:30:00Z', day)).toEqual(['00:00', '04:00', '08:00', '12:00', '16:00', '20:00'])
})

test('hours are even in elapsed time: the repeated hour has two labels', () => {
  expect(textsOf('2026-10-24T23:30:00Z', 4 * 3_600_000)).toEqual(['02:00', '02:00', '03:00', '04:00'])
  expect(textsOf('2026-03-28T23:30:00Z', 4 * 3_600_000)).toEqual(['01:00', '03:00', '04:00', '05:00'])
})

test('an axis of the present ends with now, and names a zone that is not local', () => {
  const at = Date.parse('2026-11-20T10:00:00Z')
  expect(timeTicks(at - 3_600_000, at, true).at(-1)).toEqual({ at: 1, text: 'now' })
  setZone('utc')
  expect(timeTicks(at - 3_600_000, at, true).at(-1)).toEqual({ at: 1, text: 'now, UTC' })
  expect(timeTicks(at - WEEK_MS, at, true).map(({ text }) => text)).toContain(formatDay('2026-11-20T00:00:00Z', at))
})

test('an axis of no length has no labels', () => {
  expect(timeTicks(5, 5, true)).toEqual([])
  expect(timeTicks(Number.NaN, 5, true)).toEqual([])
})
