import { z } from 'zod'
import type { RangeName } from '#shared/issue-values.ts'
import { rangeEnd, TIME_RANGES } from '#shared/time-ranges.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import { Id, type Page } from '../../platform/kernel/page.api.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { pageByTime, type PageInput } from '../logs/page.ts'
import { keepReason } from './choose.queries.ts'
import { countTraces, selectOverview, selectTraces, type TraceFilter } from './list.queries.ts'
import { selectDays, selectProjects } from './read.queries.ts'
import type { TraceItem, TraceOverview } from './traces.api.ts'

type TracesInput = {
  readonly projectId?: string | undefined
  readonly range: RangeName
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly op?: readonly string[] | undefined
  readonly name?: readonly string[] | undefined
  readonly status?: readonly string[] | undefined
  readonly min_ms?: number | undefined
  readonly max_ms?: number | undefined
  readonly release?: readonly string[] | undefined
  readonly environment?: readonly string[] | undefined
  readonly tag?: readonly string[] | undefined
  readonly q?: string | undefined
}

/** The projects of a trace as its row holds them. */
const Shares = z.array(z.object({ project_id: Id, spans: z.number().int(), path_ms: z.number() }))

/** @throws AppError not_found (project), invalid */
export async function listTraces(app: App, actor: OrgActor, input: TracesInput & PageInput): Promise<Page<TraceItem>> {
  const filter = await filterOf(app, actor, input)
  const projects = new Map((await selectProjects(app.db, actor.orgId)).map(({ id, name }) => [id, name]))
  return pageByTime(input, {
    select: (slice) => selectTraces(app.db, filter, slice),
    count: () => countTraces(app.db, filter),
    at: (row) => row.startedAt,
    view: (row): TraceItem => ({
      trace_id: row.traceId,
      kept_because: keepReason(row.keep) ?? 'recent',
      name: row.name,
      op: row.op,
      started_at: row.startedAt.toISOString(),
      duration_ms: row.durationMs,
      status: row.failed || row.errors > 0 ? 'error' : 'ok',
      spans: row.spans,
      errors: row.errors,
      projects: Shares.parse(row.projects).flatMap((share) => {
        // A project may have been deleted since.
        const name = projects.get(share.project_id)
        return name === undefined ? [] : [{ ...share, name }]
      }),
    }),
  })
}

const Values = z.array(z.object({ value: z.string(), count: z.number().int() }))
const Sums = z.object({
  searched: z.number().int(),
  total: z.number().int(),
  project: Values,
  status: Values,
  op: Values,
  name: Values,
  release: Values,
  environment: Values,
  durations: z.array(z.object({ step: z.number().int(), count: z.number().int() })),
  points: z.array(
    z.object({
      trace_id: z.string(),
      started_at: z.coerce.date(),
      duration_ms: z.number(),
      status: z.enum(['ok', 'error']),
      matches: z.boolean(),
    }),
  ),
})

/** @throws AppError not_found (project), invalid */
export async function readTraceOverview(app: App, actor: OrgActor, input: TracesInput): Promise<TraceOverview> {
  const filter = await filterOf(app, actor, input)
  const projects = await selectProjects(app.db, actor.orgId)
  const ofSampling = filter.projectId === null ? projects.map(({ id }) => id) : [filter.projectId]
  const fromDay = utcDay(filter.from)
  const [given, sampling] = await Promise.all([
    selectOverview(app.db, filter),
    selectDays(app.db, ofSampling, fromDay, utcDay(filter.to)),
  ])
  const { searched, total, durations, points, project, ...facets } = Sums.parse(given)
  const names = new Map(projects.map(({ id, name }) => [id, name]))
  return {
    from: filter.from.toISOString(),
    to: filter.to.toISOString(),
    searched,
    total,
    facets: {
      ...facets,
      project: project.flatMap(({ value, count }) => {
        const name = names.get(value)
        return name === undefined ? [] : [{ value, name, count }]
      }),
    },
    durations: durations.map(({ step, count }) => ({
      from_ms: 10 ** (step / 3),
      to_ms: 10 ** ((step + 1) / 3),
      count,
    })),
    points: points.map((point) => ({ ...point, started_at: point.started_at.toISOString() })),
    sampling: { from: fromDay, ...sampling },
  }
}

async function filterOf(app: App, actor: OrgActor, input: TracesInput): Promise<TraceFilter> {
  if (input.projectId !== undefined) await requireProject(app, actor, input.projectId)
  const { min_ms: minMs = null, max_ms: maxMs = null } = input
  if (minMs !== null && maxMs !== null && minMs > maxMs) throw invalid('min_ms must not be above max_ms.')
  const text = input.q?.trim().toLowerCase() ?? ''
  return {
    orgId: actor.orgId,
    ...windowOf(app, input),
    projectId: input.projectId ?? null,
    ops: input.op ?? null,
    names: input.name ?? null,
    statuses: input.status ?? null,
    minMs,
    maxMs,
    releases: input.release ?? null,
    environments: input.environment ?? null,
    tags: input.tag ?? null,
    text: text === '' ? null : /^[0-9a-f-]{36}$/.test(text) ? unhyphenate(text) : text,
  }
}

/** The given times, or the range up to now. */
function windowOf(app: App, { range, from, to }: TracesInput): { from: Date; to: Date } {
  if ((from === undefined) !== (to === undefined)) throw invalid('Send from and to together.')
  if (from !== undefined && to !== undefined) {
    const given = { from: new Date(from), to: new Date(to) }
    if (given.from >= given.to) throw invalid('from must be before to.')
    return given
  }
  const endMs = rangeEnd(app.clock.now().getTime(), range)
  return { from: new Date(endMs - TIME_RANGES[range].lengthMs), to: new Date(endMs) }
}
