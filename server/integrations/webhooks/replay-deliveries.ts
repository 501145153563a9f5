import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid, notFound } from '../../platform/kernel/errors.ts'
import { listDeliveries } from '../../platform/outbox/list-deliveries.ts'
import { lockLane } from '../../platform/outbox/change-lane.ts'
import { pinSecrets } from '../../platform/outbox/pin-secrets.queries.ts'
import { type ReplayAnswer, requestReplay } from '../../platform/outbox/request-replay.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { retryOnDeadlock } from '../../platform/storage/retry-on-deadlock.ts'
import { selectWebhookDeliveries } from './delivery-access.queries.ts'
import { MAX_RECOVERED, type ReplayResult, type WebhookDelivery } from './deliveries.api.ts'
import { findEndpoint } from './endpoints.queries.ts'
import { viewDelivery } from './view-delivery.ts'

/**
 * Sends a delivery again: immediately, or after its attempt in flight.
 * @throws AppError not_found; conflict when its data was erased or its endpoint deleted
 */
export async function replayDelivery(
  app: App,
  actor: OrgActor,
  { deliveryId, retries = false }: { deliveryId: string; retries?: boolean | undefined },
): Promise<{ readonly delivery: WebhookDelivery; readonly isInFlight: boolean }> {
  return app.tx(async (tx) => {
    const result = (await replay(tx, app, actor, [deliveryId], retries)).get(deliveryId)
    if (result === undefined) throw notFound('Delivery')
    if (result === 'erased') throw conflict('The data of this delivery was erased. It cannot be sent again.')
    if (result === 'endpoint_deleted') throw conflict('The endpoint of this delivery was deleted.')
    return { delivery: await viewDelivery(tx, actor, deliveryId), isInFlight: result === 'accepted_in_flight' }
  })
}

/** Sends several deliveries again; each has its own result. */
export async function replayDeliveries(
  app: App,
  actor: OrgActor,
  { ids, retries }: { ids: readonly string[]; retries: boolean },
): Promise<ReplayResult[]> {
  const results = await app.tx((tx) => replay(tx, app, actor, ids, retries))
  return [...new Set(ids)].map((id) => ({ id, result: results.get(id) ?? 'not_found' }))
}

const PAGE = 1_000

/**
 * Sends everything again that failed in a time range. What fails again begins a new schedule.
 * @throws AppError not_found, invalid (the range)
 */
export async function recoverDeliveries(
  app: App,
  actor: OrgActor,
  { endpointId, since, until }: { endpointId: string; since: string; until?: string | undefined },
): Promise<{ count: number; has_more: boolean }> {
  const from = new Date(since)
  const to = until === undefined ? undefined : new Date(until)
  if (to !== undefined && to <= from) throw invalid('until must be later than since.')
  const recover = async (tx: Tx) => {
    if ((await findEndpoint(tx, actor, endpointId)) === undefined) throw notFound('Endpoint')
    // No claim, deletion or other recovery takes these deliveries meanwhile.
    await lockLane(tx, endpointId)
    if ((await findEndpoint(tx, actor, endpointId))?.deleted_at !== null) throw notFound('Endpoint')
    const failed = await failedDeliveries(tx, endpointId, from, to)
    const accepted: string[] = []
    for (let first = 0; first < failed.ids.length; first += PAGE) {
      const results = await requestReplays(tx, actor, failed.ids.slice(first, first + PAGE), true)
      accepted.push(...[...results].flatMap(([id, { result }]) => (isAccepted(result) ? [id] : [])))
    }
    await recordReplays(tx, app, actor, new Map([[endpointId, accepted]]))
    return { count: accepted.length, has_more: failed.hasMore }
  }
  return retryOnDeadlock(() => app.tx(recover))
}

/**
 * The newest that failed, were never delivered and are not erased.
 * @returns ids in ascending order, in which erasures and single replays lock deliveries too
 */
async function failedDeliveries(
  tx: Tx,
  endpointId: string,
  from: Date,
  to: Date | undefined,
): Promise<{ readonly ids: string[]; readonly hasMore: boolean }> {
  const ids: string[] = []
  let cursor: string | null | undefined
  while (cursor !== null && ids.length < MAX_RECOVERED) {
    const page = await listDeliveries(tx, endpointId, { state: 'failed', from, to, limit: PAGE, offset: 0, cursor })
    ids.push(...page.items.filter(({ isErased, deliveredAt }) => !isErased && deliveredAt === null).map(({ id }) => id))
    cursor = page.next_cursor
  }
  return { ids: ids.toSorted(), hasMore: cursor !== null }
}

type Result = Exclude<ReplayResult['result'], 'not_found'>

const isAccepted = (result: Result | ReplayAnswer): boolean => result === 'accepted' || result === 'accepted_in_flight'

/** The results of those that exist. */
async function replay(
  tx: Tx,
  app: App,
  actor: OrgActor,
  ids: readonly string[],
  retries: boolean,
): Promise<Map<string, Result>> {
  const results = await requestReplays(tx, actor, ids, retries)
  const accepted = [...results].filter(([, { result }]) => isAccepted(result))
  const byEndpoint = Map.groupBy(accepted, ([, { endpointId }]) => endpointId)
  await recordReplays(
    tx,
    app,
    actor,
    new Map([...byEndpoint].map(([endpointId, ofEndpoint]) => [endpointId, ofEndpoint.map(([id]) => id)])),
  )
  return new Map([...results].map(([id, { result }]) => [id, result]))
}

async function requestReplays(
  tx: Tx,
  actor: OrgActor,
  ids: readonly string[],
  retries: boolean,
): Promise<Map<string, { readonly endpointId: string; readonly result: Result }>> {
  if (ids.length === 0) return new Map()
  // Deliveries of other channels are none of these.
  const webhooks = await selectWebhookDeliveries(tx, actor, ids)
  const replayed = await requestReplay(
    tx,
    actor.orgId,
    webhooks.map(({ id }) => id),
    { retries },
  )
  // The attempts of a new schedule belong to this replay, not to the event: a secret from before a rotation would fail.
  if (retries) {
    const taken = new Set(replayed.filter(({ answer }) => isAccepted(answer)).map(({ id }) => id))
    await pinSecrets(
      tx,
      new Map(webhooks.flatMap(({ id, secret_version }) => (taken.has(id) ? [[id, secret_version]] : []))),
    )
  }
  return new Map(
    replayed.map(({ id, laneId, answer }) => [
      id,
      { endpointId: laneId, result: answer === 'closed' ? ('endpoint_deleted' as const) : answer },
    ]),
  )
}

/** A fact names at most so many deliveries. */
const MAX_NAMED = 100

async function recordReplays(
  tx: Tx,
  app: App,
  actor: OrgActor,
  byEndpoint: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  await recordFacts(
    tx,
    factContext(app, actor),
    [...byEndpoint]
      .filter(([, ids]) => ids.length > 0)
      .map(([endpointId, ids]) => ({
        kind: 'webhook.delivery.replayed',
        orgId: actor.orgId,
        endpointId,
        data: { count: ids.length, delivery_ids: ids.slice(0, MAX_NAMED) },
      })),
  )
}
