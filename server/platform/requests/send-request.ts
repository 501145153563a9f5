import type { App } from '../context/app.ts'
import { EgressError, type EgressResponse } from '../context/egress.ts'
import { type AttemptResult, NotSentError } from '../outbox/channel.ts'
import { detailsOfAnswer, detailsOfError } from './attempt-details.ts'
import { ATTEMPT_TIMEOUT_MS } from './schedule.ts'

/** Whether a status of an answer counts as delivered (webhook specification: 2xx). */
export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status <= 299

/** More of an answer is not read. */
const MAX_ANSWER_BYTES = 64 * 1024

type OutgoingRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** See `EgressRequest.group`. */
  readonly group: string
  /** The headers as the log keeps them. */
  readonly loggedHeaders: [name: string, value: string][]
  /** Texts that are masked when the answer repeats them. */
  readonly confidential: RegExp | null
}

/**
 * One attempt. Redirects are answers like any other.
 * @param judge what a refusal says about further attempts
 * @throws NotSentError when the process has no connection left
 */
export async function sendRequest(
  app: App,
  { url, headers, body, group, loggedHeaders: requestHeaders, confidential }: OutgoingRequest,
  signal: AbortSignal,
  judge: (answer: EgressResponse) => Partial<AttemptResult> = () => ({}),
): Promise<AttemptResult> {
  const sent = { requestHeaders, confidential }
  try {
    const answer = await app.egress.request({
      url,
      method: 'POST',
      headers,
      body,
      timeoutMs: ATTEMPT_TIMEOUT_MS,
      maxBodyBytes: MAX_ANSWER_BYTES,
      signal,
      group,
    })
    const isDelivered = isSuccess(answer.status)
    return {
      outcome: isDelivered ? 'delivered' : 'failed',
      status: answer.status,
      errorCode: null,
      errorText: null,
      durationMs: Math.round(answer.timings.durationMs),
      details: detailsOfAnswer(answer, sent),
      ...(isDelivered ? {} : judge(answer)),
    }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    if (error.code === 'EGRESS_BUSY') throw new NotSentError(error.message)
    return {
      outcome: 'failed',
      status: null,
      errorCode: error.code,
      errorText: error.message,
      durationMs: Math.round(error.timings.durationMs),
      details: detailsOfError(error, sent),
    }
  }
}
