import type { LogEntry } from '../../events/protocol/log.ts'
import type { TraceMetric } from '../../events/protocol/trace-metric.ts'
import type { Recorder } from '../../events/items/recorder.ts'
import { addLogCounts } from './counts.queries.ts'
import { insertEntries, type EntryTable, type Pace, type Receipt } from './entries.queries.ts'

export const LOGS: EntryTable<LogEntry & Receipt> = {
  name: 'logs',
  columns: ['level', 'severity_number', 'body'],
  write(rows, entry) {
    rows.text(entry.level)
    rows.int16(entry.severityNumber)
    rows.text(entry.body)
  },
  count: addLogCounts,
}

export const TRACE_METRICS: EntryTable<TraceMetric & Receipt> = {
  name: 'trace_metrics',
  columns: ['name', 'type', 'value', 'unit'],
  write(rows, metric) {
    rows.text(metric.name)
    rows.text(metric.type)
    rows.float64(metric.value)
    rows.text(metric.unit)
  },
}

/** The recorder of log entries or trace metrics. @param pace called between parts of many entries */
export const entryRecorder =
  <E extends LogEntry | TraceMetric>(table: EntryTable<E & Receipt>, pace: Pace | null): Recorder<readonly E[]> =>
  async (tx, _context, facts) => {
    const entries = facts.flatMap(({ fact, context: { projectId, receivedAt } }) =>
      fact.map((entry) => ({ ...entry, projectId, receivedAt })),
    )
    await insertEntries(tx, table, entries, pace)
    return null
  }
