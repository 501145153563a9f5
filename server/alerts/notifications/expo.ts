import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import type { AttemptResult } from '../../platform/outbox/channel.ts'
import { askProvider, failed, failedWithoutAnswer, type ProviderAnswer } from './provider-request.ts'
import type { PushContent } from './push-message.ts'

/** Pushes through Expo: https://docs.expo.dev/push-notifications/sending-notifications/ */

/** Maximum number of messages in one request. */
export const MAX_MESSAGES = 100
export const MAX_RECEIPTS = 300

const LIFE_SECONDS = 86_400

export type Push = PushContent & { readonly token: string }

const Problem = z.object({
  status: z.literal('error'),
  message: z.string().default(''),
  details: z.looseObject({ error: z.string().optional() }).optional(),
})
const Ticket = z.union([z.object({ status: z.literal('ok'), id: z.string().min(1).max(100) }), Problem])
const Tickets = z.object({ data: z.array(Ticket) })

const Receipt = z.union([z.object({ status: z.literal('ok') }), Problem])
const Receipts = z.object({ data: z.record(z.string(), Receipt) })

const Refusal = z.object({
  errors: z
    .array(z.object({ code: z.string(), message: z.string().default(''), details: z.unknown().optional() }))
    .min(1),
})

/** By app, when a request names devices of several apps. */
const TokensByApp = z.record(z.string(), z.array(z.string()))

/** The app was removed, or the token never was one. */
const DEAD = 'DeviceNotRegistered'
/** Refused for what was sent: a retry would be refused too. */
const FINAL = new Set([DEAD, 'MessageTooBig', 'MismatchSenderId'])
/** Statuses that say nothing about a single message. */
const ABOUT_US = new Set([401, 403, 408, 425, 429])

type Expo = { readonly baseUrl: string }

/**
 * Sends at most {@link MAX_MESSAGES}. A request that is refused as a whole is divided, until what was wrong stands alone.
 * @returns one result each, in their order; a delivered one has `ticket_id`
 */
export async function sendToExpo(
  app: App,
  { baseUrl }: Expo,
  group: string,
  pushes: readonly Push[],
): Promise<AttemptResult[]> {
  const body = pushes.map(({ token, title, body, data }) => ({
    to: token,
    title,
    body,
    data,
    sound: 'default',
    priority: 'high',
    ttl: LIFE_SECONDS,
  }))
  let answer: ProviderAnswer
  try {
    answer = await askProvider(app, { url: `${baseUrl}/--/api/v2/push/send`, body, group })
  } catch (error) {
    const result = failedWithoutAnswer(error)
    return pushes.map(() => result)
  }
  const { status, json, durationMs } = answer
  const tickets = status === 200 ? Tickets.safeParse(json).data?.data : undefined
  if (tickets?.length === pushes.length) return tickets.map((ticket) => resultOf(ticket, durationMs))
  const isAboutContent = status >= 400 && status < 500 && !ABOUT_US.has(status)
  if (isAboutContent && pushes.length > 1) return sendParts(app, { baseUrl }, group, pushes, partsOf(pushes, json))
  const result = refused(answer, isAboutContent)
  return pushes.map(() => result)
}

function resultOf(ticket: z.infer<typeof Ticket>, durationMs: number): AttemptResult {
  if (ticket.status === 'error') return problemResult(ticket, durationMs)
  const details = { ticket_id: ticket.id }
  return { outcome: 'delivered', status: 200, errorCode: null, errorText: null, durationMs, details }
}

function problemResult({ message, details }: z.infer<typeof Problem>, durationMs: number): AttemptResult {
  const code = details?.error ?? 'EXPO_ERROR'
  return failed(code, withoutTokens(message), {
    status: 200,
    durationMs,
    ...(FINAL.has(code) ? { isFinal: true } : {}),
    details: code === DEAD ? { is_dead: true } : {},
  })
}

function refused({ status, json, retryAfterMs, durationMs }: ProviderAnswer, isFinal: boolean): AttemptResult {
  const [error] = Refusal.safeParse(json).data?.errors ?? []
  const text = error === undefined ? `Expo answered ${status}.` : withoutTokens(error.message)
  return failed(error?.code ?? `HTTP_${status}`, text, {
    status,
    durationMs,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(isFinal ? { isFinal: true } : {}),
  })
}

/** One part for each app where the answer names them; otherwise two halves. */
function partsOf(pushes: readonly Push[], json: unknown): (readonly Push[])[] {
  const [error] = Refusal.safeParse(json).data?.errors ?? []
  const named = error?.code === 'PUSH_TOO_MANY_EXPERIENCE_IDS' ? TokensByApp.safeParse(error.details).data : undefined
  const byApp = new Map(Object.entries(named ?? {}).flatMap(([name, tokens]) => tokens.map((token) => [token, name])))
  const groups = [...Map.groupBy(pushes, ({ token }) => byApp.get(token) ?? '').values()]
  if (groups.length > 1) return groups
  const half = Math.ceil(pushes.length / 2)
  return [pushes.slice(0, half), pushes.slice(half)]
}

async function sendParts(
  app: App,
  expo: Expo,
  group: string,
  pushes: readonly Push[],
  parts: readonly (readonly Push[])[],
): Promise<AttemptResult[]> {
  const results = new Map<Push, AttemptResult>()
  const answers = await Promise.all(parts.map((part) => sendToExpo(app, expo, group, part)))
  for (const [index, part] of parts.entries())
    for (const [at, push] of part.entries()) {
      const result = answers[index]?.[at]
      if (result !== undefined) results.set(push, result)
    }
  return pushes.map((push) => results.get(push) ?? failed('EXPO_ERROR', 'Expo gave no answer for this push.'))
}

/** Null for a push that arrived; `is_dead` as in attempts. */
export type ReceiptResult = { readonly code: string; readonly text: string; readonly isDead: boolean } | null

/**
 * Receipts of pushes, by ticket. Pushes that Expo does not know yet are missing.
 * @throws EgressError, NotSentError, or an error when the answer is no list of receipts
 */
export async function readReceipts(
  app: App,
  { baseUrl }: Expo,
  ticketIds: readonly string[],
): Promise<ReadonlyMap<string, ReceiptResult>> {
  const url = `${baseUrl}/--/api/v2/push/getReceipts`
  const { status, json } = await askProvider(app, { url, body: { ids: ticketIds }, group: 'push receipts' })
  const parsed = Receipts.safeParse(json)
  if (status !== 200 || !parsed.success) throw new Error(`Expo answered ${status} without receipts`)
  return new Map(
    Object.entries(parsed.data.data).map(([id, receipt]) => {
      if (receipt.status === 'ok') return [id, null]
      const code = receipt.details?.error ?? 'EXPO_ERROR'
      return [id, { code, text: withoutTokens(receipt.message), isDead: code === DEAD }]
    }),
  )
}

const withoutTokens = (text: string): string => text.replaceAll(/(Expo(?:nent)?PushToken)\[[^\]]*\]/g, '$1[…]')
