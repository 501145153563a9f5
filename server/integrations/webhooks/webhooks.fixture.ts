import type { Client } from '#test/kit/client.ts'
import {
  type Answer,
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '#test/kit/receiver.ts'
import { waitFor } from '#test/kit/wait.ts'
import { WebhookDelivery, WebhookDeliveryDetail } from './deliveries.api.ts'
import { EndpointWithSecret, WebhookEndpoint } from './webhooks.api.ts'

/** A receiver that is closed with the test's app. */
export async function aReceiver(
  t: { onClose(work: () => Promise<void>): void },
  respond: (request: ReceivedRequest) => Answer | Promise<Answer> = () => 200,
  options: Omit<ReceiverOptions, 'respond'> = {},
): Promise<Receiver> {
  const receiver = await startReceiver({ ...options, respond })
  t.onClose(() => receiver.close())
  return receiver
}

export async function anEndpoint(
  owner: Client,
  url: string,
  fields: Record<string, unknown> = {},
): Promise<EndpointWithSecret> {
  const { status, body, text } = await owner.post('/api/webhooks', { url: `${url}/hook?a=1`, ...fields })
  if (status !== 201) throw new Error(`endpoint: ${status} ${text}`)
  return EndpointWithSecret.parse(body)
}

export const readEndpoint = async (owner: Client, id: string): Promise<WebhookEndpoint> =>
  WebhookEndpoint.strict().parse((await owner.get(`/api/webhooks/${id}`)).body)

/** Sends a test event. @returns id of its delivery */
export async function testDelivery(owner: Client, endpointId: string): Promise<string> {
  const { status, body, text } = await owner.post(`/api/webhooks/${endpointId}/test`)
  if (status !== 200) throw new Error(`test event: ${status} ${text}`)
  return WebhookDelivery.strict().parse(body).id
}

export const readDelivery = async (owner: Client, id: string): Promise<WebhookDeliveryDetail> =>
  WebhookDeliveryDetail.strict().parse((await owner.get(`/api/webhook-deliveries/${id}`)).body)

/** The delivery, when no attempt is under way or planned. */
export const ended = (owner: Client, id: string, attempts = 1): Promise<WebhookDeliveryDetail> =>
  waitFor(`the end of ${id}`, async () => {
    const one = await readDelivery(owner, id)
    const isEnded = (one.state === 'delivered' || one.state === 'failed') && one.next_attempt_at === null
    return isEnded && one.attempts.length >= attempts && one
  })

/** The delivery after so many attempts; further ones may be planned. */
export const attempted = (owner: Client, id: string, attempts: number): Promise<WebhookDeliveryDetail> =>
  waitFor(`${attempts} attempts of ${id}`, async () => {
    const one = await readDelivery(owner, id)
    return one.attempts.length >= attempts && one
  })

export const headersOf = (request: ReceivedRequest | undefined): ReceivedRequest['headers'] => request?.headers ?? {}

/** Entries of the audit log, newest first. */
export async function auditOf(owner: Client, action: string): Promise<{ meta: Record<string, unknown> }[]> {
  const { items } = (await owner.get(`/api/audit-log?action=${action}`)).as<{
    items: { meta: Record<string, unknown> }[]
  }>()
  return items
}
