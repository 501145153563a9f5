import type { App } from '../../context/app.ts'
import { defineTask, NoPayload } from '../../jobs/task.ts'
import { dayOf, dayPlus } from '../../kernel/day.ts'
import { deleteAttributesUnusedSince, deleteRollupsBefore, deleteSessionsBefore } from './purge.queries.ts'
import { SESSION_KEPT_MS } from './record-sessions.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Clocks of digesters may differ: a row goes a little after the last update it could meet. */
const MARGIN_MS = HOUR_MS
/** Buckets of a minute and of a quarter serve the ranges up to a day. */
const FINE_KEPT_MS = 7 * DAY_MS
const ROLLUPS_KEPT_DAYS = 400
const PIECE = 10_000

/**
 * Deletes what is too old: sessions after six days, buckets finer than an hour after seven days, all others and the
 * attributes nothing is counted under any more after 400. In pieces, so that digestion never waits long.
 * @returns how many sessions and rollup rows went
 */
export async function purgeSessions(app: App, signal?: AbortSignal): Promise<{ sessions: number; rollups: number }> {
  const now = app.clock.now().getTime()
  const oldest = new Date(now - ROLLUPS_KEPT_DAYS * DAY_MS)
  const sessions = await inPieces(signal, () =>
    deleteSessionsBefore(app.db, new Date(now - SESSION_KEPT_MS - MARGIN_MS), PIECE),
  )
  let rollups = 0
  for (const [bucketSeconds, before] of [
    [60, new Date(now - FINE_KEPT_MS)],
    [900, new Date(now - FINE_KEPT_MS)],
    [3_600, oldest],
    [21_600, oldest],
  ] as const) {
    rollups += await inPieces(signal, () => deleteRollupsBefore(app.db, bucketSeconds, before, PIECE))
  }
  await deleteAttributesUnusedSince(app.db, dayPlus(dayOf(oldest), -1))
  return { sessions, rollups }
}

async function inPieces(signal: AbortSignal | undefined, deletePiece: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    signal?.throwIfAborted()
    const deleted = await deletePiece()
    total += deleted
    if (deleted < PIECE) return total
  }
}

/** Every hour: a day's sessions at once would keep autovacuum busy for long. */
export const purgeSessionsTask = defineTask({
  name: 'purge-sessions',
  payload: NoPayload,
  cron: '23 * * * *',
  async run(app, _payload, signal) {
    await purgeSessions(app, signal)
  },
})
