import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { closeLane } from '../../platform/outbox/close-lane.ts'
import { changeEndpoint, deleteSecrets, findEndpoint, lockEndpoint } from './endpoints.queries.ts'

/**
 * Deletes an endpoint: its open deliveries end as failed, its secrets and headers are removed, its log stays. Deleting it
 * again changes nothing.
 * @throws AppError not_found
 */
export async function deleteEndpoint(app: App, actor: OrgActor, endpointId: string): Promise<void> {
  const { orgId } = actor
  await app.tx(async (tx) => {
    const found = await findEndpoint(tx, actor, endpointId)
    if (found === undefined) throw notFound('Endpoint')
    if (found.deleted_at !== null) return
    // The lane before the endpoint, in the order in which attempts lock them.
    await closeLane(tx, endpointId, 'endpoint_deleted')
    const endpoint = await lockEndpoint(tx, actor, endpointId)
    if (endpoint === undefined || endpoint.deleted_at !== null) return
    const now = app.clock.now()
    await deleteSecrets(tx, endpointId)
    await changeEndpoint(tx, endpointId, { deleted_at: now, updated_at: now, headers_sealed: null })
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'webhook.endpoint.deleted', orgId, endpointId, data: { url: endpoint.url } },
    ])
  })
}
