import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { findIssuesByEvent } from '../../events/store/store.queries.ts'
import { shortId } from '#shared/issue-values.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import { readProject } from '../../projects/registry/projects.queries.ts'
import { MAX_SPANS } from '../../events/protocol/span.ts'
import { keepReason } from './choose.queries.ts'
import * as sql from './read.queries.ts'
import { decodeSpans } from './stored-span.ts'
import type { Trace } from './traces.api.ts'

const MAX_PARTS = 200
const MAX_ERRORS = 100

/** @throws AppError not_found for another organisation's project, or a trace that is not kept */
export async function readTrace(app: App, actor: OrgActor, projectId: string, given: string): Promise<Trace> {
  const traceId = unhyphenate(given).toLowerCase()
  const project = await readProject(app.db, actor.orgId, projectId)
  if (project === null) throw notFound('Project')
  const parts = await sql.selectParts(app.db, projectId, traceId, MAX_PARTS)
  const [first] = parts
  if (first === undefined) throw notFound('Trace')
  const stored = parts.flatMap(({ spans }) => decodeSpans(spans))
  // A span may arrive in a transaction and again as a segment.
  const all = [...Map.groupBy(stored, (span) => span.span_id).values()]
    .flatMap(([span]) => (span === undefined ? [] : [span]))
    .sort((a, b) => a.start_ms - b.start_ms || Number(b.is_segment) - Number(a.is_segment) || b.end_ms - a.end_ms)
  const shown = all.slice(0, MAX_SPANS)
  const startMs = all[0]?.start_ms ?? 0
  const endMs = all.reduce((latest, span) => Math.max(latest, span.end_ms), startMs)
  const day = await sql.selectDay(app.db, projectId, first.receivedDay)
  const because = parts.map(({ keep }) => keepReason(keep)).find((one) => one !== null)
  return {
    trace_id: traceId,
    project_id: projectId,
    kept_because: because ?? 'recent',
    name: all.find(({ is_segment: isSegment }) => isSegment)?.description ?? null,
    started_at: new Date(startMs).toISOString(),
    duration_ms: endMs - startMs,
    spans: shown.map(({ start_ms: start, end_ms: end, ...span }) => ({
      ...span,
      start_ms: start - startMs,
      duration_ms: end - start,
    })),
    spans_left_out: all.length - shown.length + parts.reduce((sum, part) => sum + part.leftOut, 0),
    errors: await errorsOf(app, projectId, traceId),
    sampling: { transactions: day.segments, considered: day.considered, kept: day.kept },
  }
}

async function errorsOf(app: App, projectId: string, traceId: string): Promise<Trace['errors']> {
  const errors = await sql.selectErrors(app.db, projectId, traceId, MAX_ERRORS)
  if (errors.length === 0) return []
  const issueOf = await findIssuesByEvent(
    app.db,
    errors.map(({ eventId }) => ({ projectId, eventId })),
  )
  const issues = await sql.issuesOfErrors(app.db, projectId, [...new Set(issueOf.values())])
  return errors.flatMap(({ eventId, spanId, occurredAt }) => {
    // An event may have been deleted since.
    const issue = issues.get(issueOf.get(`${projectId}/${eventId}`) ?? '')
    if (issue === undefined) return []
    return [
      {
        event_id: eventId,
        issue_id: issue.id,
        short_id: shortId(issue.slug, issue.number),
        title: issue.title,
        level: issue.level,
        occurred_at: occurredAt.toISOString(),
        span_id: spanId,
      },
    ]
  })
}
