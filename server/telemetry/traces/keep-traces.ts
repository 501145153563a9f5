import type { App } from '../../platform/context/app.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { dropDaysBefore } from '../../platform/storage/day-partitions.ts'
import * as sql from './choose.queries.ts'
import { TRACE_DAY_ROWS } from './record.queries.ts'
import { chooseTraces } from './choose-traces.ts'

/** So long parts of a trace, and its errors, may follow each other. */
export const SETTLE_MS = 5 * 60_000
export const RETENTION_DAYS = 7
/** Parts per transaction. */
const MAX_PARTS = 2_000

/**
 * Decides about parts that arrived more than five minutes ago, and deletes those that are not kept. Returns immediately
 * while another process does the same.
 * @returns number of parts decided
 */
export async function keepTraces(app: App, signal?: AbortSignal): Promise<number> {
  let decided = 0
  for (;;) {
    const parts = await app.tx(async (tx) => {
      if (!(await sql.lockChoice(tx))) return 0
      const now = app.clock.now()
      const today = utcDay(now)
      const due = await sql.dueParts(tx, new Date(now.getTime() - SETTLE_MS), MAX_PARTS)
      let count = 0
      for (const [projectId, ofProject] of due) {
        const slow = await sql.slowSegments(tx, projectId, [...new Set(ofProject.map(({ hour }) => hour))])
        const traceIds = [...new Set(ofProject.map(({ traceId }) => traceId))]
        const choice = chooseTraces(ofProject, {
          kept: await sql.keptAmong(tx, projectId, traceIds),
          withError: await sql.withError(tx, projectId, [...traceIds, ...slow.map(({ traceId }) => traceId)]),
          slow,
          today: await sql.keptOn(tx, projectId, today),
        })
        await sql.applyChoice(tx, projectId, today, choice)
        count += ofProject.length
      }
      return count
    })
    decided += parts
    if (parts < MAX_PARTS || signal?.aborted === true) return decided
  }
}

/** Runs every minute: until then the spans of every trace are on disk. */
export const keepTracesTask = defineTask({
  name: 'keep-traces',
  payload: NoPayload,
  cron: '* * * * *',
  async run(app, _payload, signal) {
    await keepTraces(app, signal)
  },
})

/** Deletes traces after seven days. */
export async function purgeTraces(app: App): Promise<void> {
  const oldest = dayPlus(utcDay(app.clock.now()), -RETENTION_DAYS)
  await dropDaysBefore(app.db, ['trace_parts', 'trace_errors'], oldest)
  await purgeRows(app, [{ rows: TRACE_DAY_ROWS, column: 'day', kept: { days: RETENTION_DAYS } }])
}

export const purgeTracesTask = defineTask({
  name: 'purge-traces',
  payload: NoPayload,
  cron: '47 * * * *',
  async run(app) {
    await purgeTraces(app)
  },
})
