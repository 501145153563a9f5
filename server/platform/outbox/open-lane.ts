import type { Tx } from '../storage/database.ts'
import type { NewLane } from './delivery.ts'
import { insertLane } from './outbox.queries.ts'

/** Opens a lane; does nothing when it exists. */
export const openLane = (tx: Tx, lane: NewLane): Promise<void> => insertLane(tx, lane)
