import { expect, test } from 'vitest'
import type { Monitor, MonitorEnvironment, MonitorRun } from '../../../api/monitor-queries.ts'
import {
  byUrgency,
  countKinds,
  durationAt,
  goodInARow,
  inOrder,
  keyOfPart,
  needsAttention,
  newestInARow,
  toMonitorParts,
  releaseChanges,
  shownState,
} from './model.ts'

const run = (fields: Partial<MonitorRun> = {}): MonitorRun => ({
  kind: 'ok',
  expected_at: null,
  check_in_id: 'a',
  began_at: '2026-11-19T14:00:00Z',
  duration_ms: 1_000,
  is_running: false,
  release: null,
  trace_id: null,
  ...fields,
})

const environment = (fields: Partial<MonitorEnvironment> = {}): MonitorEnvironment => ({
  name: 'production',
  status: 'ok',
  is_failing: false,
  problem: null,
  in_a_row: 1,
  since: null,
  next_at: null,
  runs: [],
  ...fields,
})

const monitor = (slug: string, fields: Partial<Monitor> = {}): Monitor => ({
  id: slug,
  project_id: 'p',
  slug,
  state: 'active',
  state_at: null,
  schedule: null,
  timezone: null,
  checkin_margin_minutes: null,
  max_runtime_minutes: null,
  failure_issue_threshold: null,
  recovery_threshold: null,
  owner: null,
  created_at: '2026-11-01T00:00:00Z',
  last_check_in_at: '2026-11-19T14:00:00Z',
  next_runs: [],
  environments: [environment()],
  ...fields,
})

const failing = (problem: 'missed' | 'failed' | 'long' | 'late', fields: Partial<MonitorEnvironment> = {}) =>
  environment({ status: problem, problem, is_failing: true, ...fields })

test('rows are in the order of urgency, and keep the order of their load', () => {
  const parts = toMonitorParts([
    monitor('ok'),
    monitor('paused', { state: 'paused', environments: [environment({ status: 'missed' })] }),
    monitor('muted', { state: 'muted', environments: [failing('failed')] }),
    monitor('late', { environments: [failing('late')] }),
    monitor('long', { environments: [failing('long')] }),
    monitor('failed', { environments: [failing('failed'), failing('missed', { name: 'staging' })] }),
    monitor('missed', { environments: [failing('missed')] }),
    monitor('tolerated', { environments: [environment({ status: 'missed' })] }),
  ])
  const sorted = byUrgency(parts)
  expect(sorted.map((part) => `${part.monitor.slug} ${shownState(part)}`)).toEqual([
    'failed missed',
    'missed missed',
    'tolerated missed',
    'failed failed',
    'long long',
    'late late',
    'ok ok',
    'muted muted',
    'paused paused',
  ])
  expect(sorted.filter(needsAttention).map(({ monitor: { slug } }) => slug)).toEqual([
    'failed',
    'missed',
    'failed',
    'long',
  ])
  const order = sorted.map(keyOfPart)
  const later = toMonitorParts([monitor('new'), monitor('late'), monitor('long')])
  expect(inOrder(later, order).map(({ monitor: { slug } }) => slug)).toEqual(['long', 'late', 'new'])
})

test('a monitor that fails shows why until enough good runs followed', () => {
  const recovering = environment({ status: 'ok', is_failing: true, problem: 'failed' })
  expect(shownState({ monitor: monitor('a'), environment: recovering })).toBe('failed')
  expect(goodInARow([run({ kind: 'failed' }), run(), run({ kind: 'running' })])).toBe(1)
  expect(goodInARow([run(), run()])).toBe(2)
})

test('counts add up to the runs', () => {
  const runs = [run(), run({ kind: 'missed' }), run({ kind: 'missed' }), run({ kind: 'running', is_running: true })]
  const counts = countKinds(runs)
  expect(counts).toEqual({ ok: 1, late: 0, long: 0, failed: 0, missed: 2, running: 1 })
  expect(newestInARow(environment({ runs, in_a_row: 2 })).map(({ kind }) => kind)).toEqual(['missed', 'missed'])
})

test('percentiles are of runs that ended', () => {
  const runs = [3, 1, 2].map((seconds) => run({ duration_ms: seconds * 1_000 }))
  expect(durationAt([...runs, run({ is_running: true, duration_ms: 90_000 })], 0.5)).toBe(2_000)
  expect(durationAt(runs, 0.95)).toBe(3_000)
  expect(durationAt([run({ kind: 'missed', duration_ms: null })], 0.5)).toBeNull()
})

test('a release is marked where it is seen first, newest first', () => {
  const runs = ['311', null, '311', '312', '312', '313'].map((release) => run({ release }))
  expect(releaseChanges(runs)).toEqual([
    { index: 5, release: '313' },
    { index: 3, release: '312' },
  ])
})
