import { ensureDayPartitions } from '../../../platform/storage/day-partitions.ts'
import type { App } from '../../../platform/context/app.ts'
import { newId } from '../../../platform/kernel/ids.ts'
import { utcDay } from '../../../platform/kernel/day.ts'
import { hashUser } from '../../../events/protocol/user.ts'
import { foldHealth } from '../../../telemetry/app-health/fold-health.ts'
import { recordSessions } from '../../../telemetry/app-health/record-sessions.ts'
import { anAttribute, countsFact } from '../../../telemetry/app-health/sessions.fixture.ts'
import { compactPerformance } from '../../../telemetry/performance/compact-performance.ts'
import { record, transactionFact } from '../../../telemetry/performance/performance.fixture.ts'

/** A project whose events, sessions and measurements are known one by one. */

/** A Friday. */
export const NOW = new Date('2026-11-20T12:00:00.000Z')
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export type SeededIssue = {
  readonly id: string
  readonly shortId: string
  readonly type: string
  readonly level: string
  readonly status: string
  readonly severity: string
  readonly isUnhandled: boolean
  readonly platform: string
  readonly resolvedAt: number | null
}
export type SeededEvent = {
  readonly issue: SeededIssue
  readonly at: number
  readonly level: string
  readonly release: string
  readonly environment: string
  readonly os: string
  readonly device: string
  readonly type: string
  readonly user: string
}
export type SeededSession = {
  readonly at: number
  readonly status: 'healthy' | 'errored' | 'crashed' | 'abnormal'
  readonly release: string
  readonly environment: string
  readonly os: string
  readonly device: string
  readonly user: string
}
export type SeededMeasurement = {
  readonly at: number
  readonly kind: 'transaction' | 'cold_start' | 'screen_initial'
  readonly ms: number
  readonly name: string
  readonly release: string
  readonly failed: boolean
}

/** A value in 0…1 that depends on two numbers. */
const chance = (n: number, salt: number): number => {
  const mixed = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(salt + 7, 0x85ebca6b)
  return (Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35) >>> 0) / 2 ** 32
}
const pick = <T>(list: readonly T[], n: number, salt: number): T => list[Math.floor(chance(n, salt) * list.length)] as T

export const RELEASES = ['shop@4.10.0', 'shop@4.11.0', 'shop@4.12.0', 'shop@4.12.1'] as const
const ENVIRONMENTS = ['production', 'production', 'production', 'staging'] as const
const DEVICES: readonly (readonly [os: string, device: string])[] = [
  ['Android', 'Pixel 8'],
  ['Android', 'SM-A125F'],
  ['Android', 'Galaxy S9'],
  ['iOS', 'iPhone15,2'],
  ['iOS', 'iPad13,1'],
]
const TYPES = ['TypeError', 'NullPointerException', 'OutOfMemoryError', 'TimeoutError'] as const
const STATUSES = ['unresolved', 'resolved', 'ignored', 'regressed', 'escalated'] as const
const LEVELS = ['error', 'error', 'fatal', 'warning', 'error', 'fatal', 'info'] as const
const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
const NAMES = ['CheckoutScreen', 'HomeScreen', 'SearchScreen'] as const

export async function seedProject(app: App, projectId: string, orgId: string, slug: string) {
  const issues = Array.from({ length: 14 }, (_, n): SeededIssue => {
    const status = STATUSES[n % 5] ?? 'unresolved'
    return {
      id: newId(),
      shortId: `${slug.toUpperCase()}-${n + 1}`,
      type: TYPES[n % 4] ?? '',
      level: LEVELS[n % 7] ?? 'error',
      status,
      severity: SEVERITIES[n % 4] ?? 'low',
      isUnhandled: n % 3 === 0,
      platform: n % 2 === 0 ? 'java' : 'cocoa',
      resolvedAt: status === 'resolved' ? NOW.getTime() - n * 30 * HOUR_MS : null,
    }
  })
  const events = Array.from({ length: 600 }, (_, n): SeededEvent => {
    const issue = issues[Math.floor(chance(n, 1) ** 1.7 * issues.length)] as SeededIssue
    const [os, device] = pick(DEVICES, n, 2)
    // Half of them in the last days; issues with a high number appeared lately.
    const days = chance(n, 3) < 0.5 ? chance(n, 4) * 4 : chance(n, 4) * 33
    const at = NOW.getTime() - 1 - Math.floor(Math.min(days, issues.indexOf(issue) > 10 ? 1 + days / 12 : 99) * DAY_MS)
    return {
      issue,
      at,
      level: issue.level,
      release: pick(RELEASES, n, 5),
      environment: pick(ENVIRONMENTS, n, 6),
      os,
      device,
      type: issue.type,
      user: String(1 + Math.floor(chance(n, 7) ** 1.5 * 40)),
    }
  })
  const sessions = Array.from({ length: 700 }, (_, n): SeededSession => {
    const [os, device] = pick(DEVICES, n, 12)
    const days = chance(n, 13) < 0.4 ? chance(n, 14) * 2 : chance(n, 14) * 27
    const status = chance(n, 15)
    return {
      at: NOW.getTime() - 1 - Math.floor(days * DAY_MS),
      status: status < 0.06 ? 'crashed' : status < 0.1 ? 'abnormal' : status < 0.25 ? 'errored' : 'healthy',
      release: pick(RELEASES, n, 16),
      environment: pick(ENVIRONMENTS, n, 17),
      os,
      device,
      user: `install ${Math.floor(chance(n, 18) * 90)}`,
    }
  })
  const measurements = Array.from({ length: 500 }, (_, n): SeededMeasurement => {
    const kind = n % 5 === 0 ? 'cold_start' : n % 5 === 1 ? 'screen_initial' : 'transaction'
    const name =
      kind === 'transaction' ? pick(['GET /cart', 'POST /checkout', 'GET /search'], n, 22) : pick(NAMES, n, 22)
    return {
      at: NOW.getTime() - 120_000 - Math.floor(chance(n, 21) * 20 * DAY_MS),
      kind,
      ms: 50 + Math.floor(chance(n, 23) ** 3 * 9_000) + NAMES.findIndex((one) => one === name) * 700 + 700,
      name,
      release: pick(RELEASES, n, 24),
      failed: kind === 'transaction' && chance(n, 25) < 0.2,
    }
  })
  await insertIssues(app, projectId, orgId, issues, events)
  await insertEvents(app, projectId, events)
  for (const version of RELEASES) await insertRelease(app, projectId, version)
  await app.tx((tx) =>
    recordSessions(
      tx,
      NOW,
      sessions.map((one) => sessionFactOf(projectId, one)),
    ),
  )
  await foldHealth(app)
  await record(
    app.db,
    measurements.map((one, n) => measurementFact(projectId, one, n)),
    NOW,
  )
  await compactPerformance(app)
  await app.db.query('analyze')
  return { issues, events, sessions, measurements }
}
export type Seeded = Awaited<ReturnType<typeof seedProject>>

const sessionFactOf = (projectId: string, { at, status, user, ...one }: SeededSession) =>
  countsFact(
    projectId,
    [{ startedAt: at, did: user, [status === 'healthy' ? 'exited' : status]: 1 }],
    anAttribute({ release: one.release, environment: one.environment, os: one.os, device: one.device }),
  )

function measurementFact(projectId: string, { at, kind, ms, name, release, failed }: SeededMeasurement, n: number) {
  const end = at / 1_000
  const measured =
    kind === 'transaction'
      ? {}
      : { [kind === 'cold_start' ? 'app_start_cold' : 'time_to_initial_display']: { value: ms, unit: 'millisecond' } }
  return transactionFact(
    projectId,
    {
      transaction: name,
      release,
      start_timestamp: end - ms / 1_000,
      timestamp: end,
      contexts: {
        trace: {
          trace_id: newId().replaceAll('-', ''),
          span_id: n.toString(16).padStart(16, 'c'),
          op: kind === 'transaction' ? 'http.server' : 'ui.load',
          status: failed ? 'internal_error' : 'ok',
        },
      },
      measurements: measured,
    },
    NOW,
  )
}

async function insertIssues(
  app: App,
  projectId: string,
  orgId: string,
  issues: readonly SeededIssue[],
  events: readonly SeededEvent[],
): Promise<void> {
  for (const [n, issue] of issues.entries()) {
    const own = events.filter((event) => event.issue === issue)
    const times = own.map(({ at }) => at)
    const [first, last] = [Math.min(...times), Math.max(...times)]
    await app.db.query(
      `insert into issues (id, org_id, project_id, number, title, culprit, error_type, error_value, level, platform, status,
         status_changed_at, resolved_at, severity, first_seen, last_seen, event_count, user_count, is_unhandled, created_at, first_release)
       values ($1, $2, $3, $4, $5, 'pay', $6, 'broken', $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $13, $18)`,
      [
        issue.id,
        orgId,
        projectId,
        n + 1,
        `${issue.type}: broken`,
        issue.type,
        issue.level,
        issue.platform,
        issue.status,
        NOW,
        issue.resolvedAt === null ? null : new Date(issue.resolvedAt),
        SEVERITIES.findIndex((one) => one === issue.severity),
        new Date(first),
        new Date(last),
        own.length,
        new Set(own.map(({ user }) => user)).size,
        issue.isUnhandled,
        own.find(({ at }) => at === first)?.release ?? null,
      ],
    )
    await app.db.query(
      `insert into issue_groups (id, issue_id, event_count, user_count, first_seen, last_seen, title, culprit, error_type, error_value, level, is_unhandled)
       select id, id, event_count, user_count, first_seen, last_seen, title, culprit, error_type, error_value, level, is_unhandled from issues where id = $1`,
      [issue.id],
    )
  }
}

async function insertEvents(app: App, projectId: string, events: readonly SeededEvent[]): Promise<void> {
  for (const day of new Set(events.map(({ at }) => utcDay(new Date(at)))))
    await ensureDayPartitions(app.db, [{ table: 'events' }], day)
  const kinds = [events.map(({ os }) => os), events.map(({ device }) => device), events.map(({ type }) => type)]
  const ids = kinds.map((values) => [...new Set(values)])
  for (const [kind, values] of ids.entries())
    await app.db.query(
      "insert into event_values select $1, $2, n, v, '2026-11-20' from unnest($3::text[]) with ordinality t (v, n)",
      [projectId, kind, values],
    )
  const idsOf = (kind: number): number[] => (kinds[kind] ?? []).map((value) => (ids[kind] ?? []).indexOf(value) + 1)
  await app.db.query(
    `insert into events (received_day, project_id, event_id, issue_id, received_at, occurred_at, level, release, environment,
       user_hash, body_encoding, body_start, body_end, body, os_id, device_id, exception_type_id)
     select (t.at at time zone 'UTC')::date, $1, gen_random_uuid(), t.issue, t.at, t.at, t.level, t.release, t.environment, t.hash, 0, 0, 2, '{}', t.os, t.device, t.type
     from unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::int[], $9::int[], $10::int[])
       t (issue, at, level, release, environment, hash, os, device, type)`,
    [
      projectId,
      events.map(({ issue }) => issue.id),
      events.map(({ at }) => new Date(at)),
      events.map(({ level }) => level),
      events.map(({ release }) => release),
      events.map(({ environment }) => environment),
      events.map(({ user }) => hashUser(projectId, user)),
      idsOf(0),
      idsOf(1),
      idsOf(2),
    ],
  )
}

const insertRelease = (app: App, projectId: string, version: string) =>
  app.db.query('insert into releases (id, project_id, version, created_at, released_at) values ($1, $2, $3, $4, $4)', [
    newId(),
    projectId,
    version,
    new Date(NOW.getTime() - (RELEASES.length - RELEASES.findIndex((one) => one === version)) * 6 * DAY_MS),
  ])
