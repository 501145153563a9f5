import type { App } from '../../platform/context/app.ts'
import { inBatches } from '../../platform/jobs/in-batches.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { dayOf, dayPlus } from '../../platform/kernel/day.ts'
import { BUCKET_SECONDS, KEPT_MS } from './buckets.ts'
import {
  deleteAttributesUnusedSince,
  deleteDevicesBefore,
  deleteRollupsBefore,
  deleteSessionsBefore,
} from './purge.queries.ts'
import { SESSION_RETENTION_MS } from './record-sessions.ts'

const HOUR_MS = 3_600_000
/** Clocks of processes may differ: a row must outlive the last update that could belong to it. */
const MARGIN_MS = HOUR_MS
const DEVICE_RETENTION_DAYS = 90
const MAX_ROWS = 10_000

/**
 * Deletes sessions after six days, buckets at the end of their time, devices of users
 * after 90 days without events, and unused attributes after 400 days. Small transactions keep the waits of digestion short.
 * @returns numbers of sessions and rollups deleted
 */
export async function purgeSessions(app: App, signal?: AbortSignal): Promise<{ sessions: number; rollups: number }> {
  const now = app.clock.now().getTime()
  const sessions = await inBatches(MAX_ROWS, signal, () =>
    deleteSessionsBefore(app.db, new Date(now - SESSION_RETENTION_MS - MARGIN_MS), MAX_ROWS),
  )
  let rollups = 0
  for (const bucketSeconds of BUCKET_SECONDS) {
    const before = new Date(now - KEPT_MS[bucketSeconds])
    const purge = (table: 'health_rollups' | 'health_sketches') =>
      inBatches(MAX_ROWS, signal, () => deleteRollupsBefore(app.db, table, bucketSeconds, before, MAX_ROWS))
    rollups += await purge('health_rollups')
    await purge('health_sketches')
  }
  const unseen = dayPlus(dayOf(new Date(now)), -DEVICE_RETENTION_DAYS)
  await inBatches(MAX_ROWS, signal, () => deleteDevicesBefore(app.db, unseen, MAX_ROWS))
  await deleteAttributesUnusedSince(app.db, dayPlus(dayOf(new Date(now - KEPT_MS[86_400])), -1))
  return { sessions, rollups }
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
