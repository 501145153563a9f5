import type { Tx } from '../storage/database.ts'
import { endErased, eraseMessages } from './outbox.queries.ts'

/**
 * Erases the messages about a user: bodies, user ids, and what their attempts recorded. Their deliveries are marked as
 * erased and end; they can no longer be replayed.
 * @returns number of messages
 */
export async function eraseUserMessages(tx: Tx, userId: string): Promise<number> {
  const ids = await eraseMessages(tx, userId)
  if (ids.length > 0) await endErased(tx, ids)
  return ids.length
}
