import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { newPrefixedId } from '../../platform/kernel/ids.ts'
import { findEventDelivery } from './delivery-access.queries.ts'
import type { WebhookDelivery } from './deliveries.api.ts'
import { findEndpoint } from './endpoints.queries.ts'
import { viewDelivery } from './view-delivery.ts'

/** Sends an event of the type `webhook.test` to one endpoint; its filter does not matter. @throws AppError not_found */
export async function sendTest(app: App, actor: OrgActor, endpointId: string): Promise<WebhookDelivery> {
  return app.tx(async (tx) => {
    const endpoint = await findEndpoint(tx, actor, endpointId)
    if (endpoint === undefined || endpoint.deleted_at !== null) throw notFound('Endpoint')
    const eventId = newPrefixedId('evt')
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'webhook.test', orgId: actor.orgId, endpointId, data: { event_id: eventId } },
    ])
    const deliveryId = await findEventDelivery(tx, endpointId, eventId)
    // Deleted by another transaction after the look-up.
    if (deliveryId === undefined) throw notFound('Endpoint')
    return viewDelivery(tx, actor, deliveryId)
  })
}
