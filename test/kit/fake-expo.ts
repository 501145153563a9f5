import { z } from 'zod'
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts'

/** The push service of Expo as its documentation describes it: tickets, receipts, errors of requests. */

const Message = z.strictObject({
  to: z.string().regex(/^Expo(nent)?PushToken\[[^\]]+\]$/),
  title: z.string().optional(),
  body: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  sound: z.literal('default').nullable().optional(),
  ttl: z.int().min(0).optional(),
  priority: z.enum(['default', 'normal', 'high']).optional(),
  channelId: z.string().optional(),
})
export type ExpoMessage = z.infer<typeof Message>

const MAX_PAYLOAD_BYTES = 4_096

/** The fate of pushes to a token; `app` is the app that it belongs to. */
export type ExpoToken = {
  readonly app?: string
  readonly ticket?: string
  readonly receipt?: string
  /** Every request that names it is invalid. */
  readonly isMalformed?: true
}

export type FakeExpo = {
  readonly url: string
  /** Pushes that got a ticket, in order of arrival. */
  readonly taken: ExpoMessage[]
  /** Number of messages of each request to send. */
  readonly batches: number[]
  /** Number of ids of each request for receipts. */
  readonly receiptRequests: number[]
  readonly tokens: Map<string, ExpoToken>
  /** Receipts are there; by default they are at once. */
  hasReceipts: boolean
  /** Answers all requests so, instead of the service; undefined for the service again. */
  fault: Answer | undefined
  readonly receiver: Receiver
}

export async function fakeExpo(t: { onClose(work: () => Promise<void>): void }): Promise<FakeExpo> {
  const receipts = new Map<string, unknown>()
  let tickets = 0

  const json = (status: number, body: unknown): Answer => ({
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  })
  const refuse = (status: number, code: string, message: string, details?: unknown): Answer =>
    json(status, { errors: [{ code, message, ...(details === undefined ? {} : { details }), isTransient: false }] })

  const ticketFor = (message: ExpoMessage): unknown => {
    const { ticket, receipt } = expo.tokens.get(message.to) ?? {}
    const payload = { title: message.title, body: message.body, data: message.data }
    const error = Buffer.byteLength(JSON.stringify(payload)) > MAX_PAYLOAD_BYTES ? 'MessageTooBig' : ticket
    if (error !== undefined)
      return {
        status: 'error',
        message: `"${message.to}" is not a registered push notification recipient`,
        details: { error, expoPushToken: message.to },
      }
    expo.taken.push(message)
    const id = `ticket-${++tickets}`
    receipts.set(
      id,
      receipt === undefined
        ? { status: 'ok' }
        : { status: 'error', message: `The device of ${message.to} failed.`, details: { error: receipt } },
    )
    return { status: 'ok', id }
  }

  const send = (body: unknown): Answer => {
    const given: unknown[] = Array.isArray(body) ? body : [body]
    expo.batches.push(given.length)
    if (given.length > 100)
      return refuse(400, 'PUSH_TOO_MANY_NOTIFICATIONS', 'A request can have at most 100 notifications.')
    const messages = z.array(Message).safeParse(given)
    if (!messages.success || messages.data.some(({ to }) => expo.tokens.get(to)?.isMalformed === true))
      return refuse(400, 'VALIDATION_ERROR', 'The request is invalid.')
    const byApp = Map.groupBy(messages.data, ({ to }) => expo.tokens.get(to)?.app ?? '@acme/shop')
    if (byApp.size > 1)
      return refuse(
        400,
        'PUSH_TOO_MANY_EXPERIENCE_IDS',
        'All push notification messages in the same request must be for the same project.',
        Object.fromEntries([...byApp].map(([app, ofApp]) => [app, ofApp.map(({ to }) => to)])),
      )
    return json(200, { data: messages.data.map(ticketFor) })
  }

  const answer = (request: ReceivedRequest): Answer => {
    if (expo.fault !== undefined) return expo.fault
    if (request.method !== 'POST' || request.headers['content-type'] !== 'application/json') return 415
    const body: unknown = JSON.parse(request.body.toString())
    if (request.path === '/--/api/v2/push/send') return send(body)
    if (request.path !== '/--/api/v2/push/getReceipts') return 404
    const { ids } = z.strictObject({ ids: z.array(z.string()).max(1_000) }).parse(body)
    expo.receiptRequests.push(ids.length)
    const known = expo.hasReceipts ? ids.filter((id) => receipts.has(id)) : []
    return json(200, { data: Object.fromEntries(known.map((id) => [id, receipts.get(id)])) })
  }

  const receiver = await startReceiver({ respond: answer })
  t.onClose(() => receiver.close())
  const expo: FakeExpo = {
    url: receiver.url,
    taken: [],
    batches: [],
    receiptRequests: [],
    tokens: new Map(),
    hasReceipts: true,
    fault: undefined,
    receiver,
  }
  return expo
}
