import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { Id, Timestamp } from '../../platform/kernel/page.api.ts'

/** Questions in plain language, answered as a stream. */

export const MAX_MESSAGES = 50
export const MAX_QUESTION_BYTES = 32_768

export const Message = z.strictObject({
  role: z.enum(['user', 'assistant'], { error: 'role must be user or assistant.' }),
  content: z.string({ error: 'content must be a string.' }).min(1, { error: 'content must not be empty.' }),
})

/** A source of figures: `[n]` behind a figure names its source, `[?]` says that no source holds it. */
export const AnswerSource = z.object({
  n: z.number().int(),
  title: z.string(),
  operation: z.string().describe('The operation of this API that read it, such as `listIssues`.'),
  link: z.string().nullable().describe('The page of the dashboard that shows it, as a path.'),
  rows: z.array(z.array(z.string())).describe('The facts as a table; the first row is its heads. At most 50.'),
  as_of: Timestamp,
})
export type AnswerSource = z.infer<typeof AnswerSource>

/**
 * The data of an event of the stream: a fragment of the answer, a source, or an error after which the answer ends. The last
 * line is `data: [DONE]`.
 */
export const AnswerEvent = z.union([
  z.object({ delta: z.string() }),
  z.object({ source: AnswerSource }),
  z.object({ error: z.string() }),
])
export type AnswerEvent = z.infer<typeof AnswerEvent>

export const askRoutes = routes({
  ask: {
    method: 'POST',
    path: '/api/ask',
    tag: 'Assistant',
    summary: 'Ask a question about the data of the organisation',
    description:
      'A stream of server-sent events: `data: {"delta": …}` with fragments of the answer, `data: {"source": …}` for what its figures come from, `data: {"error": …}` when it breaks off, and at the end `data: [DONE]`. The facts are read with the permissions of the caller. At most 50 messages with 32 KiB. The answer may contain a fenced read-only statement, which nothing runs by itself.',
    permission: 'ai.use',
    body: z.strictObject({
      messages: z
        .array(Message, { error: 'messages must be a list of {role, content}.' })
        .min(1, { error: 'messages must not be empty.' })
        .max(MAX_MESSAGES, { error: `messages must be at most ${MAX_MESSAGES}.` })
        .refine(
          (all) =>
            all.reduce((sum, { content }) => sum + new TextEncoder().encode(content).length, 0) <= MAX_QUESTION_BYTES,
          {
            error: 'messages must have at most 32 KiB together.',
          },
        )
        .refine((all) => all.at(-1)?.role === 'user', { error: 'The last message must be of the user.' }),
      project_id: Id.optional().describe('The project that is asked about; all by default.'),
      about: z
        .strictObject({ issue_id: Id.optional(), release_id: Id.optional() })
        .optional()
        .describe('What the question was asked beside.'),
    }),
    stream: 'sse',
    refusals: [404],
  },
})
