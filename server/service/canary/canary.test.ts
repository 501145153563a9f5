import { expect, test } from 'vitest'
import { secondApp } from '#test/kit/second-app.ts'
import { client } from '#test/kit/client.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { CANARY_PROJECT_ID, CANARY_RULE_ID } from '../../platform/kernel/ids.ts'
import { publish } from '../../platform/storage/bus.ts'
import { canaryOf, deliver, runsOf, watch, wholeRun } from './canary.fixture.ts'
import { createCanary, readCanary } from './create-canary.ts'
import { removeRuns } from './remove-runs.ts'

/** Digestion and deliveries run when a test asks for them: between, their roles are stopped. */
const t = await testServer({ env: { FAULTLINE_CANARY_MINUTES: '60' } })
const { app } = t
const HOUR_MS = 3_600_000

const readyz = async (): Promise<{ status: number; canary: unknown }> => {
  const { status, body } = await client(t.url).get('/readyz')
  return { status, canary: (body as { checks: Record<string, unknown> }).checks['canary'] }
}

/** As if another period had started. */
const nextPeriod = (): Promise<unknown> =>
  app.db.query(`update canary_runs set started_at = started_at - interval '1 hour'`)

test('an event goes through intake, digestion, rule and outbox, and its arrival is recorded', async () => {
  expect(await readCanary(app)).toEqual({
    state: 'pending',
    last_started_at: null,
    last_arrived_at: null,
    duration_ms: null,
    failed_step: null,
    explanation: '',
    interval_minutes: 60,
  })
  expect(await wholeRun(t)).toEqual({
    state: 'ok',
    last_started_at: expect.any(String) as string,
    last_arrived_at: expect.any(String) as string,
    duration_ms: expect.any(Number) as number,
    failed_step: null,
    explanation: '',
    interval_minutes: 60,
  })
  expect(await readyz()).toEqual({ status: 200, canary: { ok: true, detail: 'ok' } })
  // The next one is due after an hour, and what does not change is not written.
  const row = async () => (await app.db.query('select xmin::text from canary')).rows
  const written = await row()
  await watch(t, 60_000)
  expect(await row()).toEqual(written)
  expect(await runsOf(t)).toBe(1)
})

test('a stopped digestion, and a stopped delivery, are named after two minutes; the late arrival ends the alarm', async () => {
  await nextPeriod()
  expect(await watch(t, 45_000)).toMatchObject({ state: 'ok' })
  expect(await watch(t, 30_000)).toMatchObject({ state: 'late', failed_step: 'digestion' })
  expect(await watch(t, 60_000)).toMatchObject({
    state: 'broken',
    failed_step: 'digestion',
    explanation: expect.stringContaining('role digest') as string,
  })
  expect(await readyz()).toEqual({
    status: 200,
    canary: { ok: false, detail: expect.stringMatching(/^broken at digestion\. /) as string },
  })
  expect(t.logLines).toContainEqual(expect.objectContaining({ msg: 'alerts do not arrive', failed_step: 'digestion' }))

  await t.service.drain()
  expect(await watch(t, 15_000)).toMatchObject({ state: 'broken', failed_step: 'delivery' })
  expect(await deliver(t)).toMatchObject({ state: 'ok', failed_step: null, explanation: '' })
  expect(t.logLines).toContainEqual(expect.objectContaining({ msg: 'alerts arrive again' }))
})

test('a rule that does not fire is named; while the path is broken another event follows after five minutes', async () => {
  await app.db.query('update alert_rules set enabled = false where id = $1', [CANARY_RULE_ID])
  await nextPeriod()
  await canaryOf(t).tick()
  await t.service.drain()
  expect(await watch(t, 120_000)).toMatchObject({ state: 'broken', failed_step: 'alert' })

  await app.db.query('update alert_rules set enabled = true where id = $1', [CANARY_RULE_ID])
  const before = await runsOf(t)
  await watch(t, 165_000)
  expect(await runsOf(t)).toBe(before)
  expect(await watch(t, 30_000)).toMatchObject({ state: 'broken', failed_step: 'alert' })
  expect(await runsOf(t)).toBe(before + 1)
  await t.service.drain()
  expect(await deliver(t)).toMatchObject({ state: 'ok' })
})

test('a refused event is named with the answer, and sent again until the intake accepts it', async () => {
  const setExpiry = async (expiry: string): Promise<void> => {
    await app.db.query(`update project_keys set expires_at = ${expiry} where project_id = $1`, [CANARY_PROJECT_ID])
    await publish(app.db, 'project_key', null)
  }
  const attempts = () => t.logLines.filter(({ msg }) => msg === 'the intake did not accept the end-to-end test').length
  await setExpiry(`'2020-01-01'`)
  await nextPeriod()
  await waitFor('the refusal', async () => {
    await canaryOf(t).tick()
    await nextPeriod()
    return attempts() > 0
  })
  // The intake hears of the expiry later, and may have taken an event before.
  const runs = await runsOf(t)
  expect(await watch(t, 135_000)).toMatchObject({
    state: 'broken',
    failed_step: 'intake',
    explanation: expect.stringContaining('403: The key was rotated or switched off.') as string,
  })
  await nextPeriod()
  const sent = attempts()
  await canaryOf(t).tick()
  expect(attempts()).toBe(sent + 1)

  await setExpiry('null')
  await waitFor('the accepted event', async () => {
    await nextPeriod()
    await canaryOf(t).tick()
    return (
      (await app.db.query('select 1 from canary c join canary_runs r on r.id = c.run_id where r.accepted_at is null'))
        .rows.length === 0
    )
  })
  await t.service.drain()
  expect(await deliver(t)).toMatchObject({ state: 'ok' })
  expect(await runsOf(t)).toBe(runs)
})

test('a run that a process claimed and did not send before it ended is sent by the next one', async () => {
  await nextPeriod()
  const id = '0193f000-0000-7000-8000-000000000001'
  await app.db.query('update canary set run_id = $1', [id])
  await app.db.query('insert into canary_runs (id, started_at) values ($1, now())', [id])
  const before = await runsOf(t)
  await canaryOf(t).tick()
  await t.service.drain()
  expect(
    (await app.db.query('select 1 from canary_runs where id = $1 and accepted_at is null', [id])).rows,
  ).toHaveLength(1)
  await app.db.query(`update canary_runs set started_at = now() - interval '16 seconds' where id = $1`, [id])
  expect(await wholeRun(t)).toMatchObject({ state: 'ok' })
  expect(await runsOf(t)).toBe(before)
})

test('of several processes one sends', async () => {
  const second = createCanary(await secondApp(t), true)
  second.start(t.service.port, null)
  const before = await runsOf(t)
  await nextPeriod()
  await Promise.all([canaryOf(t).tick(), second.tick(), canaryOf(t).tick(), second.tick()])
  expect(await runsOf(t)).toBe(before + 1)
  await t.service.drain()
  expect(await deliver(t)).toMatchObject({ state: 'ok' })
  await second.stop()
})

test('clocks that jump, of the service or of the database, raise no alarm and cost one event at most', async () => {
  const before = await runsOf(t)
  t.clock.advance(5 * HOUR_MS)
  await canaryOf(t).tick()
  expect(await readCanary(app)).toMatchObject({ state: 'ok' })
  expect(await runsOf(t)).toBe(before)
  // The database's clock went back by three hours, and comes forward again.
  await app.db.query(`update canary_runs set started_at = started_at + interval '3 hours'`)
  expect(await wholeRun(t)).toMatchObject({ state: 'ok' })
  expect(await runsOf(t)).toBe(before + 1)
  await canaryOf(t).tick()
  expect(await runsOf(t)).toBe(before + 1)
  await app.db.query(`update canary_runs set started_at = started_at - interval '3 hours'`)
  expect(await wholeRun(t)).toMatchObject({ state: 'ok' })
  expect(await runsOf(t)).toBe(before + 2)
})

test('when no process sends, the path is broken after two periods, also for a process that has just started', async () => {
  const other = await secondApp(t)
  const watcher = createCanary(other, false)
  expect(await watch(t, 1.25 * HOUR_MS, watcher)).toMatchObject({ state: 'ok' })
  expect(await watch(t, 0.5 * HOUR_MS, watcher)).toMatchObject({ state: 'late', failed_step: 'intake' })
  expect(await watch(t, 0.5 * HOUR_MS, watcher)).toMatchObject({
    state: 'broken',
    failed_step: 'intake',
    explanation: expect.stringContaining('role ingest') as string,
  })
  const fresh = createCanary(other, false)
  expect(await watch(t, 60_000, fresh)).toMatchObject({ state: 'broken' })
  await nextPeriod()
  expect(await wholeRun(t)).toMatchObject({ state: 'ok' })
})

test('issues and alerts of events that arrived, or that nothing waits for any more, are deleted', async () => {
  const left = async (): Promise<number> =>
    (
      await app.db.query<{ n: number }>(
        `select (select count(*) from issues where project_id = $1) + (select count(*) from fired_alerts where project_id = $1) as n`,
        [CANARY_PROJECT_ID],
      )
    ).rows[0]?.n ?? 0
  expect(await left()).toBeGreaterThan(10)
  await app.db.query(`update canary_runs set started_at = now() - interval '8 days' where arrived_at is null`)
  await removeRuns(app, new AbortController().signal)
  expect(await left()).toBe(0)
  expect(await readCanary(app)).toMatchObject({ state: 'ok', last_arrived_at: expect.any(String) as string })
})
