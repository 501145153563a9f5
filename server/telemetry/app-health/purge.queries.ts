import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { lockFold } from './fold.queries.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** Deletes sessions that started before a time. @returns number deleted */
export async function deleteSessionsBefore(on: Connection, before: Date, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from app_sessions where (project_id, sid) in (
      select project_id, sid from app_sessions where started_at < ${before}
      limit ${max} for update skip locked)`.execute(on)
  return Number(numAffectedRows ?? 0)
}

/** Deletes rollups, or their sketches, of one bucket size before a time. @returns number deleted */
export async function deleteRollupsBefore(
  on: Connection,
  table: 'health_rollups' | 'health_sketches',
  bucketSeconds: number,
  before: Date,
  max: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where (project_id, source, bucket_seconds, attributes_id, bucket) in (
      select project_id, source, bucket_seconds, attributes_id, bucket from ${sql.table(table)}
      where bucket_seconds = ${bucketSeconds} and bucket < ${before} limit ${max} for update skip locked)`.execute(on)
  return Number(numAffectedRows ?? 0)
}

/** Deletes devices of users that were not seen since a day. @returns number deleted */
export async function deleteDevicesBefore(on: Connection, day: string, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from user_devices where (project_id, user_hash) in (
      select project_id, user_hash from user_devices where seen_day < ${day}::date
      limit ${max} for update skip locked)`.execute(on)
  return Number(numAffectedRows ?? 0)
}

/** Deletes attributes unused since a day, and counts of days before it. */
export async function deleteAttributesUnusedSince(on: Connection, day: string): Promise<void> {
  await on.deleteFrom('health_attributes').where('last_used_day', '<', day).execute()
  await on.deleteFrom('health_days').where('day', '<', day).execute()
}

/**
 * Removes a user's hash from their sessions, which stay counted, and forgets their device. Sketches of distinct users identify no user, so
 * they stay unchanged.
 * @param userHash of events/protocol/user-hash.ts
 * @returns number of the user's sessions
 */
export async function removeUserFromSessions(on: Connection, projectId: string, userHash: number): Promise<number> {
  await on.deleteFrom('user_devices').where('project_id', '=', projectId).where('user_hash', '=', userHash).execute()
  const { numUpdatedRows } = await on
    .updateTable('app_sessions')
    .set({ user_hash: null, user_at: null })
    .where('project_id', '=', projectId)
    .where('user_hash', '=', userHash)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Sessions and their counts, in the order in which rows move between the tables. */
export const HEALTH_PART = projectPart(
  2_000,
  [
    ownRows('app_sessions'),
    ownRows('user_devices'),
    ownRows('health_deltas'),
    ownRows('health_rollups'),
    ownRows('health_sketches'),
    ownRows('health_attributes'),
    ownRows('health_days'),
  ],
  { lock: lockFold },
)
