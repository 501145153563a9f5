import { z } from 'zod'
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts'

/** A Teams workflow that posts an Adaptive Card: the elements of version 1.4 that cards of ours may have. */

const spacing = z.enum(['default', 'none', 'small', 'medium', 'large', 'extraLarge', 'padding'])
/** Values of enumerations are read without regard to case. */
const anyCase = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`)
    .pipe(schema as z.ZodType<unknown, string>)

const text = {
  text: z.string(),
  size: anyCase(z.enum(['default', 'small', 'medium', 'large', 'extraLarge'])).optional(),
  weight: anyCase(z.enum(['default', 'lighter', 'bolder'])).optional(),
  color: anyCase(z.enum(['default', 'dark', 'light', 'accent', 'good', 'warning', 'attention'])).optional(),
  isSubtle: z.boolean().optional(),
}
const element = {
  id: z.string().optional(),
  spacing: anyCase(spacing).optional(),
  separator: z.boolean().optional(),
  isVisible: z.boolean().optional(),
}
const OpenUrl = z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string().optional(), url: z.url() })
const TextRun = z.strictObject({
  type: z.literal('TextRun'),
  ...text,
  highlight: z.boolean().optional(),
  italic: z.boolean().optional(),
  strikethrough: z.boolean().optional(),
  underline: z.boolean().optional(),
  selectAction: OpenUrl.optional(),
})
const Element = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('TextBlock'), ...element, ...text, wrap: z.boolean().optional() }),
  z.strictObject({ type: z.literal('RichTextBlock'), ...element, inlines: z.array(z.union([TextRun, z.string()])) }),
  z.strictObject({
    type: z.literal('FactSet'),
    ...element,
    facts: z.array(z.strictObject({ title: z.string(), value: z.string() })),
  }),
])
const Card = z.strictObject({
  $schema: z.url().optional(),
  type: z.literal('AdaptiveCard'),
  version: z.enum(['1.0', '1.1', '1.2', '1.3', '1.4']),
  fallbackText: z.string().optional(),
  speak: z.string().optional(),
  lang: z.string().optional(),
  body: z.array(Element).optional(),
  actions: z.array(OpenUrl).max(6).optional(),
  /** Of Teams. */
  msteams: z.strictObject({ width: z.literal('Full') }).optional(),
})
const Envelope = z.strictObject({
  type: z.literal('message'),
  attachments: z
    .array(
      z.strictObject({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        contentUrl: z.string().nullable().optional(),
        content: Card,
      }),
    )
    .min(1),
})
export type TeamchatCard = z.infer<typeof Card>

const MAX_MESSAGE_BYTES = 28 * 1024

/** @throws Error when the workflow would not post it */
export function parseTeamchat(body: Buffer): TeamchatCard {
  if (body.length > MAX_MESSAGE_BYTES) throw new Error('RequestEntityTooLarge')
  const [attachment] = Envelope.parse(JSON.parse(body.toString())).attachments
  if (attachment === undefined) throw new Error('no attachment')
  return attachment.content
}

/** All runs and blocks of text. */
export const textsOf = ({ body = [] }: TeamchatCard): string[] =>
  body.flatMap((one) =>
    one.type === 'RichTextBlock'
      ? one.inlines.map((inline) => (typeof inline === 'string' ? inline : inline.text)).join('')
      : one.type === 'TextBlock'
        ? one.text
        : one.facts.map(({ title, value }) => `${title}${value}`),
  )

export type TeamchatReceiver = {
  /** The URL of the workflow. */
  readonly url: string
  /** Posted cards, in order. */
  readonly cards: TeamchatCard[]
  readonly receiver: Receiver
}

const FLOW = '/powerautomate/automations/direct/workflows/9f2c/triggers/manual/paths/invoke?sig=Xk3vT0aHq7PzLwYd5mNc'

/** @param fault what to answer instead; undefined where the workflow answers itself */
export async function startTeamchat(
  fault: (request: ReceivedRequest) => Answer | undefined = () => undefined,
): Promise<TeamchatReceiver> {
  const cards: TeamchatCard[] = []
  const receiver = await startReceiver({
    respond(request) {
      const answer = fault(request)
      if (answer !== undefined) return answer
      if (request.path !== FLOW) return { status: 401, body: '{"error":{"code":"DirectApiAuthorizationRequired"}}' }
      try {
        cards.push(parseTeamchat(request.body))
      } catch (error) {
        return { status: 400, body: JSON.stringify({ error: { code: 'BadRequest', message: String(error) } }) }
      }
      return 202
    },
  })
  return { url: `${receiver.url}${FLOW}`, cards, receiver }
}
