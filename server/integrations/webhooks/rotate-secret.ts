import { orgSealer } from '../../identity/auth/org-sealer.ts'
import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { changeEndpoint, hasOverlap, insertSecret, lockEndpoint, setOverlap } from './endpoints.queries.ts'
import { secretPlace } from './secrets.ts'
import { newSecret, secretPrefix } from '../../platform/requests/signing-secret.ts'
import { viewEndpoint } from './view-endpoint.ts'
import type { EndpointWithSecret } from './webhooks.api.ts'

/**
 * Creates a new secret, which signs from now on; the one before signs too during the overlap.
 * @throws AppError not_found; conflict during an overlap, unless forced
 */
export async function rotateSecret(
  app: App,
  actor: OrgActor,
  {
    endpointId,
    overlap_seconds = 0,
    force = false,
  }: { endpointId: string; overlap_seconds?: number | undefined; force?: boolean | undefined },
): Promise<EndpointWithSecret> {
  const { orgId } = actor
  return app.tx(async (tx) => {
    const endpoint = await lockEndpoint(tx, actor, endpointId)
    if (endpoint === undefined || endpoint.deleted_at !== null) throw notFound('Endpoint')
    const now = app.clock.now()
    if (!force && (await hasOverlap(tx, endpointId, now)))
      throw conflict('Two secrets sign already. Wait until the overlap ends, or send force to end it now.')
    const version = endpoint.secret_version + 1
    const secret = newSecret()
    const sealer = await orgSealer(app, orgId, tx)
    await setOverlap(
      tx,
      endpointId,
      endpoint.secret_version,
      overlap_seconds === 0 ? null : new Date(now.getTime() + overlap_seconds * 1_000),
    )
    await insertSecret(tx, {
      endpoint_id: endpointId,
      version,
      secret_sealed: sealer.seal(Buffer.from(secret), secretPlace(orgId, endpointId, version)),
      prefix: secretPrefix(secret),
      created_at: now,
    })
    await changeEndpoint(tx, endpointId, { secret_version: version, updated_at: now })
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'webhook.secret.rotated', orgId, endpointId, data: { version, overlap_seconds } },
    ])
    return { ...(await viewEndpoint(app, tx, actor, endpointId)), secret }
  })
}
