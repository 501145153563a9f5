import { notFound } from '../../platform/kernel/errors.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { AttemptRow, DeliveryRow } from '../../platform/outbox/deliveries.queries.ts'
import { listDeliveries } from '../../platform/outbox/list-deliveries.ts'
import { readDelivery } from '../../platform/outbox/read-delivery.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { AttemptDetails } from '../../platform/requests/attempt-details.ts'
import { selectWebhookDeliveries } from './delivery-access.queries.ts'
import type { WebhookAttempt, WebhookDelivery, WebhookDeliveryDetail } from './deliveries.api.ts'
import { findEndpoint } from './endpoints.queries.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { DELAYS_MS } from '../../platform/requests/schedule.ts'

export type DeliveriesFilter = {
  readonly endpointId: string
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly state?: WebhookDelivery['state'] | undefined
  readonly type?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly retrying?: 'true' | 'false' | undefined
}

/** Deliveries to an endpoint, also a deleted one, newest first. @throws AppError not_found, invalid (cursor) */
export async function listWebhookDeliveries(
  app: App,
  actor: OrgActor,
  { endpointId, from, to, retrying, ...filter }: DeliveriesFilter,
): Promise<Page<WebhookDelivery>> {
  if ((await findEndpoint(app.db, actor, endpointId)) === undefined) throw notFound('Endpoint')
  const page = await listDeliveries(app.db, endpointId, {
    ...filter,
    from: timeOf(from),
    to: timeOf(to),
    retrying: retrying === undefined ? undefined : retrying === 'true',
  })
  return { ...page, items: page.items.map(viewOf) }
}

const timeOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text))

/** One delivery with all known data, also a delivery of a deleted endpoint. @throws AppError not_found */
export async function readWebhookDelivery(
  app: App,
  actor: OrgActor,
  deliveryId: string,
): Promise<WebhookDeliveryDetail> {
  const delivery = await findWebhookDelivery(app.db, actor, deliveryId)
  const newest = delivery.attempts.at(-1)
  return {
    ...viewOf(delivery),
    body: delivery.body?.toString() ?? null,
    request_headers: newest === undefined ? [] : AttemptDetails.parse(newest.details).request_headers.map(headerOf),
    schedule: DELAYS_MS.map((delayMs, index) => ({
      n: index + 1,
      delay_seconds: (delayMs * app.config.retryScale) / 1_000,
    })),
    attempts: delivery.attempts.map(viewAttempt),
  }
}

/** @throws AppError not_found */
export async function viewDelivery(db: Connection, actor: OrgActor, deliveryId: string): Promise<WebhookDelivery> {
  return viewOf(await findWebhookDelivery(db, actor, deliveryId))
}

async function findWebhookDelivery(db: Connection, actor: OrgActor, deliveryId: string) {
  const [webhook] = await selectWebhookDeliveries(db, actor, [deliveryId])
  const delivery = webhook === undefined ? null : await readDelivery(db, actor.orgId, deliveryId)
  if (delivery === null) throw notFound('Delivery')
  return delivery
}

const viewOf = (row: DeliveryRow): WebhookDelivery => ({
  id: row.id,
  endpoint_id: row.laneId,
  event_id: row.messageId,
  type: row.type,
  state: row.state,
  attempt: row.attempt,
  attempts_made: row.attemptsMade,
  next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
  delivered_at: row.deliveredAt?.toISOString() ?? null,
  secret_version: row.secretVersion,
  reason: row.reason,
  last_status: row.lastStatus,
  last_error_code: row.lastErrorCode,
  last_duration_ms: row.lastDurationMs,
  is_erased: row.isErased,
})

const headerOf = ([name, value]: readonly [string, string]) => ({ name, value })

function viewAttempt(row: AttemptRow): WebhookAttempt {
  const details = AttemptDetails.parse(row.details)
  return {
    n: row.n,
    trigger: row.trigger,
    started_at: row.startedAt.toISOString(),
    duration_ms: row.durationMs,
    dns_ms: details.dns_ms,
    connect_ms: details.connect_ms,
    tls_ms: details.tls_ms,
    remote_ip: details.remote_ip,
    status: row.status,
    error_code: row.errorCode,
    error_text: row.errorText,
    response_headers: details.response_headers.map(headerOf),
    response_body: details.response_body,
  }
}
