import type { App } from '../../platform/context/app.ts'
import { purgeRows, inBatches } from '../../platform/jobs/purge.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { MINUTE_ROWS } from '../../projects/registry/project-rows.queries.ts'
import { deleteUserSlotsBefore } from './fold.queries.ts'
import { SECURITY_ROWS } from './security-events.queries.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** Retention of counts. */
const kept = { ms: 400 * DAY_MS }
/** No time to count users in begins earlier (`issues/rules/count-window.ts`). */
const USER_SLOT_RETENTION_MS = 100 * DAY_MS
const BATCH = 5_000

/** Deletes hours and users of issues, security events, and minutes of projects beyond their retention. */
export async function pruneCounts(app: App, signal?: AbortSignal): Promise<Readonly<Record<string, number>>> {
  const oldest = new Date(app.clock.now().getTime() - USER_SLOT_RETENTION_MS)
  const slots = await inBatches(BATCH, signal, () => deleteUserSlotsBefore(app.db, oldest, BATCH))
  const deleted = await purgeRows(
    app,
    [
      { rows: ownRows('issue_hours'), column: 'hour', kept },
      { rows: MINUTE_ROWS, column: 'minute', kept },
      // A dry run of an alert rule looks back seven days.
      { rows: SECURITY_ROWS, column: 'hour', kept: { ms: 8 * DAY_MS } },
    ],
    signal,
  )
  return { issue_user_slots: slots, ...deleted }
}
