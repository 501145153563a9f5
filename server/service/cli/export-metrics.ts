import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { OtlpSettings } from '../../config/otlp.ts'
import type { App } from '../../platform/context/app.ts'
import { type ReadMetric, toOtlpMetrics } from '../http/otlp-metrics.ts'

/** Loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set. */

export type MetricsExporter = {
  /** Sends the last figures, and waits at most `graceMs` for the answer. */
  stop(graceMs: number): Promise<void>
}

const MIN_PAUSE_MS = 1_000
/** Answers after which the same request may succeed later, by the specification of OTLP. */
const RETRYABLE = new Set([429, 502, 503, 504])
const MAX_ANSWER_CHARACTERS = 200

/**
 * Sends the metrics of this process to a collector at an interval. Figures are cumulative: an attempt that failed needs no
 * queue, the next one has everything. One request runs at a time; after a failure pauses double up to the interval.
 * @param read the metrics, as for `/-/metrics`
 */
export function exportMetrics(app: App, settings: OtlpSettings, read: () => Promise<ReadMetric[]>): MetricsExporter {
  const { clock, log } = app
  const startMs = performance.timeOrigin
  const resource = { 'service.instance.id': randomUUID(), 'service.version': app.config.version, ...settings.resource }
  const stopping = new AbortController()
  let isFailing = false

  /** @returns how long to wait before the next attempt; null for the interval */
  const send = async (signal: AbortSignal): Promise<number | null> => {
    const body = JSON.stringify(toOtlpMetrics(await read(), { resource, startMs, nowMs: clock.now().getTime() }))
    const answer = await fetch(settings.url, {
      method: 'POST',
      headers: { ...settings.headers, 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal,
    })
    const text = (await answer.text()).slice(0, MAX_ANSWER_CHARACTERS)
    if (answer.ok) {
      if (isFailing) log.info('metrics are exported again')
      isFailing = false
      return null
    }
    const retryAfterMs = Number(answer.headers.get('retry-after') ?? 0) * 1_000
    failed({ status: answer.status, answer: text })
    return RETRYABLE.has(answer.status) ? retryAfterMs || 0 : null
  }
  /** Once, until an attempt succeeds. */
  const failed = (reason: Readonly<Record<string, unknown>>): void => {
    if (!isFailing) log.warn(reason, 'metrics could not be exported; the next attempt has everything')
    isFailing = true
  }
  const attempt = (signal: AbortSignal): Promise<number | null> =>
    send(signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) failed({ err: causeOf(error) })
      return 0
    })

  const run = async (): Promise<void> => {
    let pauseMs = MIN_PAUSE_MS
    let waitMs = settings.intervalMs
    while (!stopping.signal.aborted) {
      // Rejects when the process stops.
      await delay(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (stopping.signal.aborted) return
      const asked = await attempt(AbortSignal.any([stopping.signal, AbortSignal.timeout(settings.timeoutMs)]))
      waitMs = asked === null ? settings.intervalMs : Math.min(Math.max(pauseMs, asked), settings.intervalMs)
      pauseMs = asked === null ? MIN_PAUSE_MS : pauseMs * 2
    }
  }
  const running = run()

  return {
    async stop(graceMs) {
      stopping.abort()
      await running
      if (!isFailing) await attempt(AbortSignal.timeout(Math.min(graceMs, settings.timeoutMs)))
    },
  }
}

/** `fetch failed` says nothing, its cause does. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
