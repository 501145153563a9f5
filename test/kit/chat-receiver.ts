import { z } from 'zod'
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts'

/** The incoming webhook of a Slack-compatible chat, with the limits of Slack's blocks. */

const plainText = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: z.string().min(1).max(max), emoji: z.boolean().optional() })
const markdown = (max: number) =>
  z.strictObject({ type: z.literal('mrkdwn'), text: z.string().min(1).max(max), verbatim: z.boolean().optional() })

const Button = z.strictObject({
  type: z.literal('button'),
  text: plainText(75),
  action_id: z.string().max(255).optional(),
  value: z.string().max(2_000).optional(),
  url: z.url().max(3_000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
})

const block_id = z.string().max(255).optional()
const Block = z.union([
  z.strictObject({ type: z.literal('header'), block_id, text: plainText(150) }),
  z.strictObject({ type: z.literal('section'), block_id, text: z.union([markdown(3_000), plainText(3_000)]) }),
  z.strictObject({
    type: z.literal('section'),
    block_id,
    fields: z
      .array(z.union([markdown(2_000), plainText(2_000)]))
      .min(1)
      .max(10),
  }),
  z.strictObject({ type: z.literal('context'), block_id, elements: z.array(markdown(3_000)).min(1).max(10) }),
  z.strictObject({ type: z.literal('actions'), block_id, elements: z.array(Button).min(1).max(25) }),
])

const ChatPayload = z.strictObject({
  text: z.string().min(1).max(40_000),
  blocks: z.array(Block).max(50),
  unfurl_links: z.boolean().optional(),
  unfurl_media: z.boolean().optional(),
  replace_original: z.boolean().optional(),
})
export type ChatPayload = z.infer<typeof ChatPayload>

/** What Slack answers to a body: the message, or its error. */
export function parseChat(body: Buffer): ChatPayload | 'invalid_payload' | 'no_text' | 'invalid_blocks' {
  let json: unknown
  try {
    json = JSON.parse(body.toString())
  } catch {
    return 'invalid_payload'
  }
  const parsed = ChatPayload.safeParse(json)
  if (!parsed.success) return parsed.error.issues.some(({ path }) => path[0] === 'text') ? 'no_text' : 'invalid_blocks'
  const ids = (values: readonly (string | undefined)[]): string[] => values.filter((value) => value !== undefined)
  const isUnique = (values: readonly string[]): boolean => new Set(values).size === values.length
  const { blocks } = parsed.data
  const actionIds = blocks.map((block) =>
    block.type === 'actions' ? ids(block.elements.map(({ action_id: id }) => id)) : [],
  )
  return isUnique(ids(blocks.map((block) => block.block_id))) && actionIds.every(isUnique)
    ? parsed.data
    : 'invalid_blocks'
}

/** Every text of a message that the chat shows as markup. */
export const markupOf = ({ text, blocks }: ChatPayload): string[] => [
  text,
  ...blocks.flatMap((block) => {
    const texts =
      block.type === 'context'
        ? block.elements
        : block.type === 'section'
          ? 'fields' in block
            ? block.fields
            : [block.text]
          : []
    return texts.filter(({ type }) => type === 'mrkdwn').map((one) => one.text)
  }),
]

/** Mentions that would notify users, and links: what stands between `<` and `>`, except times. */
export const referencesOf = (message: ChatPayload): string[] =>
  markupOf(message).flatMap((text) =>
    [...text.matchAll(/<([^>]*)>/g)].map(([, inner = '']) => inner).filter((inner) => !inner.startsWith('!date^')),
  )

export type ButtonPayload = z.infer<typeof Button>
export const buttonsOf = ({ blocks }: ChatPayload): ButtonPayload[] =>
  blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []))

export type ChatReceiver = {
  /** The URL of the incoming webhook. */
  readonly url: string
  /** Received messages, in order. */
  readonly messages: ChatPayload[]
  readonly receiver: Receiver
}

const CHAT_PATH = '/services/T0FAULTLN/B0FAULTLN/q8Zt2mWc6yRk4uVx0sHb1nLd'

/** @param fault what to answer instead; undefined where the chat answers itself */
export async function startChat(
  fault: (request: ReceivedRequest) => Answer | undefined = () => undefined,
): Promise<ChatReceiver> {
  const messages: ChatPayload[] = []
  const receiver = await startReceiver({
    respond(request) {
      const answer = fault(request)
      if (answer !== undefined) return answer
      if (request.path !== CHAT_PATH) return { status: 404, body: 'channel_not_found' }
      const parsed = parseChat(request.body)
      if (typeof parsed === 'string') return { status: 400, body: parsed }
      messages.push(parsed)
      return { body: 'ok' }
    },
  })
  return { url: `${receiver.url}${CHAT_PATH}`, messages, receiver }
}
