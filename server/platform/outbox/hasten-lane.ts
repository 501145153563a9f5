import { publish } from '../storage/bus.ts'
import type { Tx } from '../storage/database.ts'
import { OUTBOX_TOPIC } from './delivery.ts'
import { hastenWaiting } from './outbox.queries.ts'

/** Deliveries that one call makes due; the success of one of them makes the next due. */
const MAX_HASTENED = 1_000
/** Attempts of one delivery beside its schedule: one that never arrives must not be attempted after each success. */
const MAX_EXTRA_ATTEMPTS = 3

/**
 * The receiver of a lane answers again after an outage: what waits there for a retry is attempted now, in the order of
 * writing and before what was never attempted. A failure leaves the schedule of the delivery as it was.
 */
export async function hastenLane(tx: Tx, laneId: string): Promise<void> {
  const count = await hastenWaiting(tx, laneId, MAX_HASTENED, MAX_EXTRA_ATTEMPTS)
  if (count > 0) await publish(tx, OUTBOX_TOPIC, null)
}
