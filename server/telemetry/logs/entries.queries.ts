import type { Tx } from '../../platform/storage/database.ts'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { eachWithPauses } from '../../platform/kernel/thread-task.ts'

/** Project and time of receipt of an entry. */
export type Receipt = { readonly projectId: string; readonly receivedAt: Date }

/** The common fields of log entries and measurements. */
type Entry = Receipt & {
  readonly occurredAt: Date
  readonly traceId: string | null
  readonly spanId: string | null
  readonly release: string | null
  readonly environment: string | null
  readonly attributes: unknown
  readonly notes: readonly unknown[]
}

const BEFORE = ['received_day', 'project_id', 'id', 'received_at', 'occurred_at'] as const
const AFTER = ['trace_id', 'span_id', 'release', 'environment', 'attributes', 'notes'] as const

/** The table of a kind of entry: its own columns, and a function that writes them in that order. */
export type EntryTable<E> = {
  readonly name: 'logs' | 'trace_metrics'
  readonly columns: readonly string[]
  readonly write: (rows: CopyRows, entry: E) => void
  /** Counts entries after they are written. */
  readonly count?: (tx: Tx, entries: readonly E[]) => Promise<void>
}

/** Entries of one statement, where others may need the database meanwhile: a few dozen milliseconds. */
const PART_ENTRIES = 500

/** Called with the milliseconds that a part of many entries took, before the next one. */
export type Pace = (tookMs: number) => Promise<void>

/** Writes entries. Partitions of their days must exist. */
export async function insertEntries<E extends Entry>(
  tx: Tx,
  table: EntryTable<E>,
  entries: readonly E[],
  pace: Pace | null = null,
): Promise<void> {
  const partEntries = pace === null ? entries.length : PART_ENTRIES
  for (let start = 0; start < entries.length; start += partEntries) {
    const startedMs = performance.now()
    await writePart(tx, table, entries.slice(start, start + partEntries))
    await pace?.(performance.now() - startedMs)
  }
  // Last: the rows of counts stay locked until the transaction ends.
  await table.count?.(tx, entries)
}

async function writePart<E extends Entry>(tx: Tx, table: EntryTable<E>, entries: readonly E[]): Promise<void> {
  const columns = [...BEFORE, ...table.columns, ...AFTER]
  const rows = new CopyRows()
  await eachWithPauses(entries, (entry) => {
    rows.row(columns.length)
    rows.day(utcDay(entry.receivedAt))
    rows.uuid(entry.projectId)
    rows.uuid(newId())
    rows.time(entry.receivedAt)
    rows.time(entry.occurredAt)
    table.write(rows, entry)
    if (entry.traceId === null) rows.nothing()
    else rows.uuid(entry.traceId)
    rows.text(entry.spanId)
    rows.text(entry.release)
    rows.text(entry.environment)
    rows.json(JSON.stringify(entry.attributes))
    rows.json(entry.notes.length === 0 ? null : JSON.stringify(entry.notes))
  })
  await tx.copyIn(`${table.name} (${columns.join(', ')})`, rows)
}
