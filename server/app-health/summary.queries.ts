import { sql, type RawBuilder } from 'kysely'
import type { Connection } from '../storage/database.ts'
import { ALL_ATTRIBUTES } from './rollup.ts'
import { bucketSpans } from './session-totals.queries.ts'

/** The fewest rollups that cover a range (alias `r`), of projects of this organisation. */
export function rollupsOf(orgId: string, projectIds: readonly string[] | undefined, from: number, to: number) {
  const spans = bucketSpans(from, to)
  return sql`
    from unnest(${spans.map((span) => span.bucketSeconds)}::int[], ${spans.map((span) => new Date(span.from))}::timestamptz[],
      ${spans.map((span) => new Date(span.to))}::timestamptz[]) s (bucket_seconds, "from", "to")
    cross join (select id from projects where org_id = ${orgId}
      and (${projectIds ?? null}::uuid[] is null or id = any(${projectIds ?? null}::uuid[]))) p
    join session_rollups r on r.project_id = p.id and r.bucket_seconds = s.bucket_seconds
      and r.attributes_id = ${ALL_ATTRIBUTES} and r.bucket >= s."from" and r.bucket < s."to"`
}

export type Place = { project_id: string; bucket_seconds: number; bucket: Date }

/** Sums of the rollups, whether any has users, and the number of sketches of crashed users. */
export async function sumRollups(db: Connection, rollups: RawBuilder<unknown>) {
  const { rows } = await sql<{ total: number; crashed: number; named: boolean | null; sketches: number }>`
    select coalesce(sum(r.total), 0)::float8 as total, coalesce(sum(r.crashed), 0)::float8 as crashed,
      bool_or(r.users is not null) as named, count(r.crashed_users)::int as sketches ${rollups}`.execute(db)
  return rows[0] ?? { total: 0, crashed: 0, named: null, sketches: 0 }
}

/** The next sketches of crashed users after a row. */
export async function sketchesAfter(
  db: Connection,
  rollups: RawBuilder<unknown>,
  after: Place | undefined,
  max: number,
): Promise<(Place & { crashed_users: Buffer })[]> {
  const { rows } = await sql<Place & { crashed_users: Buffer }>`
    select r.project_id, r.bucket_seconds, r.bucket, r.crashed_users ${rollups} where r.crashed_users is not null
      and (${after === undefined} or (r.project_id, r.bucket_seconds, r.bucket)
        > (${after?.project_id ?? null}::uuid, ${after?.bucket_seconds ?? null}::int, ${after?.bucket ?? null}::timestamptz))
    order by r.project_id, r.bucket_seconds, r.bucket limit ${max}`.execute(db)
  return rows
}
