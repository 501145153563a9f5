import { sql } from 'kysely'
import type { ReleaseFacts } from '../releases/order.ts'
import type { ReleasesByVersion } from '../issue-rules/resolution.ts'
import type { Connection, Tx } from '../storage/database.ts'

/** What resolutions need to know of releases. */

/** Releases a project can hardly have more of at once; older ones are not the newest. */
const MAX_RELEASES = 1_000

/** Releases that are out: made by somebody, or seen. The newest in time first; what is only planned is not among them. */
export async function knownReleases(db: Connection, projectId: string): Promise<ReleaseFacts[]> {
  const { rows } = await sql<{ version: string; released_at: Date | null; first_seen_at: Date | null }>`
    select version, released_at, first_seen_at from releases
    where project_id = ${projectId} and state <> 'planned' order by dated_at desc, id desc limit ${MAX_RELEASES}`.execute(
    db,
  )
  return rows.map((row) => ({ version: row.version, releasedAt: row.released_at, firstSeenAt: row.first_seen_at }))
}

/** Releases that one commit can be the fix of; more of them only repeat it. */
const MAX_OF_COMMIT = 20

/** So short an abbreviation of a hash is one everywhere. */
const SHORTEST_SHA = 7

/**
 * SQL of the versions that have a commit, those seen first. Both sides abbreviate: what is asked for may be the beginning
 * of a known hash, and a known one the beginning of what is asked for. All of them lie in one range of the index, since
 * a hash ends before "g".
 */
export const versionsOfCommit = (projectId: string, sha: string): string => `
  select r.version from releases r where r.project_id = ${projectId} and r.id in (
    select c.release_id from release_commits c
    where c.project_id = ${projectId} and c.sha >= left(${sha}, ${SHORTEST_SHA}) collate "C" and c.sha < (${sha} || 'g') collate "C"
      and (starts_with(c.sha, ${sha}) or starts_with(${sha}, c.sha))
  ) order by r.first_seen_at nulls last, r.version limit ${MAX_OF_COMMIT}`

export async function releasesOfCommit(db: Connection, projectId: string, sha: string): Promise<string[]> {
  const { rows } = await db.query<{ version: string }>(versionsOfCommit('$1::uuid', '$2::text'), [projectId, sha])
  return rows.map((row) => row.version)
}

/** What is known of releases of a project. */
export async function releasesByVersion(
  tx: Tx,
  projectId: string,
  versions: readonly string[],
): Promise<ReleasesByVersion> {
  const { rows } = await sql<{ version: string; released_at: Date | null; first_seen_at: Date | null }>`
    select version, released_at, first_seen_at from releases
    where project_id = ${projectId} and version = any(${[...versions]}::text[])`.execute(tx)
  return new Map(
    rows.map((row) => [
      row.version,
      { version: row.version, releasedAt: row.released_at, firstSeenAt: row.first_seen_at },
    ]),
  )
}
