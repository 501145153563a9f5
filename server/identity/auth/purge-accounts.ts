import type { App } from '../../platform/context/app.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { deleteOldAttempts } from './auth.queries.ts'
import { DEVICE_COOKIE_DAYS } from './device-token.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** Sessions end after 30 days at the latest; they are kept to answer questions about them. */
const SESSION_DAYS = 90

/** Deletes counters after a day, sessions 90 days after their last use, and devices whose cookie has expired. */
export async function purgeAccounts(app: App): Promise<void> {
  await deleteOldAttempts(app.db, new Date(app.clock.now().getTime() - DAY_MS))
  await purgeRows(app, [
    { rows: ownRows('sessions'), column: 'last_used_at', kept: { ms: SESSION_DAYS * DAY_MS } },
    { rows: ownRows('devices'), column: 'last_seen_at', kept: { ms: DEVICE_COOKIE_DAYS * DAY_MS } },
  ])
}
