import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { foldHealth } from '../../telemetry/app-health/fold-health.ts'
import { recordSessions } from '../../telemetry/app-health/record-sessions.ts'
import { anAttribute, anUpdate, countsFact, sessionFact, sidOf } from '../../telemetry/app-health/sessions.fixture.ts'
import { countedOnce } from '../../telemetry/app-health/recount.fixture.ts'
import { compactPerformance } from '../../telemetry/performance/compact-performance.ts'
import { record, transactionFact } from '../../telemetry/performance/performance.fixture.ts'
import type { ReceivedSession } from '../../telemetry/app-health/record-sessions.ts'
import { viewUserKey } from './translator/translate-question.ts'

// The views depend on the clock of the database.
const NOW = new Date(Math.floor(Date.now() / 60_000) * 60_000)
const HOUR_MS = 3_600_000
const { app, clock } = await testApp()
clock.set(NOW)

/** A value in 0…1 that depends on two numbers. */
const chance = (n: number, salt: number): number =>
  ((n * 2_654_435_761 + salt * 40_503) % 4_294_967_296) / 4_294_967_296
const RELEASES = ['shop@1.0', 'shop@1.1', '']
/** @param projectId the first value, and the project that the views show */
const rows = <T extends Record<string, unknown>>(sql: string, projectId: string, ...values: unknown[]): Promise<T[]> =>
  app.tx(async (tx) => {
    await tx.query("select set_config('nlq.project', $1, true)", [projectId])
    return (await tx.query<T>(sql, [projectId, ...values])).rows
  })

/** As `percentile_cont`. */
function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = q * (sorted.length - 1)
  const low = sorted[Math.floor(at)] ?? 0
  return low + ((sorted[Math.ceil(at)] ?? 0) - low) * (at % 1)
}

const within = (value: number | null | undefined, wanted: number): void => {
  expect(Math.abs((value ?? Number.NaN) - wanted), `${value} is not ${wanted}`).toBeLessThanOrEqual(
    Math.abs(wanted) * 0.0101,
  )
}

test('app_sessions has one row for each session, with its users and durations, folded or not', async () => {
  const projectId = newId()
  const facts: ReceivedSession[] = []
  for (let n = 0; n < 900; n++) {
    const startedAt = NOW.getTime() - Math.floor(chance(n, 1) * 5 * 24 * HOUR_MS)
    const attributes = anAttribute({
      release: RELEASES[n % 3] ?? '',
      environment: n % 5 === 0 ? 'staging' : 'production',
      os: n % 2 === 0 ? 'Android' : 'iOS',
    })
    const first = {
      sid: sidOf(`s${n}`),
      did: `user ${n % 70}`,
      startedAt,
      timestamp: startedAt,
      isInit: true,
      attributes,
    }
    facts.push(sessionFact(projectId, anUpdate(first)))
    const status = n % 11 === 0 ? 'crashed' : n % 13 === 0 ? 'abnormal' : 'exited'
    const durationMs = Math.floor(chance(n, 2) ** 3 * 900_000) + 1
    if (n % 4 !== 0)
      facts.push(
        sessionFact(
          projectId,
          anUpdate({
            ...first,
            isInit: false,
            timestamp: startedAt + 1_000,
            status,
            durationMs,
            errors: n % 7 === 0 ? 1 : 0,
            mechanism: status === 'abnormal' ? 'anr_foreground' : null,
          }),
        ),
      )
  }
  for (let n = 0; n < 60; n++)
    facts.push(
      countsFact(
        projectId,
        [{ startedAt: NOW.getTime() - (n + 1) * 11 * HOUR_MS, did: `server user ${n % 9}`, exited: n % 3, crashed: 1 }],
        anAttribute({ release: 'api@2' }),
      ),
    )
  const half = Math.floor(facts.length / 2)
  await app.tx((tx) => recordSessions(tx, NOW, facts.slice(0, half)))
  await foldHealth(app)
  await app.tx((tx) => recordSessions(tx, NOW, facts.slice(half)))
  const wanted = countedOnce(facts, () => undefined)

  for (const state of ['with what is not folded', 'folded']) {
    if (state === 'folded') await foldHealth(app)
    const found = await rows<{ release: string | null; status: string; n: number; anrs: number }>(
      'select release, status, count(*)::int as n, (count(*) filter (where is_anr))::int as anrs from nlq.app_sessions where project_id = $1 group by 1, 2',
      projectId,
    )
    const expected: Record<string, number> = {}
    let anrs = 0
    for (const { attributes, counts } of wanted) {
      const { total, errored, unhandled, abnormal, crashed } = counts
      const healthy = total - errored - unhandled - abnormal - crashed
      for (const [status, n] of Object.entries({ healthy, errored, unhandled, abnormal, crashed }))
        if (n > 0) expected[`${attributes.release} ${status}`] = (expected[`${attributes.release} ${status}`] ?? 0) + n
      anrs += counts.anr_foreground
    }
    expect(Object.fromEntries(found.map(({ release, status, n }) => [`${release ?? ''} ${status}`, n])), state).toEqual(
      expected,
    )
    expect(found.reduce((sum, one) => sum + one.anrs, 0)).toBe(anrs)

    for (const release of ['shop@1.0', 'shop@1.1']) {
      const [figures] = await rows<{ p50: number; p95: number; sum: number; users: number; crashed: number }>(
        `select percentile_cont(0.5) within group (order by duration_ms) as p50, percentile_cont(0.95) within group (order by duration_ms) as p95,
           sum(duration_ms) as sum, count(distinct user_key)::int as users,
           (count(distinct user_key) filter (where status = 'crashed'))::int as crashed
         from nlq.app_sessions where project_id = $1 and release = $2`,
        projectId,
        release,
      )
      const own = wanted.filter(({ attributes }) => attributes.release === release)
      const durations = own.flatMap(({ duration }) => duration ?? [])
      within(figures?.p50, quantile(durations, 0.5))
      within(figures?.p95, quantile(durations, 0.95))
      within(
        figures?.sum,
        durations.reduce((a, b) => a + b, 0),
      )
      expect(figures?.users).toBe(new Set(own.map(({ user }) => user)).size)
      expect(figures?.crashed).toBe(
        new Set(own.filter(({ sets }) => sets.includes('crashed_users')).map(({ user }) => user)).size,
      )
    }

    // The last day to the minute, older sessions to the hour.
    const from = NOW.getTime() - 24 * HOUR_MS
    const recent = await rows<{ n: number }>(
      "select count(*)::int as n from nlq.app_sessions where project_id = $1 and time >= $2 and os = 'Android'",
      projectId,
      new Date(from),
    )
    expect(recent[0]?.n).toBe(
      wanted
        .filter(({ at, attributes }) => at >= from && attributes.os === 'Android')
        .reduce((sum, { counts }) => sum + counts.total, 0),
    )
    const hours = await rows<{ t: Date; n: number }>(
      "select date_trunc('hour', time, 'UTC') as t, count(*)::int as n from nlq.app_sessions where project_id = $1 group by 1 order by 1",
      projectId,
    )
    const byHour = new Map<number, number>()
    for (const { at, counts } of wanted) {
      const hour = Math.floor(at / HOUR_MS) * HOUR_MS
      byHour.set(hour, (byHour.get(hour) ?? 0) + counts.total)
    }
    expect(hours.map(({ t, n }) => [t.getTime(), n])).toEqual([...byHour].sort(([a], [b]) => a - b))
  }
  const [one] = await rows<{ n: number }>(
    'select count(distinct user_key)::int as n from nlq.app_sessions where project_id = $1 and user_key = $2',
    projectId,
    viewUserKey(projectId, 'user 3'),
  )
  expect(one?.n).toBe(1)
})

test('app_sessions names no users of hours that have more than a sketch lists', async () => {
  const projectId = newId()
  const startedAt = NOW.getTime() - 60 * HOUR_MS
  await app.tx((tx) =>
    recordSessions(
      tx,
      NOW,
      Array.from({ length: 2_100 }, (_, n) =>
        countsFact(projectId, [{ startedAt, did: `u${n}`, exited: 1, crashed: n % 100 === 0 ? 1 : 0 }]),
      ),
    ),
  )
  await foldHealth(app)
  const found = await rows(
    "select count(*)::int as n, count(user_key)::int as known, (count(*) filter (where status = 'crashed'))::int as crashed from nlq.app_sessions where project_id = $1",
    projectId,
  )
  expect(found).toEqual([{ n: 2_121, known: 0, crashed: 21 }])
})

test('performance has one row for each measurement, folded or not', async () => {
  const projectId = newId()
  const values: { name: string; release: string; ms: number; at: number; failed: boolean; cold: number | null }[] = []
  const batch = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => {
      const n = from + index
      const ageMs = chance(n, 3) < 0.3 ? chance(n, 4) * 3 * HOUR_MS : chance(n, 4) * 25 * 24 * HOUR_MS
      const end = (NOW.getTime() - 60_000 - Math.floor(ageMs)) / 1_000
      const ms = 10 + Math.floor(chance(n, 5) ** 4 * 20_000)
      const one = {
        name: `GET /${n % 4}`,
        release: RELEASES[n % 2] ?? '',
        ms,
        at: end * 1_000,
        failed: n % 6 === 0,
        cold: n % 3 === 0 ? 300 + Math.floor(chance(n, 6) * 4_000) : null,
      }
      values.push(one)
      return transactionFact(
        projectId,
        {
          transaction: one.name,
          release: one.release,
          start_timestamp: end - ms / 1_000,
          timestamp: end,
          contexts: {
            trace: {
              trace_id: newId().replaceAll('-', ''),
              span_id: n.toString(16).padStart(16, 'b'),
              op: 'http.server',
              status: one.failed ? 'internal_error' : 'ok',
            },
          },
          ...(one.cold === null ? {} : { measurements: { app_start_cold: { value: one.cold, unit: 'millisecond' } } }),
        },
        NOW,
      )
    })
  await record(app.db, batch(0, 500), NOW)
  await compactPerformance(app)
  await record(app.db, batch(500, 700), NOW)

  for (const state of ['with what is not folded', 'folded']) {
    if (state === 'folded') await compactPerformance(app)
    const found = await rows<{
      name: string
      release: string
      n: number
      failed: number
      p50: number
      p95: number
      sum: number
    }>(
      `select name, release, count(*)::int as n, (count(*) filter (where is_failed))::int as failed, sum(duration_ms) as sum,
         percentile_cont(0.5) within group (order by duration_ms) as p50, percentile_cont(0.95) within group (order by duration_ms) as p95
       from nlq.performance where project_id = $1 and kind = 'transaction' and operation = 'http.server' group by 1, 2`,
      projectId,
    )
    expect(found.length).toBe(4)
    for (const row of found) {
      const own = values.filter(({ name, release }) => name === row.name && release === row.release)
      const ms = own.map((one) => one.ms)
      expect(row.n).toBe(own.length)
      expect(row.failed).toBe(own.filter(({ failed }) => failed).length)
      within(
        row.sum,
        ms.reduce((a, b) => a + b, 0),
      )
      within(row.p50, quantile(ms, 0.5))
      within(row.p95, quantile(ms, 0.95))
    }
    const cold = values.flatMap(({ cold: one }) => one ?? [])
    const [starts] = await rows<{ n: number; low: number; high: number; average: number }>(
      "select count(*)::int as n, min(value) as low, max(value) as high, avg(duration_ms) as average from nlq.performance where project_id = $1 and kind = 'cold_start'",
      projectId,
    )
    expect(starts?.n).toBe(cold.length)
    expect([starts?.low, starts?.high]).toEqual([Math.min(...cold), Math.max(...cold)])
    within(starts?.average, cold.reduce((a, b) => a + b, 0) / cold.length)
    // Whole hours of the last days, so that buckets of an hour divide as the range does.
    const since = Math.floor(NOW.getTime() / HOUR_MS) * HOUR_MS - 60 * HOUR_MS
    const [recent] = await rows<{ n: number }>(
      "select count(*)::int as n from nlq.performance where project_id = $1 and kind = 'transaction' and time >= $2",
      projectId,
      new Date(since),
    )
    expect(recent?.n).toBe(values.filter(({ at }) => at >= since).length)
  }
})

test('a statement that would read more than two million rows ends', async () => {
  const project = newId()
  await app.tx((tx) =>
    recordSessions(tx, NOW, [
      countsFact(project, [{ startedAt: NOW.getTime() - 60 * HOUR_MS, exited: 3_000_000 }]),
      countsFact(project, [{ startedAt: NOW.getTime() - 70 * HOUR_MS, exited: 30 }]),
      countsFact(project, [{ startedAt: NOW.getTime() - 80 * HOUR_MS, exited: 30 }]),
    ]),
  )
  await foldHealth(app)
  const since = (hours: number, readBefore = 0) =>
    app.tx(async (tx) => {
      await tx.query("select set_config('nlq.rows', $1, true), set_config('nlq.project', $2, true)", [
        String(readBefore),
        project,
      ])
      const found = await tx.query<{ n: number }>(
        'select count(*)::int as n from nlq.app_sessions where project_id = $1 and time >= $2 and time < $3',
        [project, new Date(NOW.getTime() - hours * HOUR_MS), new Date(NOW.getTime() - 65 * HOUR_MS)],
      )
      return found.rows[0]?.n
    })
  await expect(rows('select count(*) from nlq.app_sessions where project_id = $1', project)).rejects.toMatchObject({
    code: '54000',
  })
  expect(await since(90)).toBe(60)
  expect(await since(90, 1_999_940)).toBe(60)
  // The rows of all rollups count together.
  await expect(since(90, 1_999_950)).rejects.toMatchObject({ code: '54000' })
  expect(await since(75, 1_999_950)).toBe(30)
})
