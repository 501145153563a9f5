import type { Connection } from '../storage/database.ts'
import { selectAttempts, selectDelivery, type AttemptRow, type DeliveryDetailRow } from './deliveries.queries.ts'

export type DeliveryDetail = DeliveryDetailRow & { readonly attempts: readonly AttemptRow[] }

/** Returns a delivery of the organisation with its body and every attempt, oldest first; null when there is none. */
export async function readDelivery(on: Connection, orgId: string, id: string): Promise<DeliveryDetail | null> {
  const delivery = await selectDelivery(on, orgId, id)
  return delivery === undefined ? null : { ...delivery, attempts: await selectAttempts(on, id) }
}
