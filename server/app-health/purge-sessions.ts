import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { deleteAttributesUnusedSince, deleteRollupsBefore, deleteSessionsBefore } from './purge.queries.ts'
import { SESSION_RETENTION_MS } from './record-sessions.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Clocks of processes may differ: a row must outlive the last update that could belong to it. */
const MARGIN_MS = HOUR_MS
/** Buckets of 1 and 15 minutes serve charts of up to a day. */
const FINE_RETENTION_MS = 7 * DAY_MS
const ROLLUP_RETENTION_DAYS = 400
const MAX_ROWS = 10_000

/**
 * Deletes sessions after six days, buckets shorter than an hour after seven days, and other buckets and unused attributes
 * after 400 days. Small transactions keep the waits of digestion short.
 * @returns numbers of sessions and rollups deleted
 */
export async function purgeSessions(app: App, signal?: AbortSignal): Promise<{ sessions: number; rollups: number }> {
  const now = app.clock.now().getTime()
  const oldest = new Date(now - ROLLUP_RETENTION_DAYS * DAY_MS)
  const sessions = await inBatches(signal, () =>
    deleteSessionsBefore(app.db, new Date(now - SESSION_RETENTION_MS - MARGIN_MS), MAX_ROWS),
  )
  let rollups = 0
  for (const [bucketSeconds, before] of [
    [60, new Date(now - FINE_RETENTION_MS)],
    [900, new Date(now - FINE_RETENTION_MS)],
    [3_600, oldest],
    [21_600, oldest],
  ] as const) {
    rollups += await inBatches(signal, () => deleteRollupsBefore(app.db, bucketSeconds, before, MAX_ROWS))
  }
  await deleteAttributesUnusedSince(app.db, dayPlus(dayOf(oldest), -1))
  return { sessions, rollups }
}

async function inBatches(signal: AbortSignal | undefined, deleteBatch: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    signal?.throwIfAborted()
    const deleted = await deleteBatch()
    total += deleted
    if (deleted < MAX_ROWS) return total
  }
}

/** Runs every hour: deleting a day's sessions in one run would keep autovacuum busy for long. */
export const purgeSessionsTask = defineTask({
  name: 'purge-sessions',
  payload: NoPayload,
  cron: '23 * * * *',
  async run(app, _payload, signal) {
    await purgeSessions(app, signal)
  },
})
