import { expect, test } from 'vitest'
import { evaluateRules } from '#server/alerts/evaluation/evaluate-rules.ts'
import type { Alert } from '#server/alerts/rules/alerts.api.ts'
import { PRECURSORS } from '#server/telemetry/precursors/precursor.ts'
import { readIntakeSamples, SAMPLE_KEY } from '#test/kit/samples.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Values that recordings of phones give to the rate triggers of alert rules. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
t.clock.set('2026-11-20T05:00:00.000Z')

test('a cold start, a journey and signs of a coming crash in recordings of React Native and Android', async () => {
  const owner = await t.founder()
  const project = await t.project(owner)
  await t.app.db.query('update projects set number = 4501 where id = $1', [project.id])
  await t.app.db.query('update project_keys set public_key = $2 where project_id = $1', [project.id, SAMPLE_KEY])
  const changed = await owner.patch(`/api/projects/${project.id}/settings`, { critical_paths: ['Cart*'] })
  expect(changed.status, changed.text).toBe(200)
  for (const [trigger_type, conditions] of [
    ['performance_threshold', { threshold: 1_000, min_count: 1, percentile: 'p50' }],
    ['critical_path', { threshold: 500, min_count: 1, window_minutes: 60 }],
    ['pre_crash_state', { window_minutes: 60 }],
  ] as const) {
    const rule = { projectId: project.id, name: trigger_type, trigger_type, conditions, actions: [] }
    const made = await owner.post('/api/alerts', rule)
    expect(made.status, made.text).toBe(201)
  }
  for (const { name, url, method, headers, body } of readIntakeSamples()) {
    if (!/^react-native|^java-.*anr/.test(name)) continue
    const answer = await fetch(t.url + url, { method, headers, body: new Uint8Array(body) })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
  }
  await t.service.drain()
  const { rows } = await t.app.db.query<{ sign: number; owners: number }>(
    'select sign, count(distinct owner)::int as owners from precursors where project_id = $1 group by 1 order by 1',
    [project.id],
  )
  expect(rows.map(({ sign, owners }) => [PRECURSORS[sign], owners])).toEqual([
    ['crash', 1],
    ['thermal_serious', 1],
    ['frozen_frames', 1],
    ['anr_warning', 1],
  ])
  await evaluateRules(t.app)
  const { items } = (await owner.get(`/api/alerts/fired?projectId=${project.id}`)).as<{ items: Alert[] }>()
  // One session is no data for signs of a coming crash.
  expect(
    items
      .map(({ trigger_type, explanation }) => [trigger_type, explanation] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ).toEqual([
    [
      'critical_path',
      expect.stringMatching(/^P95 of Cart\* is [.\d]+ s over the last 60 minutes \(\d+ transactions?\)/),
    ],
    [
      'performance_threshold',
      expect.stringMatching(
        /^P50 of cold starts is 1\.2\d* s over the last 60 minutes \(\d+ starts?\); the limit is 1 s\.$/,
      ),
    ],
  ])
})
