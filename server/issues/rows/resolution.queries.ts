import { sql } from 'kysely'
import type { ReleaseFacts } from '../../projects/releases/order.ts'
import type { ReleasesByVersion } from '../rules/resolution.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/** Reads of releases for resolutions. */

type FactsRow = { version: string; released_at: Date | null; created_at: Date; first_seen_at: Date | null }

const factsOf = (row: FactsRow): ReleaseFacts => ({
  version: row.version,
  releasedAt: row.released_at,
  createdAt: row.created_at,
  firstSeenAt: row.first_seen_at,
})

/** Enough to contain the newest release of every package. */
const MAX_RELEASES = 1_000

/** Returns existing releases, newest first: created or seen, but not only planned. */
export async function knownReleases(db: Connection, projectId: string): Promise<ReleaseFacts[]> {
  const { rows } = await sql<FactsRow>`
    select version, released_at, created_at, first_seen_at from releases
    where project_id = ${projectId} and state <> 'planned' order by dated_at desc, id desc limit ${MAX_RELEASES}`.execute(
    db,
  )
  return rows.map(factsOf)
}

/** Maximum of releases for one commit. */
const MAX_OF_COMMIT = 20

/** Minimum length of an abbreviated hash. */
const SHORTEST_SHA = 7

/**
 * SQL of the versions with a commit, first seen first. Either hash may be an abbreviation of the other. All matches are in
 * one range of the index, because hex digits sort before "g".
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

/** Returns the known releases among the given versions of a project. */
export async function releasesByVersion(
  tx: Tx,
  projectId: string,
  versions: readonly string[],
): Promise<ReleasesByVersion> {
  const { rows } = await sql<FactsRow>`
    select version, released_at, created_at, first_seen_at from releases
    where project_id = ${projectId} and version = any(${[...versions]}::text[])`.execute(tx)
  return new Map(rows.map((row) => [row.version, factsOf(row)]))
}
