import { publish } from '../storage/bus.ts'
import type { Tx } from '../storage/database.ts'
import { OUTBOX_TOPIC, type LaneChange, type NewLane } from './delivery.ts'
import { insertLane, type LaneState, selectLocked, updateLane } from './outbox.queries.ts'

/** Opens a lane; does nothing when it exists. */
export const openLane = (tx: Tx, lane: NewLane): Promise<void> => insertLane(tx, lane)

/** The bounds and pause of a lane, which stay so until the transaction ends; undefined when there is none. */
export const lockLane = (tx: Tx, laneId: string): Promise<LaneState | undefined> => selectLocked(tx, laneId)

/** Changes what is given of an open lane. Attempts in flight end as they began. */
export async function changeLane(tx: Tx, laneId: string, change: LaneChange): Promise<void> {
  await updateLane(tx, laneId, change)
  await publish(tx, OUTBOX_TOPIC, null)
}
