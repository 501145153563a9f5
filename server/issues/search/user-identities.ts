import type { App } from '../../platform/context/app.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { isUserKey, type Fact } from './facts.ts'
import { KnownTerms } from './known-terms.ts'
import { deleteOrphanedIdentities, insertIdentities, type UserIdentity } from './user-identities.queries.ts'

/** Identities of apps' users from events, once per user and value: searches find users, and through them issues. */

export type IdentifiedEvent = {
  readonly facts: readonly Fact[]
  /** The user's hash is null if the user has none of these values, and no id. */
  readonly event: { readonly projectId: string; readonly userHash: number | null }
}

/** Identities that this process wrote today (UTC). 1 MiB. */
const known = new KnownTerms(1 << 18)
let knownDay = ''

/** Writes what events say about their users. One statement, or none if nothing is new. */
export async function writeIdentities(tx: Tx, now: Date, events: Iterable<IdentifiedEvent>): Promise<void> {
  const day = utcDay(now)
  // Remembered identities were written within a week, so that the purge spares them.
  if (day !== knownDay) known.clear()
  knownDay = day
  const rows: UserIdentity[] = []
  for (const { facts, event } of events) {
    const { projectId, userHash } = event
    if (userHash === null) continue
    for (const [key, value] of facts)
      if (isUserKey(key) && known.isNew(userHash >>> 0, key + Math.floor(userHash / 2 ** 32), value))
        rows.push({ projectId, userHash, key, value })
  }
  await insertIdentities(tx, day, rows)
}

/** To be called after a rollback, and after a user was erased. */
export const forgetIdentities = (): void => known.clear()

const BATCH = 10_000

/** Deletes the identities of users that no issue has any more, in batches. Returns the number. */
export async function purgeIdentities(app: App, signal?: AbortSignal): Promise<number> {
  const today = utcDay(app.clock.now())
  for (let total = 0; ;) {
    signal?.throwIfAborted()
    const deleted = await deleteOrphanedIdentities(app.db, today, BATCH)
    total += deleted
    if (deleted < BATCH) return total
  }
}
