import type { PreparedEntry } from './digest.ts'

/**
 * The estimated time of recording, in ms of an idle machine: to commit little at a time where other projects wait, and
 * together what is cheap.
 */
const LIST_ENTRY_MS = 0.05
const FACT_MS = 0.3
/** For what is stored with the item: bodies and files. */
const BYTE_MS = 10 / 1_000_000

/** A commit that takes longer delays other projects of its part. */
export const MAX_SHARED_COST_MS = 50
/** Log entries and measurements of a row that are never recorded together with other rows. */
const MANY_ENTRIES = 1_000

/** The number of log entries and measurements in prepared requests. */
const listEntriesOf = (entries: readonly PreparedEntry[]): number => {
  let sum = 0
  for (const { items } of entries)
    for (const item of items ?? [])
      if ('kind' in item && (item.kind === 'logs' || item.kind === 'trace_metrics')) sum += item.quantity
  return sum
}

/** The estimated time of the commit of a row. @param bytes as stored */
export function commitCostMs(entries: readonly PreparedEntry[], bytes: number): number {
  let facts = 0
  for (const { items } of entries) facts += items?.length ?? 0
  return listEntriesOf(entries) * LIST_ENTRY_MS + facts * FACT_MS + bytes * BYTE_MS
}

/** Whether a row is committed alone, beside the others of its part. @param isShared whether other projects use the part */
export const isHeavy = (entries: readonly PreparedEntry[], costMs: number, isShared: boolean): boolean =>
  (isShared && costMs > MAX_SHARED_COST_MS) || listEntriesOf(entries) > MANY_ENTRIES
