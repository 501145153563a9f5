import type { App } from '../../platform/context/app.ts'
import { EgressError } from '../../platform/context/egress.ts'
import { type AttemptResult, NotSentError } from '../../platform/outbox/channel.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 512 * 1024
/** A provider that asks for more is asked again all the same. */
const MAX_RETRY_AFTER_MS = 3_600_000

type ProviderRequest = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: URLSearchParams | object
  /** Whose connections it uses. */
  readonly group: string
}

export type ProviderAnswer = {
  readonly status: number
  /** Null when it is no JSON. */
  readonly json: unknown
  readonly retryAfterMs: number | undefined
  readonly durationMs: number
}

/** @throws EgressError without an answer; NotSentError when no connection is free */
export async function askProvider(app: App, { url, headers, body, group }: ProviderRequest): Promise<ProviderAnswer> {
  const isForm = body instanceof URLSearchParams
  try {
    const answer = await app.egress.request({
      url,
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        'user-agent': `Faultline/${app.config.version}`,
        ...headers,
      },
      body: Buffer.from(isForm ? body.toString() : JSON.stringify(body)),
      timeoutMs: TIMEOUT_MS,
      maxBodyBytes: MAX_ANSWER_BYTES,
      group,
    })
    return {
      status: answer.status,
      json: readJsonText(answer.body),
      retryAfterMs: retryAfterOf(answer.headers, app.clock.now()),
      durationMs: Math.round(answer.timings.durationMs),
    }
  } catch (error) {
    if (error instanceof EgressError && error.code === 'EGRESS_BUSY') throw new NotSentError(error.message)
    throw error
  }
}

/** Seconds, or a date. */
function retryAfterOf(headers: readonly (readonly [string, string])[], now: Date): number | undefined {
  const text = headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1].trim()
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

type Failure = Partial<Pick<AttemptResult, 'status' | 'isFinal' | 'retryAfterMs' | 'durationMs' | 'details'>>

const MAX_TEXT = 500

/** An attempt that failed. Tokens of devices do not belong into its text. */
export const failed = (code: string, text: string, rest: Failure = {}): AttemptResult => ({
  outcome: 'failed',
  status: null,
  durationMs: 0,
  details: {},
  ...rest,
  errorCode: code.slice(0, 100),
  errorText: text.slice(0, MAX_TEXT),
})

/** @throws what is no error of a request */
export function failedWithoutAnswer(error: unknown): AttemptResult {
  if (!(error instanceof EgressError)) throw error
  return failed(error.code, error.message, { durationMs: Math.round(error.timings.durationMs) })
}
