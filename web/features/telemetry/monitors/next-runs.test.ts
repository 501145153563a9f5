import { expect, test } from 'vitest'
import { nextRuns } from './next-runs.ts'

test('the next five runs of a crontab that is typed, in its zone and over the change of its clocks', () => {
  const after = new Date('2026-10-23T12:00:00Z')
  expect(nextRuns('30 4 * * *', 'Europe/Berlin', after)).toEqual([
    '2026-10-24T02:30:00.000Z',
    '2026-10-25T03:30:00.000Z',
    '2026-10-26T03:30:00.000Z',
    '2026-10-27T03:30:00.000Z',
    '2026-10-28T03:30:00.000Z',
  ])
  expect(() => nextRuns('61 * * * *', 'UTC', after)).toThrow()
  expect(() => nextRuns('* * * * *', 'Mars/Olympus', after)).toThrow()
})
