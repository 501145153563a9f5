import { expect, test } from 'vitest'
import type { TestProject } from '#test/kit/founder.ts'
import { dsnParts, newEventId } from '#test/kit/sdk.ts'
import { sendSessions } from '../../insights/metrics/metrics.fixture.ts'
import { testServer } from '#test/kit/test-server.ts'
import { compactPerformance, purgePerformance } from './compact-performance.ts'
import type { Performance } from './performance.api.ts'

/** ANR causes and device signals of events that arrive through the intake. The clock stands at 12:00 UTC. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const owner = await t.founder()
const NOW = t.app.clock.now().getTime()
const MINUTE = 60_000
const at = (minutesAgo: number): string => new Date(NOW - minutesAgo * MINUTE).toISOString()

async function send(project: TestProject, ...events: readonly Record<string, unknown>[]): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  for (const event of events) {
    const answer = await fetch(`${t.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
      method: 'POST',
      body: `{"event_id":"${String(event['event_id'])}"}\n{"type":"${event['type'] === 'transaction' ? 'transaction' : 'event'}"}\n${JSON.stringify(event)}`,
    })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
  }
  await t.service.drain()
}

async function read(project: TestProject, query = ''): Promise<Performance> {
  const answer = await owner.get(`/api/performance?projectId=${project.id}&range=24h${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<Performance>()
}

const device = { model: 'Pixel 6', memory_size: 2e9 }
const anEvent = (fields: Record<string, unknown> = {}) => ({
  event_id: newEventId(),
  timestamp: at(30),
  platform: 'java',
  release: 'shop@1.0',
  user: { id: 'install-1' },
  contexts: { os: { name: 'Android' }, device, app: { view_names: ['Cart'] } },
  ...fields,
})

const anAnr = (callee: string, ms: number, caller = 'SessionStore') =>
  anEvent({
    exception: {
      values: [
        {
          type: 'ApplicationNotResponding',
          value: `Application Not Responding for at least ${ms} ms.`,
          mechanism: { type: 'ANR' },
          stacktrace: {
            frames: [
              { module: 'android.os.Looper', function: 'loop', in_app: false },
              { module: `com.acme.${caller}`, function: 'save', in_app: true },
              { module: `android.app.${callee}`, function: 'commit', in_app: false },
            ],
          },
        },
      ],
    },
  })

test('ANRs by blocking call, with the longest wait and the issue', async () => {
  const project = await t.project(owner)
  const repeated = anAnr('SharedPreferencesImpl', 5_000)
  await send(
    project,
    repeated,
    repeated,
    anAnr('SharedPreferencesImpl', 11_200),
    anAnr('Binder', 8_400, 'StoreLocator'),
  )
  await send(project, anEvent({ exception: { values: [{ type: 'Error', value: 'no ANR' }] } }))
  const issues = await owner.get(`/api/issues?projectId=${project.id}`)
  const { items } = issues.as<{ items: { id: string; short_id: string; culprit: string }[] }>()
  for (const fold of [false, true]) {
    if (fold) await compactPerformance(t.app)
    const { anrs, anr_causes: causes } = await read(project)
    expect(anrs).toEqual({ count: 3, previous: 0 })
    expect(causes).toEqual(
      [
        ['SharedPreferencesImpl.commit in SessionStore.save', 2, 11_200, 'SessionStore'] as const,
        ['Binder.commit in StoreLocator.save', 1, 8_400, 'StoreLocator'] as const,
      ].map(([call, count, longest_ms, caller]) => {
        const issue = items.find(({ culprit }) => culprit.includes(caller))
        return {
          call,
          count,
          share: expect.closeTo(count / 3, 5) as number,
          longest_ms,
          issue_id: issue?.id,
          short_id: issue?.short_id,
        }
      }),
    )
    expect((await read(project, '&release=shop%402.0')).anr_causes).toEqual([])
    expect((await read(project, '&os=Android&device_class=low')).anrs.count).toBe(3)
    expect((await read(project, '&device=Pixel+6')).anrs.count).toBe(3)
  }
})

const crumb = (minutesAgo: number, data: Record<string, unknown>) => ({
  timestamp: at(minutesAgo),
  type: 'system',
  category: 'device.event',
  data,
})
const level = (minutesAgo: number, percent: number, charging = false) =>
  crumb(minutesAgo, { action: 'BATTERY_CHANGED', level: percent, charging })

test('the battery drains per hour, by screen, release and device', async () => {
  const project = await t.project(owner)
  const crumbs = [level(120, 90), level(90, 80), level(85, 79)]
  await send(
    project,
    anEvent({ timestamp: at(80), breadcrumbs: crumbs }),
    // Repeats what is known, and continues: 80 % at 90 minutes, 77 % at 60.
    anEvent({ timestamp: at(55), breadcrumbs: [...crumbs, level(60, 77)], release: 'shop@1.1' }),
    // Another user.
    anEvent({ timestamp: at(50), user: { id: 'install-2' }, breadcrumbs: [level(58, 20)] }),
  )
  for (const fold of [false, true]) {
    if (fold) await compactPerformance(t.app)
    const { battery, series } = await read(project)
    expect(battery.count).toBe(2)
    expect(battery.p50).toBeCloseTo(6, 5)
    expect(battery.releases.map(({ name, p50 }) => [name, Math.round(p50 ?? 0)])).toEqual([
      ['shop@1.0', 20],
      ['shop@1.1', 6],
    ])
    expect(battery.screens?.map(({ name, count }) => [name, count])).toEqual([['Cart', 2]])
    expect(battery.devices?.map(({ name, count }) => [name, count])).toEqual([['Pixel 6', 2]])
    expect(series.flatMap(({ battery_drain: drain }) => (drain === null ? [] : [Math.round(drain)]))).toEqual([20, 6])
  }
  // A transaction of the same user a quarter of an hour later, and charging since then.
  const trace = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), op: 'ui.load' }
  const contexts = { trace, os: { name: 'Android' }, device: { ...device, battery_level: 76, charging: false } }
  await send(project, {
    ...anEvent({ timestamp: at(40), start_timestamp: at(41), contexts }),
    type: 'transaction',
    transaction: 'Checkout',
  })
  await send(project, anEvent({ timestamp: at(20), breadcrumbs: [level(25, 80, true), level(22, 70)] }))
  const { battery } = await read(project)
  expect(battery.count).toBe(3)
  expect(battery.screens?.map(({ name, p50 }) => [name, Math.round(p50 ?? 0)])).toEqual([
    ['Cart', 6],
    ['Checkout', 3],
  ])
  t.clock.set(new Date(NOW + 25 * 60 * MINUTE).toISOString())
  await purgePerformance(t.app)
  t.clock.set(new Date(NOW).toISOString())
  const { rows } = await t.app.db.query('select 1 from battery_levels where project_id = $1', [project.id])
  expect(rows).toEqual([])
})

test('a warning counts once, a state of the device once per user and hour', async () => {
  const project = await t.project(owner)
  const low = crumb(40, { action: 'LOW_MEMORY' })
  const hot = { os: { name: 'iOS' }, device: { ...device, thermal_state: 'serious' } }
  await send(
    project,
    anEvent({ timestamp: at(35), breadcrumbs: [low] }),
    anEvent({ timestamp: at(30), breadcrumbs: [low, crumb(31, { action: 'LOW_MEMORY' })] }),
    anEvent({ timestamp: at(29), contexts: hot }),
    anEvent({ timestamp: at(28), contexts: hot }),
    anEvent({ timestamp: at(27), contexts: hot, user: { id: 'install-2' } }),
    anEvent({ timestamp: at(90), contexts: { ...hot, device: { ...device, thermal_state: 'critical' } } }),
  )
  const { memory, thermal, series } = await read(project)
  expect(memory).toEqual({ warnings: 2, previous: 0 })
  expect(thermal).toMatchObject({ serious: 2, critical: 1 })
  expect(series.reduce((sum, point) => sum + point.low_memory, 0)).toBe(2)
  expect((await read(project, '&os=iOS')).memory.warnings).toBe(0)
})

test('the ANR rate is that of the metrics', async () => {
  const project = await t.project(owner)
  await sendSessions(t, project, [
    { agoMs: 30 * MINUTE, did: 'a', status: 'abnormal', mechanism: 'anr_foreground', release: 'shop@1.0' },
    ...['b', 'c', 'd'].map((did) => ({ agoMs: 30 * MINUTE, did, release: 'shop@1.1' })),
  ])
  expect(await read(project)).toMatchObject({ anr_rate: 0.25, previous_anr_rate: null })
  expect((await read(project, '&release=shop%401.1')).anr_rate).toBe(0)
  expect((await read(project, '&name=Cart')).anr_rate).toBeNull()
})

test('bad signals are ignored and stop nothing', async () => {
  const project = await t.project(owner)
  await send(
    project,
    anEvent({
      breadcrumbs: [
        level(50, 1e308),
        level(40, -5),
        crumb(30, { action: 'BATTERY_CHANGED', level: 'NaN', charging: false }),
      ],
      contexts: { device: { model: 7, battery_level: 400, thermal_state: ['critical'], low_memory: 'yes' } },
    }),
  )
  const answer = await read(project)
  expect([answer.battery.count, answer.memory.warnings, answer.thermal.critical]).toEqual([0, 0, 0])
  const { rows } = await t.app.db.query('select 1 from spool_quarantine')
  expect(rows).toEqual([])
})
