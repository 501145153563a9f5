import { z } from 'zod'
import { ACTION_TYPES, type ActionType } from '#shared/alert-rules.ts'
import type { ActionConfig } from '../rules/action-config.ts'
import type { AlertMessage } from '../rules/alert-message.ts'
import type { App } from '../../platform/context/app.ts'
import type { EgressResponse } from '../../platform/context/egress.ts'
import type { AttemptResult } from '../../platform/outbox/channel.ts'
import { confidentialPattern, withoutEcho } from '../../platform/requests/mask-echo.ts'
import { sendRequest } from '../../platform/requests/send-request.ts'
import { requestHeaders } from '../../platform/requests/webhook-request.ts'
import { oneLine } from './alert-text.ts'
import { renderChat } from './render-chat.ts'
import { renderDiscord } from './render-discord.ts'
import { renderMattermost } from './render-mattermost.ts'
import { parseTopicUrl, renderNtfy } from './render-ntfy.ts'
import { renderPager } from './render-pager.ts'
import { renderTeamchat } from './render-teamchat.ts'
import { renderTelegram } from './render-telegram.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/** Types of actions that have a channel. */
export type SentType = Exclude<ActionType, 'email'>
export const SENT_TYPES = ACTION_TYPES.filter((type): type is SentType => type !== 'email')

/** One message to one action. */
export type AlertSending = {
  readonly type: SentType
  readonly config: ActionConfig
  /** With the state that the alert has now. */
  readonly message: AlertMessage
  readonly subject: string
  /** The message as it was written: what a webhook gets. */
  readonly body: Buffer
  readonly deliveryId: string
  /** Whose connections are used: the action. */
  readonly group: string
}

/** Makes one attempt. @throws NotSentError when the process has no connection left */
export async function sendAlert(app: App, sending: AlertSending, signal: AbortSignal): Promise<AttemptResult> {
  const { type, config, group } = sending
  const request = requestOf(app, sending)
  if (request === null) return UNREADABLE
  const confidential = confidentialPattern(secretsOf(config), [])
  return sendRequest(
    app,
    { ...request, group, loggedHeaders: Object.entries(request.headers), confidential },
    signal,
    (answer) => refusalOf(type, answer, confidential),
  )
}

/** An attempt that ends before a request. */
export const UNREADABLE: AttemptResult = {
  outcome: 'failed',
  status: null,
  errorCode: 'secret_unreadable',
  errorText: 'The address or key of the action cannot be read. Set it again.',
  durationMs: 0,
  details: {},
}

type Request = { readonly url: string; readonly headers: Record<string, string>; readonly body: Buffer }

/** Null when the action lacks what it needs. */
function requestOf(app: App, { type, config, message, subject, body, deliveryId }: AlertSending): Request | null {
  const { version, pagerBaseUrl, telegramBaseUrl } = app.config
  const { webhook_url: url, secret, routing_key: routingKey, bot_token: botToken, chat_id: chatId } = config
  const json = (to: string, content: unknown): Request => ({
    url: to,
    headers: { 'Content-Type': 'application/json', 'User-Agent': `faultline-alerts/${version}` },
    body: Buffer.from(JSON.stringify(content)),
  })
  if (type === 'pager')
    return routingKey === undefined
      ? null
      : json(`${pagerBaseUrl}/v2/enqueue`, renderPager(message, subject, routingKey))
  if (type === 'telegram')
    return botToken === undefined || chatId === undefined
      ? null
      : json(`${telegramBaseUrl}/bot${botToken}/sendMessage`, renderTelegram(message, chatId))
  if (url === undefined) return null
  if (type === 'discord') return json(withAnswer(url), renderDiscord(message))
  if (type === 'mattermost') return json(url, renderMattermost(message))
  if (type === 'ntfy') {
    const topic = parseTopicUrl(url)
    if (topic === null) return null
    const request = json(topic.root, renderNtfy(message, topic.topic))
    const { access_token: token } = config
    return token === undefined
      ? request
      : { ...request, headers: { ...request.headers, Authorization: `Bearer ${token}` } }
  }
  if (type === 'chat') return json(url, renderChat(message))
  if (type === 'teamchat') return json(url, renderTeamchat(message))
  if (secret === undefined) return null
  const headers = requestHeaders({
    eventId: message.id,
    deliveryId,
    type: message.type,
    body,
    secrets: [secret],
    isStandard: false,
    ownHeaders: [],
    version,
    at: app.clock.now(),
  })
  return { url, headers, body }
}

/** Discord answers with the message once it is in the channel, and otherwise before it has looked at it. */
function withAnswer(url: string): string {
  const waiting = new URL(url)
  waiting.searchParams.set('wait', 'true')
  return waiting.href
}

/** Shorter parts of an address occur by chance. */
const MIN_SECRET_PART = 12

/** Secrets that an answer may repeat and the log must not keep. The path of a chat's address is its secret. */
function secretsOf(config: ActionConfig): string[] {
  const { webhook_url: url, secret, routing_key: routingKey, bot_token: botToken, access_token: accessToken } = config
  const given = [secret, routingKey, botToken, botToken?.split(':')[1], accessToken].flatMap((one) => one ?? [])
  if (url === undefined) return given
  const { pathname, search, searchParams } = new URL(url)
  const rest = pathname + search
  const parts = [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= MIN_SECRET_PART)
  return [...given, ...(rest === '/' ? [] : [url, rest]), ...parts]
}

const MAX_ANSWER_SHOWN_BYTES = 300
const MAX_WAIT_MS = 3_600_000
/** Statuses of 4xx that say "later". */
const LATER = new Set([408, 409, 425, 429])

/** Whether to try again after a refusal. Webhooks are attempted again after every refusal, as all signed ones are. */
function refusalOf(type: SentType, answer: EgressResponse, confidential: RegExp | null): Partial<AttemptResult> {
  const { status, body, headers } = answer
  const isFinal = type !== 'webhook' && status >= 400 && status < 500 && !LATER.has(status)
  const asked = headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1] ?? waitInBody(type, body)
  const retryAfterMs = status === 429 || status === 503 ? waitOf(asked) : null
  const text = oneLine(withoutEcho(body, MAX_ANSWER_SHOWN_BYTES, confidential).toString(), MAX_ANSWER_SHOWN_BYTES)
  return {
    errorText: `It answered ${status}${text === '' ? '.' : `: ${text}`}`,
    ...(isFinal ? { isFinal } : {}),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  }
}

/** The wait that `Retry-After` asks for, in seconds, with fractions by Discord; chats and pagers send no dates. At most an hour. */
function waitOf(asked: string | undefined): number | null {
  if (asked === undefined || !/^\d{1,9}(?:\.\d{1,6})?$/.test(asked)) return null
  return Math.min(MAX_WAIT_MS, Math.ceil(Number(asked) * 1_000))
}

const Waits = z.object({ parameters: z.object({ retry_after: z.number() }) })

/** Telegram says in the body how long to wait. */
function waitInBody(type: SentType, body: Buffer): string | undefined {
  if (type !== 'telegram') return undefined
  const parsed = Waits.safeParse(readJsonText(body))
  return parsed.success ? String(Math.ceil(parsed.data.parameters.retry_after)) : undefined
}
