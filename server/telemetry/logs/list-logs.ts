import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { readLogFilter, type LogFilterInput } from './log-filter.ts'
import { pageByTime, type PageInput } from './page.ts'
import { LogItem } from './telemetry.api.ts'
import { countLogs, selectAround, selectLogs } from './telemetry.queries.ts'

/** @throws AppError not_found, invalid */
export async function listLogs(app: App, actor: OrgActor, input: PageInput & LogFilterInput): Promise<Page<LogItem>> {
  const filter = await readLogFilter(app, actor, input)
  return pageByTime(input, {
    select: (slice) => selectLogs(app.db, filter, slice),
    count: () => countLogs(app.db, filter),
    at: (row) => row.occurred_at,
    view: viewLog,
  })
}

/** Entries on each side of a moment. */
const LINES_AROUND = 50

/** @throws AppError not_found */
export async function listLogsAround(
  app: App,
  actor: OrgActor,
  { projectId, at }: { readonly projectId: string; readonly at: string },
): Promise<{ items: LogItem[] }> {
  const filter = await readLogFilter(app, actor, { projectId })
  const rows = await selectAround(app.db, filter, new Date(at), LINES_AROUND)
  return { items: rows.map(viewLog) }
}

const viewLog = (row: Awaited<ReturnType<typeof selectLogs>>[number]): LogItem =>
  LogItem.parse({
    ...row,
    occurred_at: row.occurred_at.toISOString(),
    received_at: row.received_at.toISOString(),
    notes: row.notes ?? [],
  })
