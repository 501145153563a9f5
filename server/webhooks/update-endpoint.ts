import { orgSealer } from '../auth/org-sealer.ts'
import type { OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { factContext } from '../context/fact-context.ts'
import { recordFacts } from '../facts/record-facts.ts'
import { invalid, notFound } from '../kernel/errors.ts'
import { changeLane } from '../outbox/change-lane.ts'
import type { Tx } from '../storage/database.ts'
import { changeEndpoint, lockEndpoint, selectEndpoint } from './endpoints.queries.ts'
import type { OwnHeader } from '#shared/webhook-headers.ts'
import { openHeaders, sealHeaders } from './own-headers.ts'
import { viewEndpoint } from './view-endpoint.ts'
import type { WebhookEndpoint } from './webhooks.api.ts'

/** A header without a value keeps the stored one. */
type ChangedHeader = { readonly name: string; readonly value?: string | undefined }

export type EndpointChange = {
  readonly endpointId: string
  readonly url?: string | undefined
  readonly events?: readonly string[] | undefined
  readonly description?: string | undefined
  readonly paused?: boolean | undefined
  readonly ordering?: 'none' | 'strict' | undefined
  readonly max_per_second?: number | null | undefined
  readonly auto_pause?: boolean | undefined
  readonly standard_headers?: boolean | undefined
  readonly headers?: readonly ChangedHeader[] | null | undefined
}

/** Changes the given fields. @throws AppError not_found, invalid (url, headers) */
export async function updateEndpoint(
  app: App,
  actor: OrgActor,
  { endpointId, ...change }: EndpointChange,
): Promise<WebhookEndpoint> {
  const { orgId } = actor
  if (change.url !== undefined) app.egress.checkUrl(change.url)
  return app.tx(async (tx) => {
    if ((await selectEndpoint(tx, actor, endpointId)) === undefined) throw notFound('Endpoint')
    const now = app.clock.now()
    // The lane before the endpoint, in the order in which attempts lock them.
    const { paused, max_per_second: maxPerSecond, ordering } = change
    if (paused !== undefined || maxPerSecond !== undefined || ordering !== undefined)
      await changeLane(tx, endpointId, {
        ...(paused === undefined ? {} : { isPaused: paused }),
        ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
        ...(ordering === undefined ? {} : { isStrict: ordering === 'strict' }),
      })
    const endpoint = await lockEndpoint(tx, actor, endpointId)
    if (endpoint === undefined || endpoint.deleted_at !== null) throw notFound('Endpoint')
    const { events, description, auto_pause, standard_headers, headers } = change
    await changeEndpoint(tx, endpointId, {
      url: change.url,
      events: events === undefined ? undefined : [...events],
      description,
      auto_pause,
      standard_headers,
      headers_sealed:
        headers === undefined
          ? undefined
          : await sealChanged(tx, app, { orgId, endpointId, sealed: endpoint.headers_sealed }, headers ?? []),
      // Counting for the next automatic pause begins again.
      ...(paused === undefined ? {} : { auto_paused_at: null, failing_since: null, failed_attempts: 0 }),
      updated_at: now,
    })
    const fields = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'webhook.endpoint.updated', orgId, endpointId, data: { fields } },
    ])
    return viewEndpoint(app, tx, actor, endpointId)
  })
}

type Stored = { readonly orgId: string; readonly endpointId: string; readonly sealed: string | null }

async function sealChanged(
  tx: Tx,
  app: App,
  { orgId, endpointId, sealed }: Stored,
  changed: readonly ChangedHeader[],
): Promise<string | null> {
  const sealer = await orgSealer(app, orgId, tx)
  const stored = new Map(
    openHeaders(sealer, orgId, endpointId, sealed).map(({ name, value }) => [name.toLowerCase(), value]),
  )
  const headers = changed.map(({ name, value = stored.get(name.toLowerCase()) }): OwnHeader => {
    if (value === undefined) throw invalid(`headers: ${name} needs a value, because none is stored.`)
    return { name, value }
  })
  return sealHeaders(sealer, orgId, endpointId, headers)
}
