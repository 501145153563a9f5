import { z } from 'zod'
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts'

/**
 * Discord webhooks, incoming webhooks of Mattermost, Telegram's Bot API and ntfy: each takes what its documentation
 * describes, keeps its limits, and answers errors in its form.
 */

const web = z.url({ protocol: /^https?$/ })

/** https://docs.discord.com/developers/resources/message#embed-object-embed-limits, in UTF-16 units. */
const DiscordPost = z.strictObject({
  content: z.string().max(2_000).optional(),
  embeds: z
    .array(
      z
        .strictObject({
          title: z.string().min(1).max(256).optional(),
          url: web.optional(),
          description: z.string().max(4_096).optional(),
          color: z.int().min(0).max(0xff_ff_ff).optional(),
          fields: z
            .array(
              z.strictObject({
                name: z.string().min(1).max(256),
                value: z.string().min(1).max(1_024),
                inline: z.boolean().optional(),
              }),
            )
            .max(25)
            .optional(),
          footer: z.strictObject({ text: z.string().max(2_048) }).optional(),
          timestamp: z.iso.datetime().optional(),
        })
        .refine(
          ({ title = '', description = '', fields = [], footer }) =>
            title.length +
              description.length +
              (footer?.text.length ?? 0) +
              fields.reduce((sum, { name, value }) => sum + name.length + value.length, 0) <=
            6_000,
          'the embed exceeds 6,000 characters',
        ),
    )
    .max(10)
    .optional(),
  allowed_mentions: z.strictObject({ parse: z.array(z.enum(['roles', 'users', 'everyone'])) }),
})
export type DiscordPost = z.infer<typeof DiscordPost>

/** https://developers.mattermost.com/integrate/reference/message-attachments/ */
const MattermostPost = z.strictObject({
  text: z.string().max(16_383).optional(),
  attachments: z
    .array(
      z.strictObject({
        fallback: z.string(),
        color: z.string().regex(/^#[0-9a-f]{6}$/),
        title: z.string(),
        title_link: web,
        text: z.string().max(16_383),
        fields: z.array(z.strictObject({ title: z.string(), value: z.string(), short: z.boolean() })),
        footer: z.string(),
      }),
    )
    .min(1),
})
export type MattermostPost = z.infer<typeof MattermostPost>

/** https://core.telegram.org/bots/api#sendmessage */
const TelegramPost = z.strictObject({
  chat_id: z.string(),
  text: z.string().min(1),
  parse_mode: z.literal('HTML'),
  link_preview_options: z.strictObject({ is_disabled: z.boolean() }),
  disable_notification: z.boolean(),
})
export type TelegramPost = z.infer<typeof TelegramPost>

/** https://docs.ntfy.sh/publish/#publish-as-json */
const NtfyPost = z.strictObject({
  topic: z.string().regex(/^[-_A-Za-z0-9]{1,64}$/),
  title: z.string().optional(),
  message: z.string().refine((text) => Buffer.byteLength(text) <= 4_096, 'message is longer than 4,096 bytes'),
  priority: z.int().min(1).max(5).optional(),
  tags: z.array(z.string()).optional(),
  click: web.optional(),
  actions: z
    .array(z.strictObject({ action: z.literal('view'), label: z.string(), url: web }))
    .max(3)
    .optional(),
})
export type NtfyPost = z.infer<typeof NtfyPost>

const parseWith =
  <T>(schema: z.ZodType<T>) =>
  (body: Buffer): T | string => {
    try {
      const parsed = schema.safeParse(JSON.parse(body.toString()))
      return parsed.success ? parsed.data : parsed.error.message
    } catch {
      return 'not JSON'
    }
  }

export const parseDiscord = parseWith(DiscordPost)
export const parseMattermost = parseWith(MattermostPost)
export const parseNtfy = parseWith(NtfyPost)

/** HTML of Telegram: tags balance, only those that it knows, 4,096 characters once entities are read. */
export function parseTelegram(body: Buffer): TelegramPost | string {
  const parsed = parseWith(TelegramPost)(body)
  if (typeof parsed === 'string') return parsed
  const open: string[] = []
  for (const [, close, name = ''] of parsed.text.matchAll(/<(\/?)([a-z-]+)(?: href="[^"<>]*")?>/g))
    if (close === '') open.push(name)
    else if (open.pop() !== name) return `can't parse entities: unexpected end tag ${name}`
  const plain = readTelegram(parsed.text)
  if (open.length > 0 || /[<>]/.test(parsed.text.replaceAll(/<\/?(?:b|a)(?: href="[^"<>]*")?>/g, '')))
    return "can't parse entities"
  return plain.length > 4_096 ? 'message is too long' : parsed
}

/** The text that a reader sees. */
export const readTelegram = (html: string): string =>
  html
    .replaceAll(/<\/?(?:b|a)(?: href="[^"<>]*")?>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

export type VendorReceiver<T> = { readonly url: string; readonly posts: T[]; readonly receiver: Receiver }

/** @param fault what to answer instead; undefined where the vendor answers itself */
type Fault = (request: ReceivedRequest) => Answer | undefined

async function start<T>(
  fault: Fault,
  take: (request: ReceivedRequest, posts: T[]) => Answer,
): Promise<VendorReceiver<T>> {
  const posts: T[] = []
  const receiver = await startReceiver({ respond: (request) => fault(request) ?? take(request, posts) })
  return { url: receiver.url, posts, receiver }
}

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const DISCORD_PATH = '/api/webhooks/1409/canary-discord-token-2281'

export const startDiscord = (fault: Fault = () => undefined): Promise<VendorReceiver<DiscordPost>> =>
  start(fault, (request, posts) => {
    const [path, query] = request.path.split('?')
    if (path !== DISCORD_PATH) return json(404, { message: 'Unknown Webhook', code: 10_015 })
    const post = parseDiscord(request.body)
    if (typeof post === 'string') return json(400, { message: 'Invalid Form Body', code: 50_035, errors: post })
    posts.push(post)
    return query === 'wait=true' ? json(200, { id: '1', type: 0 }) : { status: 204 }
  })

/** As Discord limits a webhook: fractions of a second. */
export const DISCORD_LIMIT: Answer = json(
  429,
  { message: 'You are being rate limited.', retry_after: 0.35, global: false },
  { 'retry-after': '0.35', 'x-ratelimit-scope': 'user' },
)

export const MATTERMOST_PATH = '/hooks/canaryhook7f3m5x8k1q9w2e4r'

export const startMattermost = (fault: Fault = () => undefined): Promise<VendorReceiver<MattermostPost>> =>
  start(fault, (request, posts) => {
    const error = (status: number, id: string, message: string): Answer =>
      json(status, { id, message, request_id: 'wq1y8', status_code: status })
    if (request.path !== MATTERMOST_PATH)
      return error(404, 'web.incoming_webhook.invalid.app_error', 'Invalid webhook.')
    const post = parseMattermost(request.body)
    if (typeof post === 'string') return error(400, 'web.incoming_webhook.parse.app_error', post)
    posts.push(post)
    return { status: 200, body: 'ok' }
  })

export const BOT_TOKEN = '123456789:AAcanary-telegram-token_x7Kq2vB9'

export const startTelegram = (fault: Fault = () => undefined): Promise<VendorReceiver<TelegramPost>> =>
  start(fault, (request, posts) => {
    const error = (code: number, description: string): Answer =>
      json(code, { ok: false, error_code: code, description })
    if (request.path !== `/bot${BOT_TOKEN}/sendMessage`) return error(401, 'Unauthorized')
    const post = parseTelegram(request.body)
    if (typeof post === 'string') return error(400, `Bad Request: ${post}`)
    if (post.chat_id === '-1') return error(400, 'Bad Request: chat not found')
    posts.push(post)
    return json(200, { ok: true, result: { message_id: posts.length } })
  })

/** Telegram says in the body how long to wait. */
export const TELEGRAM_LIMIT: Answer = json(429, {
  ok: false,
  error_code: 429,
  description: 'Too Many Requests: retry after 3',
  parameters: { retry_after: 3 },
})

export const startNtfy = (token: string | null, fault: Fault = () => undefined): Promise<VendorReceiver<NtfyPost>> =>
  start(fault, (request, posts) => {
    if (request.path !== '/') return json(404, { code: 40_401, http: 404, error: 'page not found' })
    if (token !== null && request.headers['authorization'] !== `Bearer ${token}`)
      return json(403, { code: 40_301, http: 403, error: 'forbidden' })
    const post = parseNtfy(request.body)
    if (typeof post === 'string') return json(400, { code: 40_024, http: 400, error: `invalid request: ${post}` })
    posts.push(post)
    return json(200, { id: 'hwQ2YpKdmg', event: 'message', topic: post.topic })
  })
