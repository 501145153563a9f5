import type { Tx } from '../../platform/storage/database.ts'
import type { TraceMetric } from '../../events/protocol/trace-metric.ts'
import type { Recorder } from '../../events/items/recorder.ts'
import { recordEntries, type EntryTable, type Pace, type Receipt } from './entries.queries.ts'

const TRACE_METRICS: EntryTable<TraceMetric & Receipt> = {
  name: 'trace_metrics',
  columns: ['name', 'type', 'value', 'unit'],
  write(rows, metric) {
    rows.text(metric.name)
    rows.text(metric.type)
    rows.float64(metric.value)
    rows.text(metric.unit)
  },
}

/** Writes measurements. Partitions of their days must exist. */
export const recordTraceMetrics = (
  tx: Tx,
  metrics: readonly (TraceMetric & Receipt)[],
  pace: Pace | null = null,
): Promise<void> => recordEntries(tx, TRACE_METRICS, metrics, pace)

/** @param pace called between parts of many entries */
export const traceMetricRecorder =
  (pace: Pace | null): Recorder<readonly TraceMetric[]> =>
  async (tx, _context, facts) => {
    await recordTraceMetrics(
      tx,
      facts.flatMap(({ fact, context: { projectId, receivedAt } }) =>
        fact.map((metric) => ({ ...metric, projectId, receivedAt })),
      ),
      pace,
    )
    return null
  }
