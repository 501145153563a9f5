import { EgressError } from '../../platform/context/egress.ts'
import type { App } from '../../platform/context/app.ts'
import { ModelError, statusError } from './model-error.ts'
import { type Model, type Prompt, wires } from './wire.ts'

/** Milliseconds: until the first byte (a local model may have to be loaded), between two of them, and of the whole answer. */
export const MODEL_LIMITS = { firstMs: 60_000, idleMs: 30_000, allMs: 180_000 }

const MAX_BODY_BYTES = 8 * 1024 * 1024
const MAX_LINE_CHARACTERS = 1024 * 1024
const MAX_ANSWER_CHARACTERS = 64 * 1024

export type ModelAnswer = {
  readonly text: string
  /** Null when the model does not say. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
}

export type ModelCall = {
  readonly model: Model
  readonly prompt: Prompt
  /** On whose behalf: organisations share no connections. */
  readonly orgId: string
  readonly signal: AbortSignal
  /** Called with each fragment as it arrives. */
  readonly onDelta: (text: string) => void
  readonly limits?: typeof MODEL_LIMITS
}

/**
 * Sends one prompt and reads the answer while it arrives. It ends early with the signal, within its limits of time and length.
 * @throws ModelError when there is no whole answer; fragments may have been given before
 */
export async function streamModel(app: Pick<App, 'egress'>, call: ModelCall): Promise<ModelAnswer> {
  const { model, prompt, limits = MODEL_LIMITS } = call
  const wire = wires[model.provider]
  const answer = { text: '', inputTokens: null as number | null, outputTokens: null as number | null }
  const ending = new AbortController()
  const end: { outcome: 'done' | ModelError | null } = { outcome: null }
  const endWith = (given: 'done' | ModelError): void => {
    end.outcome ??= given
    ending.abort()
  }
  const cancel = () => endWith(new ModelError('cancelled', 'The question was cancelled.'))
  const tooLate = () => endWith(new ModelError('too_late', 'The model takes too long to answer. Try again later.'))
  let timer = setTimeout(tooLate, limits.firstMs)
  call.signal.addEventListener('abort', cancel, { once: true })
  if (call.signal.aborted) cancel()

  const takeLine = (line: string): void => {
    if (end.outcome !== null) return
    const part = wire.read(line)
    if (part === null) return endWith(new ModelError('broken', NOT_THE_FORMAT))
    if (part.failed === true) return endWith(new ModelError('broken', 'The model reported an error. Try again later.'))
    if (part.tool === true)
      return endWith(new ModelError('broken', 'The model called a tool, and none was offered: its answer was dropped.'))
    answer.inputTokens = part.inputTokens ?? answer.inputTokens
    answer.outputTokens = part.outputTokens ?? answer.outputTokens
    if (part.text !== undefined && part.text !== '') {
      answer.text += part.text
      call.onDelta(part.text)
      if (answer.text.length > MAX_ANSWER_CHARACTERS) return endWith(new ModelError('too_long', TOO_LONG))
    }
    if (part.done === true) endWith('done')
  }
  const decoder = new TextDecoder()
  let rest = ''

  try {
    const response = await app.egress.request({
      url: wire.url(model.baseUrl),
      method: 'POST',
      headers: { 'content-type': 'application/json', ...wire.headers(model.apiKey) },
      body: Buffer.from(JSON.stringify(wire.body(model, prompt))),
      timeoutMs: limits.allMs,
      maxBodyBytes: MAX_BODY_BYTES,
      signal: ending.signal,
      group: `assistant ${call.orgId}`,
      onBody(chunk, { status, headers }) {
        if (end.outcome !== null) return
        clearTimeout(timer)
        timer = setTimeout(tooLate, limits.idleMs)
        if (status !== 200) return endWith(statusError(status, headerOf(headers, 'retry-after')))
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) takeLine(line.trim())
        if (rest.length > MAX_LINE_CHARACTERS) endWith(new ModelError('too_long', TOO_LONG))
      },
    })
    if (end.outcome === null && response.status !== 200)
      endWith(statusError(response.status, headerOf(response.headers, 'retry-after')))
    takeLine(rest.trim())
    endWith(new ModelError('broken', "The model's answer broke off. Try again."))
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    endWith(unreachable(error))
  } finally {
    clearTimeout(timer)
    call.signal.removeEventListener('abort', cancel)
  }
  if (end.outcome instanceof ModelError) throw end.outcome
  if (answer.text.trim() === '') throw new ModelError('broken', 'The model answered nothing. Try again.')
  return answer
}

const NOT_THE_FORMAT =
  "The model's server answers in another format. The operator must check AI_PROVIDER and AI_BASE_URL."
const TOO_LONG = "The model's answer is too long: it was cut."

function unreachable(error: EgressError): ModelError {
  if (error.kind === 'timeout')
    return new ModelError('too_late', 'The model takes too long to answer. Try again later.', error)
  const why =
    error.kind === 'refused'
      ? `The rules for outgoing requests refuse its address (${error.code}): see docs/egress.md.`
      : `The operator must check AI_BASE_URL (${error.code}).`
  return new ModelError('unreachable', `The model cannot be reached. ${why}`, error)
}

const headerOf = (headers: readonly (readonly [string, string])[], name: string): string | null =>
  headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? null
