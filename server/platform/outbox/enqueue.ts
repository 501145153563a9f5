import { newPrefixedId } from '../kernel/ids.ts'
import { publish } from '../storage/bus.ts'
import type { Tx } from '../storage/database.ts'
import { OUTBOX_TOPIC, type Message, type NewDelivery } from './delivery.ts'
import { countDeliveries, insertDeliveries, insertMessages } from './outbox.queries.ts'

/**
 * Writes messages and their deliveries, one statement each; workers claim them when the transaction commits and
 * they are due.
 * @param deliveries to open lanes; their messages are among `messages`
 * @returns ids of the deliveries, in their order
 */
export async function enqueue(
  tx: Tx,
  messages: readonly Message[],
  deliveries: readonly NewDelivery[],
): Promise<string[]> {
  if (deliveries.length === 0) return []
  const withIds = deliveries.map((delivery) => ({ ...delivery, id: newPrefixedId('d') }))
  await insertMessages(tx, messages)
  await insertDeliveries(tx, withIds)
  await publish(tx, OUTBOX_TOPIC, null)
  return withIds.map(({ id }) => id)
}

/**
 * Counts the deliveries that a lane got within the last hour, up to `max`. Transactions that are under way are not counted.
 * @param types of their messages
 */
export const countRecent = (tx: Tx, laneId: string, types: readonly string[], max: number): Promise<number> =>
  countDeliveries(tx, laneId, types, max)
