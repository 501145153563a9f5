import { publish } from '../storage/bus.ts'
import type { Tx } from '../storage/database.ts'
import { OUTBOX_TOPIC } from './delivery.ts'
import { endDeliveries, markLaneClosed } from './outbox.queries.ts'

/** Deliveries that the transaction itself ends; a worker ends those beyond. */
export const MAX_ENDED = 1_000

/**
 * Closes a lane for ever. Its waiting deliveries end as `failed` with the reason; one in flight ends so at its settlement
 * unless it was delivered, or when its worker ended. The log stays.
 * @param reason such as `endpoint_deleted`
 */
export async function closeLane(tx: Tx, laneId: string, reason: string): Promise<void> {
  await markLaneClosed(tx, laneId, reason)
  await endDeliveries(tx, laneId, MAX_ENDED, -Infinity)
  await publish(tx, OUTBOX_TOPIC, null)
}
