import type { SessionActor } from '../../platform/context/actor.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { readSession } from './auth.queries.ts'

/**
 * Refuses what outlives the session, such as a passkey, when the session has ended since the request was admitted: another
 * process may not know it for a second. The transaction holds the lock of the user's row.
 * @throws AppError unauthenticated
 */
export async function requireActiveSession(tx: Tx, { sessionId }: SessionActor): Promise<void> {
  const session = await readSession(tx, sessionId)
  if (session === null || session.ended_at !== null) throw unauthenticated('This session has ended. Log in again.')
}
