import { sql } from 'kysely'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { startOf, type BUCKET_SECONDS } from '../app-health/rollup.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import type { Connection } from '../storage/database.ts'

/** Sessions by release, from rollups: the cost grows with buckets and combinations of attributes, not with sessions. */

export type SessionsQuery = {
  readonly projectId: string
  /** Rounded down to a whole bucket. */
  readonly from: Date
  /** Excluded. */
  readonly to: Date
  readonly bucketSeconds: (typeof BUCKET_SECONDS)[number]
  readonly environment?: string | undefined
}

export type SessionCount = { readonly sessions: number; readonly crashed: number }

/** Sessions that started in a bucket. `release` is null for sessions whose release is not counted separately. */
export type ReleaseBucket = SessionCount & { readonly release: string | null; readonly bucket: Date }

/** Clocks up to an hour ahead are not corrected; one day covers that. */
const usedSince = (from: Date): string => dayPlus(dayOf(from), -1)

export async function sessionsByRelease(
  db: Connection,
  { projectId, from, to, bucketSeconds, environment }: SessionsQuery,
  versions?: readonly string[],
): Promise<ReleaseBucket[]> {
  const start = new Date(startOf(from.getTime(), bucketSeconds * 1000))
  const named = versions === undefined ? sql`true` : sql`a.release = any(${[...versions]}::text[])`
  const { rows } = await sql<ReleaseBucket>`
    select a.release, r.bucket, sum(r.total)::bigint as sessions, sum(r.crashed)::bigint as crashed
    from session_attributes a
    join session_rollups r on r.project_id = a.project_id and r.attributes_id = a.id
    where a.project_id = ${projectId} and a.last_used_day >= ${usedSince(start)}::date and ${named}
      and (${environment ?? null}::text is null or a.environment = ${environment ?? null})
      and r.bucket_seconds = ${bucketSeconds} and r.bucket >= ${start} and r.bucket < ${to}
    group by a.release, r.bucket`.execute(db)
  return rows
}

/** Attributes that sessions are counted by, beside release and environment. */
export type SessionTrait = 'device' | 'os'
export type TraitCount = SessionCount & { readonly name: string | null }

/** Sessions of a release by device family or operating system, largest first; null for sessions without it. */
export async function sessionsByTrait(
  db: Connection,
  { projectId, from, to, bucketSeconds, environment }: SessionsQuery,
  release: string,
  trait: SessionTrait,
  max: number,
): Promise<TraitCount[]> {
  const start = new Date(startOf(from.getTime(), bucketSeconds * 1000))
  const { rows } = await sql<TraitCount>`
    select a.${sql.ref(trait)} as name, sum(r.total)::bigint as sessions, sum(r.crashed)::bigint as crashed
    from session_attributes a
    join session_rollups r on r.project_id = a.project_id and r.attributes_id = a.id
    where a.project_id = ${projectId} and a.release = ${release} and a.last_used_day >= ${usedSince(start)}::date
      and (${environment ?? null}::text is null or a.environment = ${environment ?? null})
      and r.bucket_seconds = ${bucketSeconds} and r.bucket >= ${start} and r.bucket < ${to}
    group by 1 having sum(r.total) > 0 order by 2 desc, 1 limit ${max}`.execute(db)
  return rows
}

export type UserCount = { readonly users: number; readonly crashedUsers: number }

/** Releases whose sketches are in memory at the same time. */
const MAX_RELEASES_IN_MEMORY = 5

/** Distinct users by release. Leaves out releases whose sessions name no user. */
export async function usersByRelease(
  db: Connection,
  { projectId, from, to, bucketSeconds, environment }: SessionsQuery,
  versions: readonly string[],
): Promise<Map<string, UserCount>> {
  const start = new Date(startOf(from.getTime(), bucketSeconds * 1000))
  const counts = new Map<string, UserCount>()
  for (let at = 0; at < versions.length; at += MAX_RELEASES_IN_MEMORY) {
    const { rows } = await sql<{ release: string; users: Buffer; crashed_users: Buffer | null }>`
      select a.release, r.users, r.crashed_users
      from session_attributes a
      join session_rollups r on r.project_id = a.project_id and r.attributes_id = a.id
      where a.project_id = ${projectId} and a.release = any(${versions.slice(at, at + MAX_RELEASES_IN_MEMORY)}::text[])
        and a.last_used_day >= ${usedSince(start)}::date
        and (${environment ?? null}::text is null or a.environment = ${environment ?? null})
        and r.bucket_seconds = ${bucketSeconds} and r.bucket >= ${start} and r.bucket < ${to}
        and r.users is not null`.execute(db)
    for (const [release, ofRelease] of Map.groupBy(rows, (row) => row.release)) {
      const users = countOf(ofRelease.map((row) => row.users))
      // These are estimates: that of a part may be larger than that of the whole.
      const crashedUsers = Math.min(users, countOf(ofRelease.map((row) => row.crashed_users)))
      counts.set(release, { users, crashedUsers })
    }
  }
  return counts
}

/** Number of sketches that {@link usersByRelease} would merge, counted up to `max` + 1. */
export async function countSketches(
  db: Connection,
  { projectId, from, to, bucketSeconds, environment }: SessionsQuery,
  versions: readonly string[],
  max: number,
): Promise<number> {
  const start = new Date(startOf(from.getTime(), bucketSeconds * 1000))
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from (
      select from session_attributes a
      join session_rollups r on r.project_id = a.project_id and r.attributes_id = a.id
      where a.project_id = ${projectId} and a.release = any(${[...versions]}::text[])
        and a.last_used_day >= ${usedSince(start)}::date
        and (${environment ?? null}::text is null or a.environment = ${environment ?? null})
        and r.bucket_seconds = ${bucketSeconds} and r.bucket >= ${start} and r.bucket < ${to}
        and r.users is not null
      limit ${max + 1}) sketches`.execute(db)
  return rows[0]?.n ?? 0
}

/** Distinct users of all releases together; 0 when no session names its user. */
export async function usersOfProject(
  db: Connection,
  { projectId, from, to, bucketSeconds, environment }: SessionsQuery,
): Promise<number> {
  const start = new Date(startOf(from.getTime(), bucketSeconds * 1000))
  const { rows } =
    environment === undefined
      ? await sql<{ users: Buffer }>`
          select users from session_rollups where project_id = ${projectId} and bucket_seconds = ${bucketSeconds}
            and attributes_id = 0 and bucket >= ${start} and bucket < ${to} and users is not null`.execute(db)
      : await sql<{ users: Buffer }>`
          select r.users from session_attributes a
          join session_rollups r on r.project_id = a.project_id and r.attributes_id = a.id
          where a.project_id = ${projectId} and a.environment = ${environment}
            and a.last_used_day >= ${usedSince(start)}::date
            and r.bucket_seconds = ${bucketSeconds} and r.bucket >= ${start} and r.bucket < ${to}
            and r.users is not null`.execute(db)
  return countOf(rows.map((row) => row.users))
}

function countOf(sketches: readonly (Buffer | null)[]): number {
  const union = new HyperLogLog()
  for (const bytes of sketches) if (bytes !== null) union.mergeBytes(bytes)
  return union.count()
}

const MAX_ENVIRONMENTS = 50

/** Environments of sessions since a time, of a project or one of its releases, by name. */
export async function environmentsOf(
  db: Connection,
  projectId: string,
  since: Date,
  release?: string,
): Promise<string[]> {
  let query = db
    .selectFrom('session_attributes')
    .select('environment')
    .distinct()
    .where('project_id', '=', projectId)
    .where('environment', 'is not', null)
    .where('last_used_day', '>=', usedSince(since))
  if (release !== undefined) query = query.where('release', '=', release)
  const rows = await query.orderBy('environment').limit(MAX_ENVIRONMENTS).execute()
  return rows.flatMap((row) => row.environment ?? [])
}
