import { sql } from 'kysely'
import type { Actor } from '../../context/actor.ts'
import type { App } from '../../context/app.ts'
import type { Database } from '../../storage/pool.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { bucketSpans } from './read-session-totals.ts'
import { ALL_ATTRIBUTES, startOf } from './rollup.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Length and step of the ranges every time chart of the product uses. */
const RANGES = {
  '1h': { lengthMs: DAY_MS / 24, stepMs: MINUTE_MS },
  '24h': { lengthMs: DAY_MS, stepMs: 15 * MINUTE_MS },
  '7d': { lengthMs: 7 * DAY_MS, stepMs: 60 * MINUTE_MS },
  '30d': { lengthMs: 30 * DAY_MS, stepMs: 6 * 60 * MINUTE_MS },
} as const

type Summary = { total: number; crash_free_sessions: number | null; crashed_users: number | null }

/** Crash-free sessions and users met by a crash, of a range and of the one before: costs what its buckets cost. */
export async function readSessionSummary(
  app: App,
  actor: Actor,
  range: keyof typeof RANGES,
  projectIds: readonly string[] | undefined,
): Promise<Summary & { range: string; previous: Summary }> {
  const { lengthMs, stepMs } = RANGES[range]
  // The newest step is still counting; it ends in the future.
  const end = startOf(app.clock.now().getTime(), stepMs) + stepMs
  const [now, previous] = await Promise.all([
    summarise(app.db, actor.orgId, projectIds, end - lengthMs, end),
    summarise(app.db, actor.orgId, projectIds, end - 2 * lengthMs, end - lengthMs),
  ])
  return { range, ...now, previous }
}

async function summarise(
  db: Database,
  orgId: string,
  projectIds: readonly string[] | undefined,
  from: number,
  to: number,
): Promise<Summary> {
  const spans = bucketSpans(from, to)
  const { rows } = await sql<{ total: number; crashed: number; named: boolean; crashed_users: Buffer | null }>`
    select r.total, r.crashed, r.users is not null as named, r.crashed_users
    from unnest(${spans.map((span) => span.bucketSeconds)}::int[], ${spans.map((span) => new Date(span.from))}::timestamptz[],
      ${spans.map((span) => new Date(span.to))}::timestamptz[]) s (bucket_seconds, "from", "to")
    cross join (select id from projects where org_id = ${orgId}
      and (${projectIds ?? null}::uuid[] is null or id = any(${projectIds ?? null}::uuid[]))) p
    join session_rollups r on r.project_id = p.id and r.bucket_seconds = s.bucket_seconds
      and r.attributes_id = ${ALL_ATTRIBUTES} and r.bucket >= s."from" and r.bucket < s."to"`.execute(db)
  const users = new HyperLogLog()
  for (const row of rows) if (row.crashed_users !== null) users.mergeBytes(row.crashed_users)
  const total = rows.reduce((sum, row) => sum + row.total, 0)
  const crashed = rows.reduce((sum, row) => sum + row.crashed, 0)
  return {
    total,
    crash_free_sessions: total <= 0 ? null : 1 - crashed / total,
    crashed_users: rows.some((row) => row.named) ? users.count() : null,
  }
}
