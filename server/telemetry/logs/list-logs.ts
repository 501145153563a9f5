import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import { pageByTime, type PageInput, parseLogRange, type RangeInput } from './page.ts'
import { LogItem } from './telemetry.api.ts'
import { countLogs, selectLogs, type LogFilter } from './telemetry.queries.ts'

type ListLogsInput = PageInput &
  RangeInput & {
    readonly projectId: string
    readonly level?: readonly string[] | undefined
    readonly q?: string | undefined
    readonly trace_id?: string | undefined
  }

/** @throws AppError not_found, invalid */
export async function listLogs(app: App, actor: OrgActor, input: ListLogsInput): Promise<Page<LogItem>> {
  const project = await readProject(app.db, actor.orgId, input.projectId)
  if (project === null) throw notFound('Project')
  const filter: LogFilter = {
    projectId: input.projectId,
    ...parseLogRange(input),
    oldestDay: oldestDay(project.settings, app.clock.now()),
    levels: input.level ?? null,
    text: input.q ?? null,
    traceId: eventIdFrom(input.trace_id),
  }
  return pageByTime(input, {
    select: (slice) => selectLogs(app.db, filter, slice),
    count: () => countLogs(app.db, filter),
    at: (row) => row.occurred_at,
    view: (row) =>
      LogItem.parse({
        ...row,
        occurred_at: row.occurred_at.toISOString(),
        received_at: row.received_at.toISOString(),
        notes: row.notes ?? [],
      }),
  })
}
