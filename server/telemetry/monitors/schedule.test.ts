import { Cron } from 'croner'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expectedByCrontab } from './schedule.ts'

const at = (text: string): Date => new Date(text)
const DAY_MS = 86_400_000

const crontabs = fc.record({
  value: fc.constantFrom(
    '*/7 * * * *',
    '30 2 * * *',
    '15 */3 * * *',
    '0 9 * * mon-fri',
    '59 23 l * *',
    '0 3 29 2 *',
    '0 0 30 2 *',
    '@hourly',
  ),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
})
/** Around the changes of clocks in Europe and America. */
const moments = fc
  .tuple(
    fc.constantFrom('2026-03-08', '2026-03-29', '2026-10-25', '2026-11-01'),
    fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
  )
  .map(([day, offsetMs]) => new Date(at(`${day}T00:00:00Z`).getTime() + offsetMs))
const questions = fc.array(
  fc.record({ until: moments, backMs: fc.integer({ min: 0, max: 3 * DAY_MS }), max: fc.integer({ min: 1, max: 40 }) }),
  { minLength: 1, maxLength: 6 },
)

test('times that are kept are those that a walk forwards finds, in whatever order one asks', () => {
  fc.assert(
    fc.property(crontabs, questions, (crontab, asked) => {
      const cron = new Cron(crontab.value, { timezone: crontab.timezone, paused: true, mode: '5-part' })
      for (const { until, backMs, max } of asked) {
        // Near the last question, too.
        for (const end of [until, new Date(until.getTime() + 90_000), new Date(until.getTime() - 45_000)]) {
          const after = new Date(end.getTime() - backMs)
          const walked: Date[] = []
          for (let next = cron.nextRun(after); next !== null && next <= end; next = cron.nextRun(next))
            walked.push(next)
          expect(expectedByCrontab(crontab, after, end, max)).toEqual(walked.slice(-max))
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('a crontab that never comes has no times', () => {
  const never = { value: '0 0 30 2 *', timezone: 'UTC' }
  expect(expectedByCrontab(never, at('2026-01-01T00:00:00Z'), at('2026-12-01T00:00:00Z'), 30)).toEqual([])
})
