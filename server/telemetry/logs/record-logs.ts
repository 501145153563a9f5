import type { Tx } from '../../platform/storage/database.ts'
import type { LogEntry } from '../../events/protocol/log.ts'
import type { Recorder } from '../../events/items/recorder.ts'
import { recordEntries, type EntryTable, type Pace, type Receipt } from './entries.queries.ts'

const LOGS: EntryTable<LogEntry & Receipt> = {
  name: 'logs',
  columns: ['level', 'severity_number', 'body'],
  write(rows, entry) {
    rows.text(entry.level)
    rows.int16(entry.severityNumber)
    rows.text(entry.body)
  },
}

/** Writes log entries. Partitions of their days must exist. */
export const recordLogs = (tx: Tx, entries: readonly (LogEntry & Receipt)[], pace: Pace | null = null): Promise<void> =>
  recordEntries(tx, LOGS, entries, pace)

/** @param pace called between parts of many entries */
export const logRecorder =
  (pace: Pace | null): Recorder<readonly LogEntry[]> =>
  async (tx, _context, facts) => {
    await recordLogs(
      tx,
      facts.flatMap(({ fact, context: { projectId, receivedAt } }) =>
        fact.map((entry) => ({ ...entry, projectId, receivedAt })),
      ),
      pace,
    )
    return null
  }
