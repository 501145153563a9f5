import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import { pageByTime, type PageInput, parseLogRange, type RangeInput } from './page.ts'
import { TraceMetricItem } from './telemetry.api.ts'
import { countMetrics, selectMetrics, type MetricFilter } from './telemetry.queries.ts'

type ListTraceMetricsInput = PageInput &
  RangeInput & {
    readonly projectId: string
    readonly name?: string | undefined
    readonly type?: string | undefined
    readonly trace_id?: string | undefined
  }

/** @throws AppError not_found, invalid */
export async function listTraceMetrics(
  app: App,
  actor: OrgActor,
  input: ListTraceMetricsInput,
): Promise<Page<TraceMetricItem>> {
  const project = await readProject(app.db, actor.orgId, input.projectId)
  if (project === null) throw notFound('Project')
  const filter: MetricFilter = {
    projectId: input.projectId,
    ...parseLogRange(input, app.clock.now()),
    oldestDay: oldestDay(project.settings, app.clock.now()),
    name: input.name ?? null,
    type: input.type ?? null,
    traceId: eventIdFrom(input.trace_id),
  }
  return pageByTime(input, {
    select: (slice) => selectMetrics(app.db, filter, slice),
    count: () => countMetrics(app.db, filter),
    at: (row) => row.occurred_at,
    view: (row) =>
      TraceMetricItem.parse({
        ...row,
        occurred_at: row.occurred_at.toISOString(),
        received_at: row.received_at.toISOString(),
        notes: row.notes ?? [],
      }),
  })
}
