import type { Connection } from '../../platform/storage/database.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { lockFold } from './fold.queries.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import type { AgingRows } from '../../platform/jobs/purge.ts'
import { BUCKET_SECONDS, KEPT_MS } from './buckets.ts'
import { SESSION_RETENTION_MS } from './record-sessions.ts'
import { DAY_MS, HOUR_MS } from '../../platform/kernel/day.ts'

/**
 * Removes a user's hash from their sessions, which stay counted, and forgets their device. Sketches of distinct users identify no user, so
 * they stay unchanged.
 * @param userHash of events/protocol/user.ts
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

const SESSIONS = ownRows('app_sessions')
const DEVICES = ownRows('user_devices')
const ROLLUPS = ownRows('health_rollups')
const SKETCHES = ownRows('health_sketches')
const ATTRIBUTES = ownRows('health_attributes')
const DAYS = ownRows('health_days')

/** Sessions and their counts, in the order in which rows move between the tables. */
export const HEALTH_PART = projectPart(
  2_000,
  [SESSIONS, DEVICES, ownRows('health_deltas'), ROLLUPS, SKETCHES, ATTRIBUTES, DAYS],
  { lock: lockFold },
)

/** Clocks of processes may differ: a row must outlive the last update that could belong to it. */
const MARGIN_MS = HOUR_MS
const KEPT_DAYS = KEPT_MS[86_400] / DAY_MS

/** Sessions after six days, buckets at the end of their time, devices of users after 90 days without events. */
export const AGING_HEALTH: readonly AgingRows[] = [
  { rows: SESSIONS, column: 'started_at', kept: { ms: SESSION_RETENTION_MS + MARGIN_MS } },
  ...BUCKET_SECONDS.flatMap((seconds) =>
    [ROLLUPS, SKETCHES].map((rows) => ({
      rows,
      column: 'bucket',
      kept: { ms: KEPT_MS[seconds] },
      equal: { bucket_seconds: seconds },
    })),
  ),
  { rows: DEVICES, column: 'seen_day', kept: { days: 90 } },
  { rows: ATTRIBUTES, column: 'last_used_day', kept: { days: KEPT_DAYS + 1 } },
  { rows: DAYS, column: 'day', kept: { days: KEPT_DAYS + 1 } },
]
