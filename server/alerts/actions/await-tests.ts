import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../platform/context/app.ts'
import { type SentRow, selectSent } from './actions.queries.ts'

/** How long a caller waits for answers: a little longer than an attempt takes. */
const WAIT_MS = 12_000
/** When no worker has taken any of them after this time, none will soon. */
const WAIT_FOR_WORKER_MS = 3_000
const FIRST_POLL_MS = 50
const MAX_POLL_MS = 500

/** Deliveries after their first attempts, or when the time is over. By id. */
export async function awaitTests(app: App, deliveryIds: readonly string[]): Promise<ReadonlyMap<string, SentRow>> {
  const startedMs = performance.now()
  let pollMs = FIRST_POLL_MS
  for (;;) {
    const rows = await selectSent(app.db, deliveryIds)
    const isDone = rows.every(({ attempts, reason }) => attempts > 0 || reason !== null)
    const waitMs = rows.some(({ state }) => state !== 'pending') ? WAIT_MS : WAIT_FOR_WORKER_MS
    if (isDone || performance.now() - startedMs >= waitMs) return new Map(rows.map((row) => [row.id, row]))
    await delay(pollMs)
    pollMs = Math.min(MAX_POLL_MS, pollMs * 1.5)
  }
}
