import { z } from 'zod'
import { nearestType, WEBHOOK_EVENTS, webhookEvent } from '#shared/webhook-events.ts'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, pageQuery, pageSchema, Rate, Timestamp } from '../../platform/kernel/page.api.ts'
import { headersProblem, MAX_HEADERS } from '#shared/webhook-headers.ts'

/** Endpoints of outbound webhooks, and their secrets. */

export const MAX_ENDPOINTS_PER_APPLICATION = 20
const MAX_OVERLAP_SECONDS = 7 * 86_400

const Header = z.object({
  name: z.string(),
  value: z.string().describe('Masked.'),
})

export const WebhookEndpoint = z.object({
  id: Id,
  app_id: z.string(),
  url: z.string(),
  description: z.string(),
  events: z.array(z.string()).describe('Event types that it receives; empty means all.'),
  secret_prefix: z.string().describe('The first 12 characters of the secret that signs now.'),
  state: z.enum(['active', 'paused', 'auto_paused']),
  last_status: z
    .number()
    .int()
    .nullable()
    .describe(
      'Status of the newest attempt; null before the first, and after a timeout or an error of the connection.',
    ),
  last_attempt_at: Timestamp.nullable(),
  needs_attention: z.boolean().describe('The newest attempt did not get a status from 200 to 299.'),
  ordering: z.enum(['none', 'strict']),
  max_per_second: z.number().int().nullable(),
  auto_pause: z.boolean(),
  standard_headers: z.boolean(),
  headers: z.array(Header).describe('Headers of your own that every request has.'),
  headers_unreadable: z
    .boolean()
    .describe(
      'The stored headers cannot be opened with the keys of this installation: nothing is sent. Set them again.',
    ),
  overlap_ends_at: Timestamp.nullable().describe(
    'Until then the secret before this one signs too; null when only this one signs.',
  ),
  tls_error: z
    .object({ code: z.string(), text: z.string(), at: Timestamp, delivery_id: z.string() })
    .nullable()
    .describe('The newest error of TLS, word for word; null after a later success.'),
  days: z
    .array(z.object({ day: z.iso.date(), delivered: z.number().int(), failed: z.number().int() }))
    .describe('Attempts of the last 30 days, in UTC, oldest first.'),
  success_rate: Rate.nullable().describe('Share of these attempts that succeeded, 0 to 1; null without attempts.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
z.globalRegistry.add(WebhookEndpoint, { id: 'Webhook' })
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>

const secret = z
  .string()
  .describe('Shown only this once. The whole text, prefix included, is the key of the signature.')
export const EndpointWithSecret = WebhookEndpoint.extend({ secret })
z.globalRegistry.add(EndpointWithSecret, { id: 'WebhookWithSecret' })
export type EndpointWithSecret = z.infer<typeof EndpointWithSecret>

const url = z.string({ error: 'url must be a string.' }).min(1, { error: 'url must not be empty.' })
const description = z
  .string({ error: 'description must be a string.' })
  .trim()
  .max(200, { error: 'description must be at most 200 characters.' })
const EVENTS = { error: 'events must be a list of event types; an empty list means all.' }
const events = z
  .array(z.string(EVENTS).max(100, EVENTS), EVENTS)
  .max(2 * WEBHOOK_EVENTS.length, { error: 'events names more types than there are.' })
  .superRefine((types, context) => {
    const unknown = types.find((type) => webhookEvent(type) === undefined)
    if (unknown === undefined) return
    const message = `events contains ${JSON.stringify(unknown)}, which is not an event type. The closest is ${nearestType(unknown)}.`
    context.addIssue({ code: 'custom', message })
  })
  .transform((types) => [...new Set(types)])
const ordering = z.enum(['none', 'strict'], { error: 'ordering must be none or strict.' })
const RATE = { error: 'max_per_second must be a whole number from 1 to 1,000, or null for no limit.' }
const maxPerSecond = z.number(RATE).int(RATE).min(1, RATE).max(1_000, RATE).nullable()
const flag = (name: string) => z.boolean({ error: `${name} must be true or false.` })

const HEADERS = { error: `headers must be a list of at most ${MAX_HEADERS} objects with name and value.` }
const headerName = z.string({ error: 'headers must have a name, which is a string.' })
const headerValue = z.string({ error: 'headers must have a value, which is a string.' })
const newHeaders = z
  .array(z.strictObject({ name: headerName, value: headerValue }, HEADERS), HEADERS)
  .superRefine(refuseHeaders)
const changedHeaders = z
  .array(
    z.strictObject(
      { name: headerName, value: headerValue.optional().describe('Absent keeps the stored value.') },
      HEADERS,
    ),
    HEADERS,
  )
  .superRefine(refuseHeaders)

function refuseHeaders(
  headers: readonly { readonly name: string; readonly value?: string | undefined }[],
  context: z.core.$RefinementCtx,
): void {
  const problem = headersProblem(headers)
  if (problem !== null) context.addIssue({ code: 'custom', message: problem })
}

const endpointParams = z.object({ endpointId: Id })

export const webhookRoutes = routes({
  listWebhooks: {
    method: 'GET',
    path: '/api/webhooks',
    tag: 'Webhooks',
    summary: 'Endpoints that receive events of the organisation, oldest first',
    permission: 'webhooks.read',
    query: z.strictObject(pageQuery(25)),
    response: pageSchema(WebhookEndpoint),
  },
  createWebhook: {
    method: 'POST',
    path: '/api/webhooks',
    tag: 'Webhooks',
    summary: 'Register an endpoint',
    description: `The answer holds the secret, this once. An application can have ${MAX_ENDPOINTS_PER_APPLICATION} endpoints, also several with the same URL.`,
    permission: 'webhooks.write',
    status: 201,
    body: z.strictObject({
      url,
      events: events.default([]).describe('Event types to receive; an empty list means all.'),
      app_id: z
        .string({ error: 'app_id must be the id of an application.' })
        .optional()
        .describe('An application of the organisation; by default its default application.'),
      description: description.default(''),
      ordering: ordering
        .default('none')
        .describe('strict: a delivery waits until the one before is delivered or finally failed.'),
      max_per_second: maxPerSecond
        .default(null)
        .describe('First attempts in a second, at most; null: no limit. Retries are not delayed.'),
      auto_pause: flag('auto_pause')
        .default(false)
        .describe('Pauses the endpoint after 120 hours without a success and at least 20 failed attempts.'),
      standard_headers: flag('standard_headers')
        .default(false)
        .describe('Adds webhook-id, webhook-timestamp and webhook-signature, as Standard Webhooks libraries expect.'),
      headers: newHeaders.nullable().default(null).describe('Headers of your own for every request; null for none.'),
    }),
    response: EndpointWithSecret,
    refusals: [409],
  },
  readWebhook: {
    method: 'GET',
    path: '/api/webhooks/:endpointId',
    tag: 'Webhooks',
    summary: 'One endpoint',
    permission: 'webhooks.read',
    params: endpointParams,
    response: WebhookEndpoint,
    refusals: [404],
  },
  updateWebhook: {
    method: 'PATCH',
    path: '/api/webhooks/:endpointId',
    tag: 'Webhooks',
    summary: 'Change, pause or resume an endpoint',
    description:
      'Absent fields stay as they are. The filter decides when an event happens: a change of it affects later events only. A paused endpoint keeps its deliveries, also tests and replays, and continues when it is resumed.',
    permission: 'webhooks.write',
    params: endpointParams,
    body: z
      .strictObject({
        url: url.optional(),
        events: events.optional(),
        description: description.optional(),
        paused: flag('paused').optional(),
        ordering: ordering.optional(),
        max_per_second: maxPerSecond.optional(),
        auto_pause: flag('auto_pause').optional(),
        standard_headers: flag('standard_headers').optional(),
        headers: changedHeaders
          .nullable()
          .optional()
          .describe(
            'Replaces all; null or an empty list removes them. Required, with every value, when the URL moves to another origin and headers are stored.',
          ),
      })
      .refine((body) => Object.values(body).some((value) => value !== undefined), {
        error:
          'Send at least one of url, events, description, paused, ordering, max_per_second, auto_pause, standard_headers, headers.',
      }),
    response: WebhookEndpoint,
    refusals: [404],
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/api/webhooks/:endpointId',
    tag: 'Webhooks',
    summary: 'Delete an endpoint',
    description:
      'Its pending deliveries end as failed with the reason endpoint_deleted. Deleting it again changes nothing.',
    permission: 'webhooks.write',
    status: 204,
    params: endpointParams,
    refusals: [404],
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/api/webhooks/:endpointId/rotate-secret',
    tag: 'Webhooks',
    summary: 'Create a new secret',
    description:
      'The answer holds the new secret, this once. During the overlap the old secret signs as well, in a second v1 of the signature. Retries of earlier deliveries keep the secret of their creation.',
    permission: 'webhooks.write',
    params: endpointParams,
    body: z
      .strictObject({
        overlap_seconds: z
          .number({ error: 'overlap_seconds must be a whole number from 0 to 604,800.' })
          .int({ error: 'overlap_seconds must be a whole number from 0 to 604,800.' })
          .min(0, { error: 'overlap_seconds must be a whole number from 0 to 604,800.' })
          .max(MAX_OVERLAP_SECONDS, { error: 'overlap_seconds must be a whole number from 0 to 604,800.' })
          .default(0)
          .describe('Seconds for which the old secret signs as well.'),
        force: flag('force').default(false).describe('Rotates also during an overlap, which ends.'),
      })
      .optional(),
    response: EndpointWithSecret,
    refusals: [404, 409],
  },
})
