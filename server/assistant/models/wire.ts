import { z } from 'zod'
import type { AiSettings } from '../../config/models.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/** The three wire formats of models: what is sent, and what a line of the stream says. */

export type Model = NonNullable<AiSettings['model']>

export type Prompt = {
  readonly system: string
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[]
  readonly maxOutputTokens: number
}

/** A part of an answer, as far as a line has it. */
export type Part = {
  readonly text?: string
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** The answer is whole. */
  readonly done?: true
  /** The model reports an error of its own. */
  readonly failed?: true
  /** It calls a tool, and none was offered. */
  readonly tool?: true
}

type Wire = {
  readonly url: (baseUrl: string) => string
  readonly headers: (apiKey: string | null) => Record<string, string>
  readonly body: (model: Model, prompt: Prompt) => Record<string, unknown>
  /** The parts of one line; null for a line that is none of the format. */
  readonly read: (line: string) => Part | null
}

const bearer = (apiKey: string | null): Record<string, string> =>
  apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }

const withSystem = ({ system, messages }: Prompt) => [{ role: 'system', content: system }, ...messages]

const count = z.number().int().nonnegative()
const tools = z.array(z.unknown()).nullish()

const OpenAiChunk = z.object({
  error: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        index: z.number().default(0),
        delta: z.object({ content: z.string().nullish(), tool_calls: tools, function_call: z.unknown() }).partial(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish(),
})

const openai: Wire = {
  url: (baseUrl) => `${baseUrl}/chat/completions`,
  headers: bearer,
  body: ({ name, baseUrl }, prompt) => ({
    model: name,
    messages: withSystem(prompt),
    stream: true,
    stream_options: { include_usage: true },
    // The newer models of OpenAI refuse the former name, other servers know only that one.
    [new URL(baseUrl).hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens']: prompt.maxOutputTokens,
  }),
  read(line) {
    const data = dataOf(line)
    if (data === null) return isBesideData(line) ? {} : null
    if (data === '[DONE]') return { done: true }
    const chunk = parsed(OpenAiChunk, data)
    if (chunk === null) return null
    if (chunk.error !== undefined && chunk.error !== null) return { failed: true }
    // Only the first answer was asked for.
    const choice = chunk.choices.find(({ index }) => index === 0)
    const usage =
      chunk.usage === null || chunk.usage === undefined
        ? {}
        : { inputTokens: chunk.usage.prompt_tokens, outputTokens: chunk.usage.completion_tokens }
    if ((choice?.delta.tool_calls ?? []).length > 0 || (choice?.delta.function_call ?? null) !== null)
      return { ...usage, tool: true }
    return { ...usage, text: choice?.delta.content ?? '' }
  },
}

const AnthropicEvent = z.object({
  type: z.string(),
  message: z.object({ usage: z.object({ input_tokens: count }).optional() }).optional(),
  content_block: z.object({ type: z.string() }).optional(),
  delta: z.object({ type: z.string().optional(), text: z.string().optional() }).optional(),
  usage: z.object({ output_tokens: count.optional() }).optional(),
})

const anthropic: Wire = {
  url: (baseUrl) => `${baseUrl.replace(/\/v1$/, '')}/v1/messages`,
  headers: (apiKey) => ({ 'anthropic-version': '2023-06-01', ...(apiKey === null ? {} : { 'x-api-key': apiKey }) }),
  body: ({ name }, { system, messages, maxOutputTokens }) => ({
    model: name,
    max_tokens: maxOutputTokens,
    system,
    messages,
    stream: true,
  }),
  read(line) {
    const data = dataOf(line)
    if (data === null) return isBesideData(line) ? {} : null
    const event = parsed(AnthropicEvent, data)
    if (event === null) return null
    switch (event.type) {
      case 'message_start':
        return event.message?.usage === undefined ? {} : { inputTokens: event.message.usage.input_tokens }
      case 'content_block_start':
        return event.content_block?.type === 'tool_use' ? { tool: true } : {}
      case 'content_block_delta':
        return event.delta?.type === 'text_delta' ? { text: event.delta.text ?? '' } : {}
      case 'message_delta':
        return event.usage?.output_tokens === undefined ? {} : { outputTokens: event.usage.output_tokens }
      case 'message_stop':
        return { done: true }
      case 'error':
        return { failed: true }
      default:
        return {}
    }
  },
}

const OllamaLine = z.object({
  error: z.unknown().optional(),
  message: z.object({ content: z.string().default(''), tool_calls: tools }).optional(),
  done: z.boolean().default(false),
  prompt_eval_count: count.optional(),
  eval_count: count.optional(),
})

const ollama: Wire = {
  url: (baseUrl) => `${baseUrl}/api/chat`,
  headers: bearer,
  body: ({ name }, prompt) => ({
    model: name,
    messages: withSystem(prompt),
    stream: true,
    options: { num_predict: prompt.maxOutputTokens },
  }),
  read(text) {
    if (text === '') return {}
    const line = parsed(OllamaLine, text)
    if (line === null) return null
    if (line.error !== undefined) return { failed: true }
    return {
      text: line.message?.content ?? '',
      ...((line.message?.tool_calls ?? []).length > 0 ? { tool: true } : {}),
      ...(line.prompt_eval_count === undefined ? {} : { inputTokens: line.prompt_eval_count }),
      ...(line.eval_count === undefined ? {} : { outputTokens: line.eval_count }),
      ...(line.done ? { done: true } : {}),
    }
  },
}

export const wires: Readonly<Record<Model['provider'], Wire>> = { openai, anthropic, ollama }

/** The data of a line of server-sent events; null for another line. */
const dataOf = (line: string): string | null => (line.startsWith('data:') ? line.slice(5).trim() : null)

/** An empty line, a comment or another field of server-sent events. */
const isBesideData = (line: string): boolean => line === '' || /^(?::|event:|id:|retry:)/.test(line)

const parsed = <T>(schema: z.ZodType<T>, text: string): T | null => schema.safeParse(readJsonText(text)).data ?? null
