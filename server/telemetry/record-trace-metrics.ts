import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { CopyRows } from '../events/copy-rows.ts'
import { dayOf } from '../kernel/day.ts'
import { newId } from '../kernel/ids.ts'
import type { TraceMetric } from '../protocol/trace-metric.ts'
import type { Receipt } from './record-logs.ts'

const COLUMNS = [
  'received_day',
  'project_id',
  'id',
  'received_at',
  'occurred_at',
  'name',
  'type',
  'value',
  'unit',
  'trace_id',
  'span_id',
  'release',
  'environment',
  'attributes',
  'notes',
] as const

/** Writes measurements inside the caller's transaction, in their order. Partitions of their days must exist. */
export async function recordTraceMetrics(
  client: pg.ClientBase,
  metrics: readonly (TraceMetric & Receipt)[],
): Promise<void> {
  if (metrics.length === 0) return
  const rows = new CopyRows()
  for (const metric of metrics) {
    rows.row(COLUMNS.length)
    rows.day(dayOf(metric.receivedAt))
    rows.uuid(metric.projectId)
    rows.uuid(newId())
    rows.time(metric.receivedAt)
    rows.time(metric.occurredAt)
    rows.text(metric.name)
    rows.text(metric.type)
    rows.float64(metric.value)
    rows.text(metric.unit)
    if (metric.traceId === null) rows.nothing()
    else rows.uuid(metric.traceId)
    rows.text(metric.spanId)
    rows.text(metric.release)
    rows.text(metric.environment)
    rows.json(JSON.stringify(metric.attributes))
    rows.json(metric.notes.length === 0 ? null : JSON.stringify(metric.notes))
  }
  await pipeline(
    Readable.from(rows.finish()),
    client.query(copyFrom(`copy trace_metrics (${COLUMNS.join(', ')}) from stdin (format binary)`)),
  )
}
