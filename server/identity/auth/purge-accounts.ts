import type { App } from '../../platform/context/app.ts'
import { deleteOldAttempts, deleteSessionsLastUsed } from './auth.queries.ts'
import { DEVICE_COOKIE_DAYS } from './device-token.ts'
import { deleteDevicesLastSeen } from './devices.queries.ts'

const DAY_MS = 86_400_000
/** Sessions end after 30 days at the latest; they are kept to answer questions about them. */
const SESSION_DAYS = 90

/** Deletes counters after a day, sessions 90 days after their last use, and devices whose cookie has expired. */
export async function purgeAccounts(app: App): Promise<void> {
  const now = app.clock.now().getTime()
  await deleteOldAttempts(app.db, new Date(now - DAY_MS))
  await deleteSessionsLastUsed(app.db, new Date(now - SESSION_DAYS * DAY_MS))
  await deleteDevicesLastSeen(app.db, new Date(now - DEVICE_COOKIE_DAYS * DAY_MS))
}
