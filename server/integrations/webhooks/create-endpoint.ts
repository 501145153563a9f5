import { ensureDefaultApplication } from '../../identity/auth/auth.queries.ts'
import { orgSealer } from '../../identity/auth/org-sealer.ts'
import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import { newId, newPrefixedId } from '../../platform/kernel/ids.ts'
import { openLane } from '../../platform/outbox/change-lane.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { countEndpoints, insertEndpoint, insertSecret, lockApplication } from './endpoints.queries.ts'
import type { OwnHeader } from '#shared/webhook-headers.ts'
import { sealHeaders } from './own-headers.ts'
import { secretPlace } from './secrets.ts'
import { newSecret, secretPrefix } from '../../platform/requests/signing-secret.ts'
import { viewEndpoint } from './view-endpoint.ts'
import { type EndpointWithSecret, MAX_ENDPOINTS_PER_APPLICATION } from './webhooks.api.ts'

export type NewEndpoint = {
  readonly url: string
  readonly events: readonly string[]
  readonly app_id?: string | undefined
  readonly description: string
  readonly ordering: 'none' | 'strict'
  readonly max_per_second: number | null
  readonly auto_pause: boolean
  readonly standard_headers: boolean
  readonly headers: readonly OwnHeader[] | null
}

/** @throws AppError invalid (url, app_id), conflict (too many) */
export async function createEndpoint(app: App, actor: OrgActor, input: NewEndpoint): Promise<EndpointWithSecret> {
  const { url } = input
  app.egress.checkUrl(url)
  const { orgId } = actor
  return app.tx(async (tx) => {
    const appId = await applicationOf(tx, app, orgId, input.app_id)
    if ((await countEndpoints(tx, appId)) >= MAX_ENDPOINTS_PER_APPLICATION)
      throw conflict(`The application has ${MAX_ENDPOINTS_PER_APPLICATION} endpoints, the maximum. Delete one first.`)
    const id = newId()
    const now = app.clock.now()
    const secret = newSecret()
    const sealer = await orgSealer(app, orgId, tx)
    await openLane(tx, {
      id,
      orgId,
      channel: 'webhook',
      maxPerSecond: input.max_per_second,
      isStrict: input.ordering === 'strict',
    })
    await insertEndpoint(tx, {
      id,
      org_id: orgId,
      app_id: appId,
      url,
      description: input.description,
      events: [...input.events],
      headers_sealed: sealHeaders(sealer, orgId, id, input.headers ?? []),
      standard_headers: input.standard_headers,
      auto_pause: input.auto_pause,
      created_at: now,
      updated_at: now,
    })
    await insertSecret(tx, {
      endpoint_id: id,
      version: 1,
      secret_sealed: sealer.seal(Buffer.from(secret), secretPlace(orgId, id, 1)),
      prefix: secretPrefix(secret),
      created_at: now,
    })
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'webhook.endpoint.created', orgId, endpointId: id, data: { url, events: input.events } },
    ])
    return { ...(await viewEndpoint(app, tx, actor, id)), secret }
  })
}

/** Locks the application that the endpoint belongs to. @throws AppError invalid (app_id) */
async function applicationOf(tx: Tx, app: App, orgId: string, appId: string | undefined): Promise<string> {
  const found = await lockApplication(tx, orgId, appId)
  if (found !== undefined) return found
  if (appId !== undefined) throw invalid('app_id names an application that is not in this organisation.')
  await ensureDefaultApplication(tx, orgId, newPrefixedId('app'), app.clock.now())
  const made = await lockApplication(tx, orgId, undefined)
  if (made === undefined) throw new Error(`organisation ${orgId} has no default application`)
  return made
}
