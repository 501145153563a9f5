import { isDeepStrictEqual } from 'node:util'
import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import { changeLane, lockLane } from '../../platform/outbox/change-lane.ts'
import type { Sealer } from '../../platform/storage/seal.ts'
import { changeEndpoint, lockEndpoint, selectEndpoint } from './endpoints.queries.ts'
import type { OwnHeader } from '#shared/webhook-headers.ts'
import { lenientSealer } from '../../identity/auth/lenient-sealer.ts'
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

/**
 * Changes the given fields. What the endpoint has already stays as it is: resuming an active one does not reset the count
 * for its automatic pause.
 * @throws AppError not_found, invalid (url, headers)
 */
export async function updateEndpoint(
  app: App,
  actor: OrgActor,
  { endpointId, ...change }: EndpointChange,
): Promise<WebhookEndpoint> {
  const { orgId } = actor
  const newUrl = change.url === undefined ? null : app.egress.checkUrl(change.url)
  return app.tx(async (tx) => {
    if ((await selectEndpoint(tx, actor, endpointId)) === undefined) throw notFound('Endpoint')
    // The lane before the endpoint, in the order in which attempts lock them.
    const lane = await lockLane(tx, endpointId)
    const endpoint = await lockEndpoint(tx, actor, endpointId)
    if (lane === undefined || endpoint === undefined || endpoint.deleted_at !== null) throw notFound('Endpoint')
    const given = change.headers
    // A member who changes the URL must not read the stored values at a receiver of their own.
    if (
      newUrl !== null &&
      newUrl.origin !== new URL(endpoint.url).origin &&
      endpoint.headers_sealed !== null &&
      (given === undefined || given?.some(({ value }) => value === undefined) === true)
    )
      throw invalid('headers must be sent with every value, or as an empty list, when the URL moves to another origin.')
    const sealer = await lenientSealer(app, orgId, tx)
    const stored = storedHeaders(sealer, orgId, endpointId, endpoint.headers_sealed)
    const asked = {
      ...change,
      headers: given === undefined ? undefined : withStoredValues(stored, given ?? []),
    }
    const before = {
      ...endpoint,
      // Neither for an automatic pause: pausing makes it a pause by the member.
      paused: endpoint.auto_paused_at === null ? lane.isPaused : null,
      max_per_second: lane.maxPerSecond,
      ordering: lane.isStrict ? 'strict' : 'none',
      headers: stored,
    }
    const fields = FIELDS.filter((name) => asked[name] !== undefined && !isDeepStrictEqual(asked[name], before[name]))
    if (fields.length > 0) {
      const isChanged = new Set<keyof EndpointChange>(fields)
      const changed = <K extends keyof typeof asked>(name: K) => (isChanged.has(name) ? asked[name] : undefined)
      const [paused, maxPerSecond, ordering] = [changed('paused'), changed('max_per_second'), changed('ordering')]
      const [events, headers] = [changed('events'), changed('headers')]
      await changeLane(tx, endpointId, {
        ...(paused === undefined ? {} : { isPaused: paused }),
        ...(maxPerSecond === undefined ? {} : { maxPerSecond }),
        ...(ordering === undefined ? {} : { isStrict: ordering === 'strict' }),
      })
      await changeEndpoint(tx, endpointId, {
        url: changed('url'),
        events: events === undefined ? undefined : [...events],
        description: changed('description'),
        auto_pause: changed('auto_pause'),
        standard_headers: changed('standard_headers'),
        ...(headers === undefined ? {} : { headers_sealed: sealHeaders(sealer, orgId, endpointId, headers) }),
        // Counting for the next automatic pause begins again.
        ...(paused === undefined ? {} : { auto_paused_at: null, failing_since: null, failed_attempts: 0 }),
        updated_at: app.clock.now(),
      })
      await recordFacts(tx, factContext(app, actor), [
        { kind: 'webhook.endpoint.updated', orgId, endpointId, data: { fields } },
      ])
    }
    return viewEndpoint(app, tx, actor, endpointId)
  })
}

const FIELDS = [
  'url',
  'events',
  'description',
  'paused',
  'ordering',
  'max_per_second',
  'auto_pause',
  'standard_headers',
  'headers',
] as const satisfies readonly (keyof EndpointChange)[]

/** @throws AppError invalid when a value is absent and not stored, or cannot be opened */
function withStoredValues(stored: readonly OwnHeader[] | null, changed: readonly ChangedHeader[]): OwnHeader[] {
  if (stored === null && changed.some(({ value }) => value === undefined))
    throw invalid('headers: the stored values cannot be read. Send every value.')
  const values = new Map(stored?.map(({ name, value }) => [name.toLowerCase(), value]))
  return changed.map(({ name, value = values.get(name.toLowerCase()) }): OwnHeader => {
    if (value === undefined) throw invalid(`headers: ${name} needs a value, because none is stored.`)
    return { name, value }
  })
}

/** Null when they cannot be opened. */
function storedHeaders(
  sealer: Sealer,
  orgId: string,
  endpointId: string,
  sealed: string | null,
): readonly OwnHeader[] | null {
  try {
    return openHeaders(sealer, orgId, endpointId, sealed)
  } catch {
    return null
  }
}
