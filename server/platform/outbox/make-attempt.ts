import { type AttemptResult, type ClaimedDelivery, NotSentError, type Send } from './channel.ts'

/** After its signal is aborted, a channel has this time to return a result with details of its own. */
const ABORT_GRACE_MS = 500

/** Why an attempt is aborted when its process stops: it does not count. */
export class StopError extends Error {}

/**
 * Makes one attempt within the wall clock.
 * @param abort ends the attempt early, with a {@link StopError}
 * @returns `stopped` unless it succeeded all the same; `not_sent` when there was no attempt
 */
export async function makeAttempt(
  delivery: ClaimedDelivery,
  send: Send,
  timeoutMs: number,
  abort: AbortController,
): Promise<AttemptResult | 'stopped' | 'not_sent'> {
  const { signal } = abort
  if (signal.aborted) return 'stopped'
  const startedMs = performance.now()
  const timeout = setTimeout(() => abort.abort(timeoutError(timeoutMs)), timeoutMs)
  let grace: NodeJS.Timeout | undefined
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => {
    grace = setTimeout(() => reject(signal.reason as Error), signal.reason instanceof StopError ? 0 : ABORT_GRACE_MS)
  })
  try {
    const result = await Promise.race([send(delivery, signal), aborted])
    return signal.reason instanceof StopError && result.outcome === 'failed' ? 'stopped' : result
  } catch (error) {
    if (signal.reason instanceof StopError) return 'stopped'
    if (error instanceof NotSentError) return 'not_sent'
    return failedBy(signal.aborted ? signal.reason : error, performance.now() - startedMs)
  } finally {
    clearTimeout(timeout)
    clearTimeout(grace)
  }
}

const timeoutError = (timeoutMs: number): Error =>
  Object.assign(new Error(`There was no answer within ${timeoutMs / 1000} s.`), { code: 'TIMEOUT' })

/** The result of an attempt that threw. */
function failedBy(error: unknown, durationMs: number): AttemptResult {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'ERROR'
  const text = error instanceof Error ? error.message : String(error)
  return { outcome: 'failed', status: null, errorCode: code, errorText: text, durationMs, details: {} }
}
