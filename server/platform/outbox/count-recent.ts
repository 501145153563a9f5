import type { Tx } from '../storage/database.ts'
import { countDeliveries } from './outbox.queries.ts'

/**
 * Counts the deliveries that a lane got within the last hour, up to `max`. Transactions that are under way are not counted.
 * @param types of their messages
 */
export const countRecent = (tx: Tx, laneId: string, types: readonly string[], max: number): Promise<number> =>
  countDeliveries(tx, laneId, types, max)
