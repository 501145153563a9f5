import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { METRICS, type Metric } from '../../events/protocol/span-values.ts'
import { readSpan, type Span } from '../../events/protocol/span.ts'
import type { Connection, Database } from '../../platform/storage/database.ts'
import type { PerformanceFact } from './fact.ts'
import { measureSpan, measureTransaction, type MeasureContext } from './measure.ts'
import {
  readMetricsSeries,
  readPerformanceByName,
  spreadIn,
  type MetricSummary,
  type Scope,
} from './read-performance.ts'
import { recordPerformance } from './record-performance.ts'
import { SpanNames } from './span-names.ts'

/** Measurements of example apps, recorded as digestion records them. */

export const NOW = new Date('2026-11-20T12:00:00.000Z')
export const TRACE = '5e9af9902c22421daa90a2e961a31f89'

let spans = 0
export const newSpanId = (): string => (++spans).toString(16).padStart(16, 'a')

export const contextOf = (projectId: string, now = NOW): MeasureContext => ({
  projectId,
  receivedAt: now,
  sentAt: null,
  scrubbing: {},
  defaults: { release: undefined, environment: undefined, fallback: 'production' },
  names: new SpanNames(),
})

/** One metric in equal buckets. */
export async function readSeries(
  db: Connection,
  { metric, ...scope }: Omit<Scope, 'metrics'> & { readonly metric: Metric; readonly intervalMs: number },
): Promise<(Pick<MetricSummary, 'count' | 'failures' | 'p50' | 'p95' | 'max'> & { readonly t: Date })[]> {
  const points = await readMetricsSeries(db, { ...scope, metrics: [metric] })
  return points.map(({ t, metrics }) => {
    const { count, failures, p50, p95, max } = spreadIn(metrics, metric)
    return { t, count, failures, p50, p95, max }
  })
}

/** A transaction of 100 ms that ended a minute ago. */
export function aTransaction(fields: Record<string, unknown> = {}, at = NOW): Record<string, unknown> {
  const end = at.getTime() / 1_000 - 60
  return {
    transaction: 'checkout',
    transaction_info: { source: 'custom' },
    start_timestamp: end - 0.1,
    timestamp: end,
    release: 'shop@1.0',
    contexts: { trace: { trace_id: TRACE, span_id: newSpanId(), op: 'http.server', status: 'ok' } },
    ...fields,
  }
}

/** A span of 100 ms that ended a minute ago. */
export function aSpan(fields: Record<string, unknown> = {}, attributes: Record<string, unknown> = {}, at = NOW): Span {
  const end = at.getTime() / 1_000 - 60
  const span = readSpan({
    trace_id: TRACE,
    span_id: newSpanId(),
    name: 'checkout',
    status: 'ok',
    is_segment: true,
    start_timestamp: end - 0.1,
    end_timestamp: end,
    attributes: { 'sentry.release': 'shop@1.0', ...attributes },
    ...fields,
  })
  if ('invalid' in span) throw new Error(span.invalid)
  return span
}

export function transactionFact(projectId: string, fields: Record<string, unknown> = {}, now = NOW): PerformanceFact {
  const fact = measureTransaction(aTransaction(fields, now), newId().replaceAll('-', ''), contextOf(projectId, now))
  if ('invalid' in fact) throw new Error(fact.invalid)
  return fact
}

export const spanFact = (projectId: string, span: Span, now = NOW): PerformanceFact =>
  measureSpan(span, contextOf(projectId, now))

/** Records one batch. */
export async function record(db: Database, facts: readonly PerformanceFact[], now = NOW): Promise<boolean[]> {
  await ensureDayPartitions(db, [{ table: 'performance_seen' }], utcDay(now))
  return db.tx((tx) => recordPerformance(tx, now, facts))
}

/** Count and sum of every metric of a project, by `name (op) metric`. */
export async function everythingOf(db: Connection, projectId: string): Promise<Record<string, [number, number]>> {
  const found: Record<string, [number, number]> = {}
  for (const metric of METRICS) {
    const scope = { projectIds: [projectId], from: new Date(0), to: new Date('2030-01-01'), filter: {} }
    for (const { name, op, metrics } of await readPerformanceByName(db, { ...scope, metrics: [metric] }, 2_000)) {
      const one = metrics.get(metric)
      if (one !== undefined && one.count > 0)
        found[`${name} (${op}) ${metric}`] = [one.count, Math.round(one.sum * 1_000) / 1_000]
    }
  }
  return found
}
