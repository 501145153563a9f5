import type { OrgActor } from '../../platform/context/actor.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** Selects the deliveries that are webhooks of the actor's organisation, with the current secret of their endpoint. */
export const selectWebhookDeliveries = (db: Connection, { orgId }: OrgActor, ids: readonly string[]) =>
  db
    .selectFrom('outbox_deliveries as d')
    .innerJoin('webhook_endpoints as e', 'e.id', 'd.lane_id')
    .select(['d.id', 'e.id as endpoint_id', 'e.secret_version'])
    .where('d.id', 'in', ids)
    .where('e.org_id', '=', orgId)
    .execute()

/** The delivery of an event to an endpoint. */
export async function findEventDelivery(
  db: Connection,
  endpointId: string,
  eventId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('outbox_deliveries')
    .select('id')
    .where('message_id', '=', eventId)
    .where('lane_id', '=', endpointId)
    .executeTakeFirst()
  return row?.id
}
