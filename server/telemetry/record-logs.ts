import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { CopyRows } from '../events/copy-rows.ts'
import { dayOf } from '../kernel/day.ts'
import { newId } from '../kernel/ids.ts'
import type { LogEntry } from '../protocol/log.ts'

/** Whose an entry is, and when it came. */
export type Receipt = { readonly projectId: string; readonly receivedAt: Date }

const COLUMNS = [
  'received_day',
  'project_id',
  'id',
  'received_at',
  'occurred_at',
  'level',
  'severity_number',
  'body',
  'trace_id',
  'span_id',
  'release',
  'environment',
  'attributes',
  'notes',
] as const

/** Writes entries inside the caller's transaction, in their order. Partitions of their days must exist. */
export async function recordLogs(client: pg.ClientBase, entries: readonly (LogEntry & Receipt)[]): Promise<void> {
  if (entries.length === 0) return
  const rows = new CopyRows()
  for (const entry of entries) {
    rows.row(COLUMNS.length)
    rows.day(dayOf(entry.receivedAt))
    rows.uuid(entry.projectId)
    rows.uuid(newId())
    rows.time(entry.receivedAt)
    rows.time(entry.occurredAt)
    rows.text(entry.level)
    rows.int16(entry.severityNumber)
    rows.text(entry.body)
    if (entry.traceId === null) rows.nothing()
    else rows.uuid(entry.traceId)
    rows.text(entry.spanId)
    rows.text(entry.release)
    rows.text(entry.environment)
    rows.json(JSON.stringify(entry.attributes))
    rows.json(entry.notes.length === 0 ? null : JSON.stringify(entry.notes))
  }
  await pipeline(
    Readable.from(rows.finish()),
    client.query(copyFrom(`copy logs (${COLUMNS.join(', ')}) from stdin (format binary)`)),
  )
}
