import { z } from 'zod'
import { nearestType, webhookEvent } from '#shared/webhook-events.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { isPrefixedId } from '../../platform/kernel/ids.ts'
import { Id, Milliseconds, pageQuery, pageSchema, Rate, timeInput, Timestamp } from '../../platform/kernel/page.api.ts'

/** Deliveries of outbound webhooks: their log, tests and replays. */

export const MAX_REPLAYED = 100
export const MAX_RECOVERED = 10_000

const DeliveryState = z.enum(['pending', 'in_flight', 'delivered', 'failed'], {
  error: 'state must be one of pending, in_flight, delivered, failed.',
})

export const WebhookDelivery = z.object({
  id: z.string(),
  endpoint_id: Id,
  event_id: z.string().describe('The id of the body, the same for every endpoint and attempt.'),
  type: z.string(),
  state: DeliveryState.describe('A failed delivery with next_attempt_at is tried again.'),
  attempt: z.number().int().describe('Attempts of the schedule that have ended, at most 6. Replays do not count.'),
  attempts_made: z.number().int().describe('All attempts that have ended, with replays.'),
  next_attempt_at: Timestamp.nullable(),
  created_at: Timestamp,
  delivered_at: Timestamp.nullable(),
  secret_version: z
    .number()
    .int()
    .nullable()
    .describe('The version of the secret that signs attempts of the schedule; null: that of the endpoint does.'),
  reason: z
    .string()
    .nullable()
    .describe('Why it ended without an attempt, such as endpoint_deleted; null for every other delivery.'),
  last_status: z.number().int().nullable(),
  last_error_code: z.string().nullable(),
  last_duration_ms: z.number().int().nullable(),
  is_erased: z.boolean().describe('Its data was erased; it cannot be replayed.'),
})
z.globalRegistry.add(WebhookDelivery, { id: 'WebhookDelivery' })
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

const SentHeader = z.object({ name: z.string(), value: z.string() })

export const WebhookAttempt = z.object({
  n: z.number().int().describe('Counts all attempts of the delivery, from 1.'),
  trigger: z.enum(['schedule', 'replay']),
  started_at: Timestamp,
  duration_ms: z.number().int(),
  dns_ms: Milliseconds.nullable(),
  connect_ms: Milliseconds.nullable(),
  tls_ms: Milliseconds.nullable(),
  remote_ip: z.string().nullable(),
  status: z.number().int().nullable(),
  error_code: z.string().nullable(),
  error_text: z.string().nullable(),
  response_headers: z.array(SentHeader).describe('At most 4 KiB.'),
  response_body: z.string().nullable().describe('The first 16 KiB as text; null without an answer.'),
})
z.globalRegistry.add(WebhookAttempt, { id: 'WebhookAttempt' })
export type WebhookAttempt = z.infer<typeof WebhookAttempt>

export const WebhookDeliveryDetail = WebhookDelivery.extend({
  body: z.string().nullable().describe('As it is sent, byte for byte; null once erased.'),
  request_headers: z
    .array(SentHeader)
    .describe('Of the newest attempt, with its signature; values of your own headers are masked.'),
  schedule: z
    .array(z.object({ n: z.number().int(), delay_seconds: Rate }))
    .describe('Attempts of the schedule: each waits this long after the end of the one before.'),
  attempts: z.array(WebhookAttempt),
})
z.globalRegistry.add(WebhookDeliveryDetail, { id: 'WebhookDeliveryDetail' })
export type WebhookDeliveryDetail = z.infer<typeof WebhookDeliveryDetail>

const ReplayResult = z.object({
  id: z.string(),
  result: z
    .enum(['accepted', 'accepted_in_flight', 'erased', 'endpoint_deleted', 'not_found'])
    .describe('accepted_in_flight: it is sent as soon as the attempt in flight has ended.'),
})

export type ReplayResult = z.infer<typeof ReplayResult>

const endpointParams = z.object({ endpointId: Id })
const DeliveryId = z.string().refine((text) => isPrefixedId('d', text), { error: 'must be the id of a delivery.' })
const deliveryParams = z.object({ deliveryId: DeliveryId })
const flag = (name: string) => z.boolean({ error: `${name} must be true or false.` })
const RETRIES = 'When the replay fails, a new schedule of attempts begins.'

export const deliveryRoutes = routes({
  testWebhook: {
    method: 'POST',
    path: '/api/webhooks/:endpointId/test',
    tag: 'Webhooks',
    summary: 'Send a test event to an endpoint',
    description:
      'Sends an event of the type webhook.test to this endpoint only; its filter does not matter. While the endpoint is paused it waits until that is resumed.',
    permission: 'webhooks.write',
    params: endpointParams,
    response: WebhookDelivery,
    refusals: [404],
  },
  recoverWebhook: {
    method: 'POST',
    path: '/api/webhooks/:endpointId/recover',
    tag: 'Webhooks',
    summary: 'Replay all failed deliveries of a time range',
    description: `Asks for a replay of every failed delivery that was created in the range and never delivered, the newest first, about ${MAX_RECOVERED} in one call. ${RETRIES}`,
    permission: 'webhooks.write',
    params: endpointParams,
    body: z.strictObject({ since: timeInput('since'), until: timeInput('until').optional() }),
    response: z.object({
      count: z.number().int().describe('Deliveries that will be sent again.'),
      has_more: z.boolean().describe('There are more in this range: call again.'),
    }),
    refusals: [404],
  },
  listWebhookDeliveries: {
    method: 'GET',
    path: '/api/webhooks/:endpointId/deliveries',
    tag: 'Webhooks',
    summary: 'Deliveries to an endpoint, newest first',
    description: 'Answers for a deleted endpoint too, with what is left of its log.',
    permission: 'webhooks.read',
    params: endpointParams,
    query: z.strictObject({
      ...pageQuery(25),
      state: DeliveryState.optional(),
      type: z
        .string()
        .refine((type) => webhookEvent(type) !== undefined, {
          error: ({ input }) =>
            `type is not an event type. The closest is ${nearestType(String(input).slice(0, 100))}.`,
        })
        .optional(),
      from: timeInput('from').optional().describe('Created at this time or later.'),
      to: timeInput('to').optional().describe('Created before this time.'),
      retrying: z
        .enum(['true', 'false'], { error: 'retrying must be true or false.' })
        .optional()
        .describe('true: failed, and tried again; false: all others.'),
    }),
    response: pageSchema(WebhookDelivery),
    refusals: [404],
  },
  readWebhookDelivery: {
    method: 'GET',
    path: '/api/webhook-deliveries/:deliveryId',
    tag: 'Webhooks',
    summary: 'One delivery with its body and all attempts',
    permission: 'webhooks.read',
    params: deliveryParams,
    response: WebhookDeliveryDetail,
    refusals: [404],
  },
  replayWebhookDelivery: {
    method: 'POST',
    path: '/api/webhook-deliveries/:deliveryId/replay',
    tag: 'Webhooks',
    summary: 'Send a delivery again',
    description:
      'Sends the same body immediately, signed with the current secret and time; 202 while an attempt is in flight, and then as soon as it has ended. A replay that succeeds ends the schedule. While the endpoint is paused it waits until that is resumed.',
    permission: 'webhooks.write',
    otherStatus: 202,
    params: deliveryParams,
    body: z.strictObject({ retries: flag('retries').default(false).describe(RETRIES) }).optional(),
    response: WebhookDelivery,
    refusals: [404, 409],
  },
  replayWebhookDeliveries: {
    method: 'POST',
    path: '/api/webhook-deliveries/replay',
    tag: 'Webhooks',
    summary: 'Send several deliveries again',
    permission: 'webhooks.write',
    body: z.strictObject({
      ids: z
        .array(DeliveryId, { error: 'ids must be a list of ids of deliveries.' })
        .min(1, { error: 'ids must not be empty.' })
        .max(MAX_REPLAYED, { error: `ids must name at most ${MAX_REPLAYED} deliveries.` }),
      retries: flag('retries').default(false).describe(RETRIES),
    }),
    response: z.object({
      items: z.array(ReplayResult).describe('In the order of ids, each once; one for each, so there is no total.'),
    }),
  },
})
