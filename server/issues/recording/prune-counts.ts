import type { App } from '../../platform/context/app.ts'
import { deleteMinutesBefore } from '../../projects/registry/recording.queries.ts'
import { deleteHoursBefore, deleteUserSlotsBefore } from './fold.queries.ts'
import { deleteSecurityHoursBefore } from './security-events.queries.ts'

const DAY_MS = 86_400_000
/** Retention of counts. */
const RETENTION_DAYS = 400
/** No time to count users in begins earlier (`issues/rules/count-window.ts`). */
const USER_SLOT_RETENTION_DAYS = 100
/** A dry run of an alert rule looks back seven days. */
const SECURITY_RETENTION_DAYS = 8
const BATCH = 10_000

/** Deletes hours and users of issues, security events, and minutes of projects beyond their retention, in batches. Returns the number of deleted rows. */
export async function pruneCounts(app: App, signal?: AbortSignal): Promise<number> {
  const now = app.clock.now().getTime()
  let total = 0
  for (const [deleteBatch, days] of [
    [deleteHoursBefore, RETENTION_DAYS],
    [deleteUserSlotsBefore, USER_SLOT_RETENTION_DAYS],
    [deleteMinutesBefore, RETENTION_DAYS],
    [deleteSecurityHoursBefore, SECURITY_RETENTION_DAYS],
  ] as const) {
    const before = new Date(now - days * DAY_MS)
    for (;;) {
      signal?.throwIfAborted()
      const deleted = await deleteBatch(app.db, before, BATCH)
      total += deleted
      if (deleted < BATCH) break
    }
  }
  return total
}
