import type { App } from '../../platform/context/app.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { dropDaysBefore } from '../../platform/storage/day-partitions.ts'
import * as sql from './choose.queries.ts'
import { chooseTraces } from './choose-traces.ts'
import { loadTraces } from './load-traces.ts'
import { TRACE_DAY_ROWS } from './record.queries.ts'
import { deleteSummaries, staleTraces, type SummaryRow, TRACE_ROWS, upsertSummaries } from './summaries.queries.ts'
import { summariseTrace } from './summarise-trace.ts'

/** So long parts of a trace, and its errors, may follow each other. */
export const SETTLE_MS = 5 * 60_000
/** A trace is decided after this time even while further parts arrive. */
const OVERDUE_MS = 15 * 60_000
export const RETENTION_DAYS = 7
/** Traces per transaction. */
const MAX_TRACES = 1_000

/**
 * Decides about traces of which nothing arrived for five minutes, each as a whole across the projects of its
 * organisation, and deletes those that are not kept. Returns immediately while another process does the same.
 * @returns number of parts decided
 */
export async function keepTraces(app: App, signal?: AbortSignal): Promise<number> {
  let decided = 0
  for (;;) {
    const { parts, traces } = await app.tx(async (tx) => {
      if (!(await sql.lockChoice(tx))) return { parts: 0, traces: 0 }
      const now = app.clock.now()
      const today = utcDay(now)
      const due = await sql.dueParts(tx, {
        settled: new Date(now.getTime() - SETTLE_MS),
        overdue: new Date(now.getTime() - OVERDUE_MS),
        maxTraces: MAX_TRACES,
      })
      const count = { parts: 0, traces: 0 }
      for (const [orgId, ofOrg] of due) {
        const projectIds = await sql.selectProjectIds(tx, orgId)
        const slow = await sql.slowSegments(tx, projectIds, [...new Set(ofOrg.map(({ hour }) => hour))])
        const dueIds = [...new Set(ofOrg.map(({ traceId }) => traceId))]
        const traceIds = [...new Set([...dueIds, ...slow.map(({ traceId }) => traceId)])]
        const some = { orgId, projectIds, traceIds }
        const choice = chooseTraces(ofOrg, {
          kept: await sql.keptAmong(tx, some),
          withError: await sql.withError(tx, some),
          slow,
          today: await sql.keptOn(tx, projectIds, today),
        })
        await sql.applyChoice(tx, some, now, today, choice)
        count.parts += ofOrg.length
        count.traces += dueIds.length
      }
      return count
    })
    decided += parts
    if (traces < MAX_TRACES || signal?.aborted === true) return decided
  }
}

/** Traces that are summed up in one transaction, and in one run: the newest, as the list shows them first. */
const SUMMARISED_AT_ONCE = 50
const MAX_SUMMARISED = 1_000

/** Writes the rows of the list of traces, of those that were kept and of those that have just arrived. */
export async function summariseTraces(app: App, signal?: AbortSignal): Promise<void> {
  for (let done = 0; done < MAX_SUMMARISED; done += SUMMARISED_AT_ONCE) {
    const count = await app.tx(async (tx) => {
      if (!(await sql.lockChoice(tx))) return 0
      const stale = await staleTraces(tx, SUMMARISED_AT_ONCE)
      for (const [orgId, traceIds] of stale) {
        const projectIds = await sql.selectProjectIds(tx, orgId)
        const rows: SummaryRow[] = []
        // One after the other: each may have 20,000 spans.
        for (const traceId of traceIds) {
          const trace = (await loadTraces(tx, projectIds, [traceId])).get(traceId)
          if (trace !== undefined && trace.spans.length > 0)
            rows.push({ ...summariseTrace(trace), traceId, received: trace.received, newest: trace.newest })
        }
        const written = new Set(rows.map(({ traceId }) => traceId))
        if (rows.length > 0) await upsertSummaries(tx, orgId, rows)
        const gone = traceIds.filter((traceId) => !written.has(traceId))
        if (gone.length > 0) await deleteSummaries(tx, orgId, gone)
      }
      return [...stale.values()].reduce((sum, { length }) => sum + length, 0)
    })
    if (count < SUMMARISED_AT_ONCE || signal?.aborted === true) return
  }
}

/** Runs every minute: until then the spans of every trace are on disk. */
export const keepTracesTask = defineTask({
  name: 'keep-traces',
  payload: NoPayload,
  cron: '* * * * *',
  async run(app, _payload, signal) {
    await keepTraces(app, signal)
    await summariseTraces(app, signal)
  },
})

/** Deletes traces after seven days. */
export async function purgeTraces(app: App): Promise<void> {
  const oldest = dayPlus(utcDay(app.clock.now()), -RETENTION_DAYS)
  await dropDaysBefore(app.db, ['trace_parts', 'trace_errors'], oldest)
  await purgeRows(app, [
    { rows: TRACE_DAY_ROWS, column: 'day', kept: { days: RETENTION_DAYS } },
    { rows: TRACE_ROWS, column: 'received_at', kept: { days: RETENTION_DAYS } },
  ])
}

export const purgeTracesTask = defineTask({
  name: 'purge-traces',
  payload: NoPayload,
  cron: '47 * * * *',
  async run(app) {
    await purgeTraces(app)
  },
})
