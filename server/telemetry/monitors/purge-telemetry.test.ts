import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { aPerson } from '#test/kit/members.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ensureDayPartitions, partitionDays } from '../../platform/storage/day-partitions.ts'
import { listCheckIns } from '../monitors/list-check-ins.ts'
import { listLogs } from '../logs/list-logs.ts'
import { listTraceMetrics } from '../logs/list-trace-metrics.ts'
import { purgeTelemetry } from './purge-telemetry.ts'
import { recordCheckIns } from '../monitors/record-check-ins.ts'
import { insertEntries } from '../logs/entries.queries.ts'
import { LOGS, TRACE_METRICS } from '../logs/record-entries.ts'

const { app, clock } = await testApp()
const ada = await aPerson(app)
const DAY_MS = 86_400_000

async function aProject(retentionDays: number): Promise<string> {
  const id = newId()
  await app.db.query(
    `insert into projects (id, org_id, name, slug, platform, region, settings, created_at) values ($1, $2, 'P', $3, 'web', 'eu-central-1', $4, now())`,
    [id, ada.actor.orgId, id, JSON.stringify({ retention_days: retentionDays })],
  )
  return id
}

/** One of each kind, received so many days ago. */
async function receive(projectId: string, daysAgo: number): Promise<void> {
  const receivedAt = new Date(clock.now().getTime() - daysAgo * DAY_MS)
  await ensureDayPartitions(app.db, [{ table: 'logs' }, { table: 'trace_metrics' }], utcDay(receivedAt))
  const common = {
    projectId,
    receivedAt,
    occurredAt: receivedAt,
    traceId: null,
    spanId: null,
    release: null,
    environment: 'production',
    attributes: {},
    notes: [],
  }
  await app.tx(async (tx) => {
    await insertEntries(tx, LOGS, [{ ...common, level: 'info', severityNumber: 9, body: `${daysAgo} days old` }])
    await insertEntries(tx, TRACE_METRICS, [{ ...common, name: `d${daysAgo}`, type: 'gauge', value: 1, unit: null }])
    const checkIn = {
      ...common,
      id: null,
      slug: `job-${daysAgo}`,
      status: 'ok',
      durationMs: null,
      config: null,
    } as const
    await recordCheckIns(tx, receivedAt, [checkIn])
  })
}

const count = async (table: string): Promise<number> =>
  (await app.db.query<{ n: number }>(`select count(*) as n from ${table}`)).rows[0]?.n ?? -1

test('entries older than the retention of their project are hidden immediately, and deleted by the next purge', async () => {
  const [short, long] = [await aProject(7), await aProject(30)]
  for (const projectId of [short, long]) for (const daysAgo of [0, 6, 8, 29, 31, 45]) await receive(projectId, daysAgo)
  const seen = async (projectId: string) => {
    const page = { projectId, limit: 100, offset: 0 }
    const [logs, metrics, runs] = await Promise.all([
      listLogs(app, ada.actor, page),
      listTraceMetrics(app, ada.actor, page),
      listCheckIns(app, ada.actor, page),
    ])
    return [logs.total, metrics.total, runs.total, logs.items.map(({ body }) => body).join()]
  }
  const shown = [await seen(short), await seen(long)]
  expect(shown).toEqual([
    [2, 2, 2, '0 days old,6 days old'],
    [4, 4, 4, '0 days old,6 days old,8 days old,29 days old'],
  ])

  expect((await purgeTelemetry(app)).rows).toBeGreaterThan(0)
  expect([await seen(short), await seen(long)]).toEqual(shown)
  expect([
    await count('logs'),
    await count('trace_metrics'),
    await count('check_ins'),
    await count('monitors'),
  ]).toEqual([6, 6, 6, 6])
  const oldest = utcDay(new Date(clock.now().getTime() - 30 * DAY_MS))
  for (const table of ['logs', 'trace_metrics'])
    expect((await partitionDays(app.db, table)).every((day) => day >= oldest)).toBe(true)
  expect(await purgeTelemetry(app)).toEqual({ rows: 0, days: 0 })
})

test('a day that is being read is dropped by a later purge', async () => {
  const projectId = await aProject(7)
  await receive(projectId, 50)
  const day = utcDay(new Date(clock.now().getTime() - 50 * DAY_MS))
  await app.tx(async (tx) => {
    await tx.query('select 1 from logs limit 1')
    await purgeTelemetry(app)
  })
  expect(await partitionDays(app.db, 'logs')).toContain(day)
  await purgeTelemetry(app)
  expect(await partitionDays(app.db, 'logs')).not.toContain(day)
})
