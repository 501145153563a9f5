import type { App } from '../context/app.ts'
import { deleteOldAttempts, deleteSessionsLastUsed } from './auth.queries.ts'
import { KNOWN_NETWORK_DAYS } from './known-network.ts'

const DAY_MS = 86_400_000

/** Deletes counters after a day, and sessions when their network no longer counts as known. */
export async function purgeAccounts(app: App): Promise<void> {
  const now = app.clock.now().getTime()
  await deleteOldAttempts(app.db, new Date(now - DAY_MS))
  await deleteSessionsLastUsed(app.db, new Date(now - KNOWN_NETWORK_DAYS * DAY_MS))
}
