import { errorText } from '../kernel/errors.ts'
import { type AttemptResult, type ClaimedDelivery, NotSentError, type Send } from './channel.ts'
import type { App } from '../context/app.ts'
import type { InHand } from './in-hand.ts'

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
  const text = errorText(error)
  return { outcome: 'failed', status: null, errorCode: code, errorText: text, durationMs, details: {} }
}

/** Deliveries that come back within this time are given back by one statement. */
const COLLECT_MS = 50
/** A delivery that its channel could not send waits this long, and twice as long for each further one in a row. */
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 4_000
const WARN_INTERVAL_MS = 60_000

type NotSent = {
  /** A channel could not send it: gives it back soon. */
  add(entry: InHand): void
  /** An attempt was made on this lane: its next delivery that cannot be sent waits the shortest time. */
  made(laneId: string): void
  /** Since the start, by channel. */
  readonly counts: ReadonlyMap<string, number>
}

/** @param release gives leases back */
export function createNotSent(
  app: App,
  release: (entries: readonly InHand[], delayMs: number) => Promise<void>,
): NotSent {
  const counts = new Map<string, number>()
  /** By lane; forgotten when none came back for a while. */
  const delays = new Map<string, { readonly delayMs: number; readonly atMs: number }>()
  let waiting: InHand[] = []
  let warnedMs = -Infinity
  let unwarned = 0

  const warn = (channel: string, count: number, nowMs: number): void => {
    unwarned += count
    if (nowMs - warnedMs < WARN_INTERVAL_MS) return
    app.log.warn({ channel, deliveries: unwarned }, 'deliveries could not be sent yet and wait')
    warnedMs = nowMs
    unwarned = 0
  }

  const flush = async (): Promise<void> => {
    const nowMs = performance.now()
    const entries = waiting
    waiting = []
    for (const [laneId, { atMs }] of delays) if (nowMs - atMs > WARN_INTERVAL_MS) delays.delete(laneId)
    for (const laneId of new Set(entries.map(({ delivery }) => delivery.laneId))) {
      const before = delays.get(laneId)?.delayMs ?? FIRST_DELAY_MS / 2
      delays.set(laneId, { delayMs: Math.min(MAX_DELAY_MS, before * 2), atMs: nowMs })
    }
    for (const [channel, { length }] of Map.groupBy(entries, (entry) => entry.channel.name)) {
      counts.set(channel, (counts.get(channel) ?? 0) + length)
      warn(channel, length, nowMs)
    }
    const byDelay = Map.groupBy(entries, ({ delivery }) => delays.get(delivery.laneId)?.delayMs ?? FIRST_DELAY_MS)
    for (const [delayMs, ofDelay] of byDelay) await release(ofDelay, delayMs)
  }

  return {
    add(entry) {
      if (waiting.push(entry) === 1) setTimeout(() => void flush(), COLLECT_MS)
    },
    made: (laneId) => void delays.delete(laneId),
    counts,
  }
}
