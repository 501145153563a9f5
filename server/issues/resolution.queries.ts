import { sql } from 'kysely'
import type { ReleaseFacts } from '../releases/order.ts'
import type { Database } from '../storage/pool.ts'

/** What resolutions need to know of releases. */

/** Releases a project can hardly have more of at once; older ones are not the newest. */
const MOST_RELEASES = 1_000

/** Releases that are out: made by somebody, or seen. The newest in time first; what is only planned is not among them. */
export async function knownReleases(db: Database, projectId: string): Promise<ReleaseFacts[]> {
  const { rows } = await sql<{ version: string; released_at: Date | null; first_seen_at: Date | null }>`
    select version, released_at, first_seen_at from releases
    where project_id = ${projectId} and state <> 'planned' order by dated_at desc, id desc limit ${MOST_RELEASES}`.execute(
    db,
  )
  return rows.map((row) => ({ version: row.version, releasedAt: row.released_at, firstSeenAt: row.first_seen_at }))
}

/** Versions that have a commit, by its whole hash or the beginning of it. */
export async function releasesOfCommit(db: Database, projectId: string, sha: string): Promise<string[]> {
  const { rows } = await sql<{ version: string }>`
    select r.version from releases r join release_commits c on c.release_id = r.id
    where c.project_id = ${projectId} and c.sha like ${`${sha}%`} order by r.first_seen_at nulls last, r.version limit 20`.execute(
    db,
  )
  return rows.map((row) => row.version)
}
