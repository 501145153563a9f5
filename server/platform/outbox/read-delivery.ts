import type { Connection } from '../storage/database.ts'
import { selectAttempts, selectDelivery, type AttemptRow, type DeliveryDetailRow } from './deliveries.queries.ts'

export type DeliveryDetail = DeliveryDetailRow & { readonly attempts: readonly AttemptRow[] }

/** An attempt that is recorded between the two queries is seen by the second only: then both are repeated. */
const MAX_READS = 5

/** Returns a delivery of the organisation with its body and every attempt, oldest first; null when there is none. */
export async function readDelivery(on: Connection, orgId: string, id: string): Promise<DeliveryDetail | null> {
  for (let read = 1; ; read++) {
    const delivery = await selectDelivery(on, orgId, id)
    if (delivery === undefined) return null
    const attempts = await selectAttempts(on, id)
    if (attempts.length === delivery.attemptsMade || read === MAX_READS) return { ...delivery, attempts }
  }
}
