import type { App } from '../context/app.ts'
import { utcDay, dayPlus } from '../kernel/day.ts'
import { deleteRows, type OwnRows, type RowFilter } from '../storage/own-rows.ts'
import { defineTask, NoPayload, type Task } from './task.ts'

const MAX_ROWS = 5_000

/** Rows that are deleted at an age. */
export type AgingRows = {
  readonly rows: OwnRows
  /** A time or day. */
  readonly column: string
  /** How long after it a row stays: so many milliseconds, or that day and so many UTC days before today. */
  readonly kept: { readonly ms: number } | { readonly days: number }
  readonly equal?: RowFilter['equal']
}

/**
 * Deletes rows past their age, in small transactions, so that digestion never waits long.
 * @returns number of deleted rows by table
 */
export async function purgeRows(
  app: App,
  list: readonly AgingRows[],
  signal?: AbortSignal,
): Promise<Readonly<Record<string, number>>> {
  const now = app.clock.now()
  const deleted: Record<string, number> = {}
  for (const { rows, column, kept, equal = {} } of list) {
    const time = 'ms' in kept ? new Date(now.getTime() - kept.ms) : startOfDay(dayPlus(utcDay(now), -kept.days))
    deleted[rows.table] =
      (deleted[rows.table] ?? 0) + (await purgeBefore(app, rows, { equal, before: [column, time] }, signal))
  }
  return deleted
}

/** Deletes the rows that a filter selects, in small transactions. @returns number of deleted rows */
export const purgeBefore = (app: App, rows: OwnRows, filter: RowFilter, signal?: AbortSignal): Promise<number> =>
  inBatches(MAX_ROWS, signal, () => deleteRows(app.db, rows, filter, MAX_ROWS, 'skip'))

export const startOfDay = (day: string): string => `${day}T00:00:00Z`

/** A scheduled task that only purges rows. */
export const purgeTask = (name: string, cron: string, list: readonly AgingRows[]): Task =>
  defineTask({
    name,
    payload: NoPayload,
    cron,
    async run(app, _payload, signal) {
      await purgeRows(app, list, signal)
    },
  })

/**
 * Repeats a deletion of at most `max` rows until none is left, each time in a transaction of its own: small ones keep the
 * waits of digestion short.
 * @param signal ends it after the current batch, with an error
 * @returns number of rows deleted
 */
export async function inBatches(
  max: number,
  signal: AbortSignal | undefined,
  deleteBatch: () => Promise<number>,
): Promise<number> {
  let total = 0
  for (;;) {
    signal?.throwIfAborted()
    const deleted = await deleteBatch()
    total += deleted
    if (deleted < max) return total
  }
}
