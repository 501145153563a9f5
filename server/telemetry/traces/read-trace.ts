import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { findIssuesByEvent } from '../../events/store/store.queries.ts'
import { shortId } from '#shared/issue-values.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { PlacedSpan } from './assemble-trace.ts'
import { keepReason } from './choose.queries.ts'
import { criticalPath } from './critical-path.ts'
import { type LoadedTrace, loadTraces } from './load-traces.ts'
import * as sql from './read.queries.ts'
import { shareByProject, traceName } from './summarise-trace.ts'
import type { ProjectTrace, Trace } from './traces.api.ts'

const MAX_ERRORS = 100
const MAX_LOGS = 500

/** @throws AppError not_found for a trace that is not stored in the organisation */
export async function readTrace(app: App, actor: OrgActor, given: string): Promise<Trace> {
  const traceId = unhyphenate(given).toLowerCase()
  const projects = await sql.selectProjects(app.db, actor.orgId)
  const projectIds = projects.map(({ id }) => id)
  const trace = (await loadTraces(app.db, projectIds, [traceId])).get(traceId)
  if (trace === undefined) throw notFound('Trace')
  const { root, startMs, endMs } = trace
  const [errors, logs, sampling] = await Promise.all([
    errorsOf(app, projectIds, traceId),
    sql.selectLogsOfTrace(app.db, projectIds, traceId, MAX_LOGS + 1),
    sql.selectDays(app.db, projectIds, trace.receivedDay, trace.receivedDay),
  ])
  const placeOf = placer(trace)
  const ids = idsOf(trace)
  const names = new Map(projects.map(({ id, name }) => [id, name]))
  const shares = shareByProject(trace)
  const tookPart = new Set([
    ...trace.projectIds,
    ...errors.map(({ projectId }) => projectId),
    ...logs.map((log) => log.project_id),
  ])
  for (const { project_id: id } of shares) tookPart.delete(id)
  return {
    trace_id: traceId,
    kept_because: keepReason(trace.keep) ?? 'recent',
    name: traceName(trace),
    op: root?.op ?? '',
    started_at: new Date(startMs).toISOString(),
    duration_ms: endMs - startMs,
    wait_ms: root === null ? 0 : root.end_ms - root.start_ms,
    root_span_id: root?.span_id ?? null,
    projects: shares.map((share) => ({
      ...share,
      name: names.get(share.project_id) ?? '',
      releases: valuesOf(trace, share.project_id, ({ release }) => release),
      environments: valuesOf(trace, share.project_id, ({ environment }) => environment),
      clock_shift_ms: trace.shifts.get(share.project_id) ?? 0,
    })),
    silent_projects: [...tookPart].map((id) => ({ project_id: id, name: names.get(id) ?? '' })),
    spans: trace.spans.map((span) => ({ ...viewSpan(span, trace, ids), project_id: span.projectId })),
    spans_left_out: trace.leftOut,
    critical_path:
      root === null
        ? []
        : criticalPath(trace.spans, root).map(({ span, fromMs, toMs }) => ({
            span_id: span.span_id,
            start_ms: fromMs - startMs,
            duration_ms: toMs - fromMs,
          })),
    errors: errors.map(({ projectId, occurredAt, error }) => ({
      ...error,
      project_id: projectId,
      at_ms: placeOf(projectId, error.span_id, occurredAt),
    })),
    logs: logs.slice(0, MAX_LOGS).map(({ occurred_at: occurredAt, ...log }) => ({
      ...log,
      occurred_at: occurredAt.toISOString(),
      at_ms: placeOf(log.project_id, log.span_id, occurredAt),
    })),
    logs_capped: logs.length > MAX_LOGS,
    sampling,
  }
}

/** The part of one project. @throws AppError not_found for another organisation's project, or a trace that is not kept */
export async function readProjectTrace(
  app: App,
  actor: OrgActor,
  projectId: string,
  given: string,
): Promise<ProjectTrace> {
  const traceId = unhyphenate(given).toLowerCase()
  await requireProject(app, actor, projectId)
  const trace = (await loadTraces(app.db, [projectId], [traceId])).get(traceId)
  if (trace === undefined) throw notFound('Trace')
  const { startMs, endMs, receivedDay } = trace
  const errors = await errorsOf(app, [projectId], traceId)
  const ids = idsOf(trace)
  return {
    trace_id: traceId,
    project_id: projectId,
    kept_because: keepReason(trace.keep) ?? 'recent',
    name: trace.spans.find(({ is_segment: isSegment }) => isSegment)?.description ?? null,
    started_at: new Date(startMs).toISOString(),
    duration_ms: endMs - startMs,
    spans: trace.spans.map((span) => viewSpan(span, trace, ids)),
    spans_left_out: trace.leftOut,
    errors: errors.map(({ error }) => error),
    sampling: await sql.selectDays(app.db, [projectId], receivedDay, receivedDay),
  }
}

/** Names parents that were not received; in a circle of parents, the first span has none. */
const viewSpan = (
  span: PlacedSpan,
  { startMs }: LoadedTrace,
  ids: ReadonlySet<string>,
): ProjectTrace['spans'][number] => ({
  span_id: span.span_id,
  parent_span_id:
    span.parent ?? (span.parent_span_id !== null && ids.has(span.parent_span_id) ? null : span.parent_span_id),
  op: span.op,
  description: span.description,
  status: span.status,
  is_segment: span.is_segment,
  start_ms: span.start_ms - startMs,
  duration_ms: span.end_ms - span.start_ms,
  data: span.data,
})

const idsOf = ({ spans }: LoadedTrace): ReadonlySet<string> => new Set(spans.map(({ span_id: id }) => id))

function valuesOf(
  { spans }: LoadedTrace,
  projectId: string,
  valueOf: (span: PlacedSpan) => string | undefined,
): string[] {
  const values = spans.flatMap((span) => (span.projectId === projectId ? (valueOf(span) ?? []) : []))
  return [...new Set(values)]
}

/** Where an error or log line stands in a trace: its clock is the one of its project, and none is outside the trace. */
function placer(trace: LoadedTrace) {
  const spans = new Map(trace.spans.map((span) => [span.span_id, span]))
  return (projectId: string, spanId: string | null, at: Date): number => {
    const ms = at.getTime() + (trace.shifts.get(projectId) ?? 0) - trace.startMs
    const span = spanId === null ? undefined : spans.get(spanId)
    const [fromMs, toMs] =
      span === undefined
        ? [0, trace.endMs - trace.startMs]
        : [span.start_ms - trace.startMs, Math.max(span.end_ms, trace.endMs) - trace.startMs]
    return Math.min(toMs, Math.max(fromMs, ms))
  }
}

async function errorsOf(app: App, projectIds: readonly string[], traceId: string) {
  const errors = await sql.selectErrors(app.db, projectIds, traceId, MAX_ERRORS)
  if (errors.length === 0) return []
  const issueOf = await findIssuesByEvent(app.db, errors)
  const issues = await sql.issuesOfErrors(app.db, projectIds, [...new Set(issueOf.values())])
  return errors.flatMap(({ projectId, eventId, spanId, occurredAt }) => {
    // An event may have been deleted since.
    const issue = issues.get(issueOf.get(`${projectId}/${eventId}`) ?? '')
    if (issue === undefined) return []
    return [
      {
        projectId,
        occurredAt,
        error: {
          event_id: eventId,
          issue_id: issue.id,
          short_id: shortId(issue.slug, issue.number),
          title: issue.title,
          level: issue.level,
          occurred_at: occurredAt.toISOString(),
          span_id: spanId,
        },
      },
    ]
  })
}
