import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'
import type { Span } from './buckets.ts'
import { ALL_ID, sourceNumber } from './dimensions.ts'

export type ActivityRow = {
  readonly projectId: string
  /** Number of the interval after the start of the first span; 0 without intervals. */
  readonly slot: number
  readonly sessions: number
  readonly anrs: number
  /** Concatenated sketches, each preceded by its length. */
  readonly users: Buffer | null
  readonly anrUsers: Buffer | null
}

/** Sessions of projects with sketches of their users: rollups of all sessions, and what is not folded yet. */
export async function readActivityRows(
  db: Connection,
  projectIds: readonly string[],
  spans: readonly Span[],
  intervalSeconds: number | null,
): Promise<ActivityRow[]> {
  const from = new Date(spans[0]?.from ?? 0)
  const to = new Date(spans.at(-1)?.to ?? 0)
  const slot =
    intervalSeconds === null
      ? sql`0`
      : sql`floor((extract(epoch from at) - ${from.getTime() / 1_000}::float8) / ${intervalSeconds}::float8)::int`
  const source = sql`${sourceNumber('sessions')}::smallint`
  const ids = sql`${[...projectIds]}::uuid[]`
  const { rows } = await sql<{
    project_id: string
    slot: number
    sessions: number
    anrs: number
    users: Buffer | null
    anr_users: Buffer | null
  }>`
    select project_id, ${slot} as slot, sum(total)::bigint as sessions, sum(anr_foreground)::bigint as anrs,
      string_agg(int4send(length(users)) || users, ''::bytea) as users,
      string_agg(int4send(length(anr_foreground_users)) || anr_foreground_users, ''::bytea) as anr_users
    from (
      select r.project_id, r.bucket as at, r.total, r.anr_foreground, h.users, h.anr_foreground_users
      from unnest(${spans.map((span) => span.bucketSeconds)}::int[], ${spans.map((span) => new Date(span.from))}::timestamptz[],
        ${spans.map((span) => new Date(span.to))}::timestamptz[]) s (bucket_seconds, "from", "to")
      join health_rollups r on r.project_id = any(${ids}) and r.source = ${source} and r.attributes_id = ${ALL_ID}
        and r.bucket_seconds = s.bucket_seconds and r.bucket >= s."from" and r.bucket < s."to"
      left join health_sketches h on h.project_id = r.project_id and h.source = r.source and h.bucket_seconds = r.bucket_seconds
        and h.attributes_id = r.attributes_id and h.bucket = r.bucket
      union all
      select d.project_id, d.minute, d.total, d.anr_foreground, d.users, d.anr_foreground_users
      from health_deltas d where d.project_id = any(${ids}) and d.source = ${source} and d.minute >= ${from} and d.minute < ${to}
    ) c group by 1, 2`.execute(db)
  return rows.map(({ project_id: projectId, anr_users: anrUsers, ...row }) => ({ ...row, projectId, anrUsers }))
}
