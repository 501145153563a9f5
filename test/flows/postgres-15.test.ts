import { rmSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { createApp } from '#server/service/app.ts'
import { migrateDatabase } from '#server/service/cli/database.ts'
import { startService } from '#server/service/cli/service.ts'
import { readConfig } from '#server/config/config.ts'
import { compactPerformance, purgePerformance } from '#server/telemetry/performance/compact-performance.ts'
import { readSeries } from '#server/telemetry/performance/performance.fixture.ts'
import { readPerformanceByName } from '#server/telemetry/performance/read-performance.ts'
import { purgeRows } from '#server/platform/jobs/purge.ts'
import { AGING_HEALTH } from '#server/telemetry/app-health/fold.queries.ts'
import { readSessionSeries, readSessionTotals } from '#server/telemetry/app-health/session-totals.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { purgeTelemetry } from '#server/telemetry/monitors/purge-telemetry.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { databaseFolder } from '#test/kit/scratch.ts'
import { anEvent, dsnParts, sendEvent } from '#test/kit/sdk.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Issue } from '#server/issues/rules/issue.api.ts'

/** The main story on the oldest PostgreSQL we support: none of our SQL needs a newer one. */

const folder = databaseFolder('faultline-pg15-')
const postgres = await startEmbeddedPostgres({
  dataDir: folder,
  log: () => {},
  binaries: 'pg15',
  durability: 'none-for-tests',
})
await migrateDatabase(postgres.connectionString, () => {})
const config = readConfig({ FAULTLINE_DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'error' })
const app = await createApp(config, postgres.connectionString, 6, 'test')
const service = await startService(app, postgres.connectionString, { digestion: 'manual' })
afterAll(async () => {
  await service.close()
  await app.close()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('PostgreSQL 15: sign up, send, read, search, resolve, regress, delete', async () => {
  expect(postgres.majorVersion).toBe(15)
  const ada = await aFounder(service.publicUrl)
  const project = await aProject(ada)
  const send = async (fields: Record<string, unknown>): Promise<void> => {
    expect((await sendEvent(service.publicUrl, project.dsn, anEvent(fields))).status).toBe(200)
    await service.drain()
  }
  await send({ user: { id: '1' }, extra: { password: 'secret' } })
  await send({ user: { id: '2' } })
  const found = (await ada.get('/api/issues/search?q=confirmPayment')).as<{ items: Issue[] }>()
  expect(found.items).toMatchObject([{ event_count: 2, user_count: 2, status: 'unresolved' }])
  const at = `/api/issues/${found.items[0]?.id}`
  expect((await ada.patch(at, { status: 'resolved' })).status).toBe(200)
  await send({ timestamp: Date.now() / 1000 + 1 })
  expect((await ada.get(at)).body).toMatchObject({ status: 'regressed', event_count: 3 })
  expect((await ada.get('/api/issues/volume?range=7d')).body).toMatchObject({ total: 3 })
  expect((await ada.post(`/api/projects/${project.id}/rotate-dsn`, { grace_seconds: 0 })).status).toBe(200)
  // Every process learns of the rotation through the database: soon, but after the response.
  await waitFor(
    'the old key to be refused',
    async () => (await sendEvent(service.publicUrl, project.dsn, anEvent())).status === 403,
  )
  expect((await ada.delete(at)).status).toBe(204)
  expect((await ada.get('/api/issues')).body).toMatchObject({ total: 0 })
})

test('PostgreSQL 15: sessions start, crash, are read and purged', async () => {
  const project = await aProject(await aFounder(service.publicUrl))
  const { key, projectNumber } = dsnParts(project.dsn)
  const started = new Date().toISOString()
  for (const [status, init] of [
    ['ok', true],
    ['crashed', false],
  ] as const) {
    const session = { sid: 'a'.repeat(32), did: 'ada', started, status, init, duration: 2, attrs: { release: 'a' } }
    const counts = { aggregates: [{ started, exited: 1 }], attrs: { release: 'b' } }
    const response = await fetch(`${service.publicUrl}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
      method: 'POST',
      body: `{}\n{"type":"session"}\n${JSON.stringify(session)}\n{"type":"sessions"}\n${JSON.stringify(counts)}\n`,
    })
    expect(response.status).toBe(200)
    await service.drain()
  }
  const question = { projectId: project.id, from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 60_000) }
  expect(await readSessionTotals(app.db, question)).toMatchObject({ total: 3, crashed: 1, users: 1, crashed_users: 1 })
  expect(await readSessionTotals(app.db, { ...question, release: 'b' })).toMatchObject({ total: 2, crashed: 0 })
  const points = await readSessionSeries(app.db, question, 60)
  expect(points.reduce((sum, { totals }) => sum + totals.total, 0)).toBe(3)
  expect(await purgeRows(app, AGING_HEALTH)).toMatchObject({ app_sessions: 0, health_rollups: 0 })
})

test('PostgreSQL 15: logs, trace metrics and check-ins are written, listed and purged', async () => {
  const ada = await aFounder(service.publicUrl)
  const project = await aProject(ada)
  const { key, projectNumber } = dsnParts(project.dsn)
  const at = `${service.publicUrl}/api/${projectNumber}`
  const log = { items: [{ body: 'paid', level: 'error', trace_id: 'a'.repeat(32), attributes: { n: 1 } }] }
  const metric = { items: [{ name: 'orders', type: 'counter', value: 1 }] }
  const response = await fetch(`${at}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `{}\n{"type":"log"}\n${JSON.stringify(log)}\n{"type":"trace_metric"}\n${JSON.stringify(metric)}\n`,
  })
  expect(response.status).toBe(200)
  for (const query of ['status=in_progress&schedule=1+day', 'status=ok'])
    expect((await fetch(`${at}/cron/nightly/${key}/?${query}`)).status).toBe(202)
  await service.drain()
  const list = async (what: string) => (await ada.get(`/api/projects/${project.id}/${what}`)).body
  for (const query of ['', '?q=PAID&level=error', `?trace_id=${'a'.repeat(32)}`])
    expect(await list(`logs${query}`)).toMatchObject({ total: 1, items: [{ body: 'paid' }] })
  expect(await list('trace-metrics?name=orders')).toMatchObject({ total: 1, items: [{ value: 1 }] })
  expect(await list('check-ins?monitor=nightly')).toMatchObject({ total: 1, items: [{ status: 'ok' }] })
  expect(await purgeTelemetry(app)).toEqual({ rows: 0, days: 0 })
})

test('PostgreSQL 15: transactions and spans are measured, folded, read and purged', async () => {
  const project = await aProject(await aFounder(service.publicUrl))
  const { key, projectNumber } = dsnParts(project.dsn)
  const end = Date.now() / 1_000
  const ids = (digit: string) => ({ trace_id: digit.repeat(32), span_id: digit.repeat(16) })
  const transaction = {
    transaction: 'Home',
    start_timestamp: end - 1,
    timestamp: end,
    contexts: { trace: { ...ids('a'), op: 'ui.load' } },
    measurements: { app_start_cold: { value: 900 } },
  }
  const span = (digit: string, fields: Record<string, unknown>) => ({
    ...ids(digit),
    start_timestamp: end - 1,
    end_timestamp: end,
    ...fields,
  })
  const lcp = {
    'browser.web_vital.lcp.value': 50,
    'sentry.segment.id': 'b'.repeat(16),
    'sentry.segment.name': 'Pageload',
  }
  const child = { ...span('c', { attributes: lcp }), trace_id: 'b'.repeat(32) }
  const page = span('b', { name: 'Pageload', is_segment: true, attributes: { 'url.path': '/cart' } })
  for (const items of [[child], [page], [page, child]]) {
    const response = await fetch(`${service.publicUrl}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
      method: 'POST',
      body: `{}\n{"type":"transaction"}\n${JSON.stringify(transaction)}\n{"type":"span"}\n${JSON.stringify({ items })}\n`,
    })
    expect(response.status).toBe(200)
    await service.drain()
  }
  const minute = Math.floor(Date.now() / 60_000) * 60_000
  const scope = {
    projectIds: [project.id],
    from: new Date(minute - 3_600_000),
    to: new Date(minute + 60_000),
    filter: {},
  }
  for (const fold of [false, true]) {
    if (fold) expect(await compactPerformance(app)).toBeGreaterThan(0)
    const found = await readPerformanceByName(app.db, { ...scope, metrics: ['duration', 'lcp', 'app_start_cold'] }, 10)
    const counts = found.map(({ name, metrics }) => [name, [...metrics.values()].map(({ count }) => count)] as const)
    expect(Object.fromEntries(counts)).toEqual({ '/cart': [1, 1, 0], Home: [1, 0, 1] })
    const points = await readSeries(app.db, { ...scope, metric: 'duration', intervalMs: 60_000 })
    expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(2)
  }
  expect(await purgePerformance(app)).toMatchObject({ performance_rollups: 0 })
})
