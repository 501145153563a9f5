import { expect, test } from 'vitest'
import type { Monitor } from '../../../api/monitor-queries.ts'
import { findFaults, toMonitorChange, toMonitorDraft } from './monitor-draft.ts'

const MONITOR: Monitor = {
  id: 'm',
  project_id: 'p',
  slug: 'nightly',
  state: 'active',
  state_at: null,
  schedule: { type: 'crontab', value: '30 2 * * *', unit: null },
  timezone: 'Europe/Berlin',
  checkin_margin_minutes: 5,
  max_runtime_minutes: null,
  failure_issue_threshold: null,
  recovery_threshold: 2,
  owner: null,
  created_at: '2026-11-01T00:00:00Z',
  last_check_in_at: '2026-11-19T14:00:00Z',
  next_runs: [],
  environments: [],
}
const draft = toMonitorDraft(MONITOR)

test('an unchanged draft changes nothing', () => {
  expect(toMonitorChange(MONITOR, draft)).toEqual({})
  expect(findFaults(draft)).toEqual({})
})

test('only what differs is sent', () => {
  expect(toMonitorChange(MONITOR, { ...draft, crontab: ' 0 3 * * * ', grace: '', limit: '90' })).toEqual({
    schedule: { type: 'crontab', value: '0 3 * * *' },
    checkin_margin_minutes: null,
    max_runtime_minutes: 90,
  })
  expect(toMonitorChange(MONITOR, { ...draft, kind: 'interval', every: '6', unit: 'hour' })).toEqual({
    schedule: { type: 'interval', value: 6, unit: 'hour' },
  })
  expect(toMonitorChange(MONITOR, { ...draft, timezone: 'UTC' })).toEqual({ timezone: 'UTC' })
})

test('what is wrong is said beside its field', () => {
  const wrong = {
    ...draft,
    crontab: '30 2 *',
    timezone: ' ',
    grace: '-1',
    limit: '0',
    failures: '1.5',
    recoveries: '721',
  }
  expect(Object.keys(findFaults(wrong)).toSorted()).toEqual([
    'crontab',
    'failures',
    'grace',
    'limit',
    'recoveries',
    'timezone',
  ])
  expect(findFaults({ ...draft, kind: 'interval', every: '0' })).toEqual({
    every: 'Enter a whole number from 1 to 10,000.',
  })
  expect(findFaults({ ...draft, crontab: '@daily' })).toEqual({})
})
