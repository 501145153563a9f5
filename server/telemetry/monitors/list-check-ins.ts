import { readSlug } from '../../events/protocol/check-in.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import { runDuration, runStart } from './check-in.ts'
import { viewConfig } from './monitor-config.ts'
import { pageByTime, type PageInput, parseLogRange, type RangeInput } from '../logs/page.ts'
import { CheckInItem } from './monitors.api.ts'
import { countRuns, plainId, selectRuns, type RunFilter } from '../logs/telemetry.queries.ts'

type ListCheckInsInput = PageInput &
  RangeInput & {
    readonly projectId: string
    readonly monitor?: string | undefined
    readonly status?: readonly string[] | undefined
    readonly environment?: string | undefined
  }

/** @throws AppError not_found, invalid */
export async function listCheckIns(app: App, actor: OrgActor, input: ListCheckInsInput): Promise<Page<CheckInItem>> {
  const project = await readProject(app.db, actor.orgId, input.projectId)
  if (project === null) throw notFound('Project')
  const filter: RunFilter = {
    projectId: input.projectId,
    ...parseLogRange(input, app.clock.now()),
    oldestDay: oldestDay(project.settings, app.clock.now()),
    // A name is found like its slug.
    monitor: input.monitor === undefined ? null : (readSlug(input.monitor) ?? input.monitor),
    statuses: input.status ?? null,
    environment: input.environment ?? null,
  }
  return pageByTime(input, {
    select: (slice) => selectRuns(app.db, filter, slice),
    count: () => countRuns(app.db, filter),
    at: (row) => row.received_at,
    view: viewRun,
  })
}

type RunRow = Awaited<ReturnType<typeof selectRuns>>[number]

function viewRun(row: RunRow): CheckInItem {
  const times = { startedAt: row.started_at, finishedAt: row.finished_at, durationMs: row.duration_ms }
  return CheckInItem.parse({
    ...row,
    id: unhyphenate(row.id),
    monitor: {
      id: row.monitor_id,
      slug: row.slug,
      ...viewConfig(row),
    },
    trace_id: plainId(row.trace_id),
    duration_ms: runDuration(times),
    started_at: runStart(times)?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    received_at: row.received_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    notes: row.notes ?? [],
  })
}
