import { recordFacts } from '../../history/facts/record-facts.ts'
import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { ModelError } from './model-error.ts'
import { reserveCall, settleCall, type Reservation, type Tokens } from './reserve-call.ts'
import { streamModel, type MODEL_LIMITS, type ModelAnswer } from './stream-model.ts'
import type { Prompt } from './wire.ts'
import { textPattern } from '../../events/protocol/scrub-patterns.ts'

export type Asked = Prompt & {
  readonly purpose: 'ask' | 'analysis' | 'query'
  readonly signal: AbortSignal
  /** Called with each fragment as it arrives. */
  readonly onDelta?: (text: string) => void
  readonly limits?: typeof MODEL_LIMITS
}

export type Worded = { readonly text: string; readonly model: string; readonly tokens: number }

/** Whether a model is configured. Without one the assistant answers by rules. */
export const hasModel = ({ config }: Pick<App, 'config'>): boolean => config.ai.model !== null

/**
 * Asks the configured model once, within the bounds of the organisation. E-mail and IP addresses in the prompt are masked
 * here. The audit log gets an entry for each call, also for one that fails.
 * @throws AppError rate_limited when a bound is reached: then nothing was sent
 * @throws ModelError when there is no whole answer, or no model is configured
 */
export async function askModel(app: App, actor: OrgActor, asked: Asked): Promise<Worded> {
  const { ai } = app.config
  const { model } = ai
  if (model === null) throw new ModelError('refused', 'No model is configured.')
  const prompt: Prompt = {
    system: maskPersonal(asked.system),
    messages: asked.messages.map(({ role, content }) => ({ role, content: maskPersonal(content) })),
    maxOutputTokens: asked.maxOutputTokens,
  }
  const reserved = await app.tx((tx) => reserveCall(tx, ai, actor.orgId, maxTokens(prompt), app.clock.now()))
  let said = ''
  const settle = (answer: Partial<ModelAnswer>, error?: ModelError) =>
    record(app, actor, asked.purpose, prompt, reserved, { ...answer, text: said, error })
  try {
    const answer = await streamModel(app, {
      model,
      prompt,
      orgId: actor.orgId,
      signal: asked.signal,
      ...(asked.limits === undefined ? {} : { limits: asked.limits }),
      onDelta(text) {
        said += text
        asked.onDelta?.(text)
      },
    })
    const used = await settle(answer)
    return { text: answer.text, model: model.name, tokens: used.inputTokens + used.outputTokens }
  } catch (error) {
    if (error instanceof ModelError) {
      app.log.warn({ model: model.name, code: error.code, err: error.message }, 'a model gave no whole answer')
      await settle({}, error)
    }
    throw error
  }
}

/** Bytes that a token has at least, on average, in texts as ours. A model that says what it used corrects it. */
const BYTES_PER_TOKEN = 3

const sizeOf = ({ system, messages }: Prompt): number =>
  Buffer.byteLength(system) + messages.reduce((sum, { content }) => sum + Buffer.byteLength(content) + 16, 0)

const maxTokens = (prompt: Prompt): Tokens => ({
  inputTokens: Math.ceil(sizeOf(prompt) / BYTES_PER_TOKEN),
  outputTokens: prompt.maxOutputTokens,
})

/** Settles a call and writes its entry of the audit log. */
async function record(
  app: App,
  actor: OrgActor,
  purpose: Asked['purpose'],
  prompt: Prompt,
  reserved: Reservation,
  { text, inputTokens, outputTokens, error }: Partial<ModelAnswer> & { text: string; error: ModelError | undefined },
): Promise<Tokens> {
  const { ai } = app.config
  // Nothing reached a model that could not be reached, or that refused the request.
  const isUnused = error?.code === 'unreachable' || error?.code === 'refused' || error?.code === 'busy'
  const used: Tokens = {
    inputTokens: isUnused ? 0 : (inputTokens ?? reserved.inputTokens),
    outputTokens: isUnused ? 0 : (outputTokens ?? Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)),
  }
  const data = {
    purpose,
    model: ai.model?.name ?? '',
    input_tokens: used.inputTokens,
    output_tokens: used.outputTokens,
    ...(error === undefined ? {} : { error: error.message }),
    ...(ai.keepsTexts ? { prompt: prompt.messages.at(-1)?.content ?? '', answer: text } : {}),
  }
  await app.tx(async (tx) => {
    await settleCall(tx, ai, actor.orgId, reserved, used)
    await recordFacts(tx, factContext(app, actor), [{ kind: 'assistant.model_called', orgId: actor.orgId, data }])
  })
  return used
}

const PATTERNS = (['email', 'ip_address'] as const).map((pattern) => textPattern({ pattern, regex: null }, ''))

/**
 * The text without e-mail and IP addresses. Stored values are scrubbed by the rules of their project; a model needs
 * neither of them, whatever those rules keep.
 */
export const maskPersonal = (text: string): string =>
  PATTERNS.reduce(
    (masked, pattern) =>
      pattern?.replace(
        masked,
        () => pattern.word,
        () => {},
      ) ?? masked,
    text,
  )
