import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** SQL of reading traces. Reads projects, issues and logs. */

type StoredPart = {
  readonly traceId: string
  readonly projectId: string
  readonly receivedDay: string
  readonly receivedAt: Date
  readonly keep: number
  readonly spans: Buffer
  /** Spans of the whole trace, and those that were not stored. */
  readonly total: number
  readonly leftOut: number
}

/** The parts of traces, those with a segment first, until each has `maxSpans`. */
export async function selectParts(
  db: Connection,
  projectIds: readonly string[],
  traceIds: readonly string[],
  maxSpans: number,
): Promise<StoredPart[]> {
  const { rows } = await db.query<{
    trace_id: string
    project_id: string
    day: string
    received_at: Date
    keep: number
    spans: Buffer
    total: number
    left_out: number
  }>(
    `select trace_id, project_id, received_day::text as day, received_at, keep, spans, total, left_out from (
       select trace_id, project_id, received_day, received_at, keep, spans, span_count, name, part,
         sum(span_count) over (partition by trace_id order by name is null, received_at, project_id, part) as running,
         (sum(span_count) over (partition by trace_id))::int as total,
         (sum(p.left_out) over (partition by trace_id))::int as left_out
       from trace_parts p where project_id = any($1::uuid[]) and trace_id = any($2::uuid[])) p
     where running - span_count < $3 order by trace_id, name is null, received_at, project_id, part`,
    [projectIds, traceIds.map(hyphenate), maxSpans],
  )
  return rows.map((row) => ({
    traceId: unhyphenate(row.trace_id),
    projectId: row.project_id,
    receivedDay: row.day,
    receivedAt: row.received_at,
    keep: row.keep,
    spans: row.spans,
    total: row.total,
    leftOut: row.left_out,
  }))
}

type NamedProject = { readonly id: string; readonly name: string; readonly platform: string }

/** Projects of an organisation, by their id; all of them are read by every member. */
export async function selectProjects(db: Connection, orgId: string): Promise<NamedProject[]> {
  const { rows } = await db.query<NamedProject>(
    'select id, name, platform from projects where org_id = $1 order by id',
    [orgId],
  )
  return rows
}

type ErrorOfTrace = {
  readonly projectId: string
  readonly eventId: string
  readonly spanId: string | null
  readonly occurredAt: Date
}

export async function selectErrors(
  db: Connection,
  projectIds: readonly string[],
  traceId: string,
  max: number,
): Promise<ErrorOfTrace[]> {
  const { rows } = await db.query<{ project_id: string; event_id: string; span_id: string | null; occurred_at: Date }>(
    `select project_id, event_id, span_id, occurred_at from trace_errors
     where project_id = any($1::uuid[]) and trace_id = $2 order by occurred_at, event_id limit $3`,
    [projectIds, hyphenate(traceId), max],
  )
  return rows.map((row) => ({
    projectId: row.project_id,
    eventId: unhyphenate(row.event_id),
    spanId: row.span_id,
    occurredAt: row.occurred_at,
  }))
}

export type IssueOfTrace = {
  readonly id: string
  readonly slug: string
  readonly number: number
  readonly title: string
  readonly level: string
}

/** Issues by the id that their events have; a merged one stands for the issue that shows it. */
export async function issuesOfErrors(
  db: Connection,
  projectIds: readonly string[],
  issueIds: readonly string[],
): Promise<Map<string, IssueOfTrace>> {
  const { rows } = await db.query<IssueOfTrace & { asked: string }>(
    `select k.id as asked, i.id, p.slug, i.number, i.title, i.level from unnest($2::uuid[]) k (id)
     join issues own on own.id = k.id
     join issues i on i.id = coalesce(own.merged_into, own.id)
     join projects p on p.id = i.project_id where i.project_id = any($1::uuid[])`,
    [projectIds, issueIds],
  )
  return new Map(rows.map(({ asked, ...issue }) => [asked, issue]))
}

type LogOfTrace = {
  readonly id: string
  readonly project_id: string
  readonly occurred_at: Date
  readonly level: string
  readonly body: string
  readonly span_id: string | null
}

const MAX_BODY = 500

/** Log lines of a trace, oldest first. */
export async function selectLogsOfTrace(
  db: Connection,
  projectIds: readonly string[],
  traceId: string,
  max: number,
): Promise<LogOfTrace[]> {
  const { rows } = await db.query<LogOfTrace>(
    `select id, project_id, occurred_at, level, left(body, ${MAX_BODY}) as body, span_id from logs
     where project_id = any($1::uuid[]) and trace_id = $2 order by occurred_at, id limit $3`,
    [projectIds, hyphenate(traceId), max],
  )
  return rows
}

export type Sampling = { readonly transactions: number; readonly considered: number; readonly kept: number }

/** Sums of the days since one, as far as they are stored. */
export async function selectDays(
  db: Connection,
  projectIds: readonly string[],
  from: string,
  to: string,
): Promise<Sampling> {
  const { rows } = await db.query<Sampling>(
    `select coalesce(sum(segments), 0)::bigint as transactions, coalesce(sum(considered), 0)::bigint as considered,
       coalesce(sum(kept_for_error + kept_for_slowness), 0)::bigint as kept
     from trace_days where project_id = any($1::uuid[]) and day >= $2::date and day <= $3::date`,
    [projectIds, from, to],
  )
  return rows[0] ?? { transactions: 0, considered: 0, kept: 0 }
}

/** Whether spans of a trace are stored in any project of the organisation that a project belongs to. */
export async function hasTrace(db: Connection, projectId: string, traceId: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (
       select from projects own join projects p on p.org_id = own.org_id
       join trace_parts t on t.project_id = p.id and t.trace_id = $2 where own.id = $1) as found`,
    [projectId, hyphenate(traceId)],
  )
  return rows[0]?.found === true
}

/** Stored parts with a segment, received in a range. */
export type PartsScope = {
  readonly projectId: string
  readonly from: Date
  readonly to: Date
  /** Null for all transactions. */
  readonly transaction: { readonly name: string; readonly op: string } | null
}

const ofScope = `project_id = $1 and received_at >= $2 and received_at < $3 and received_day >= $2::date and name is not null
  and ($4::text is null or name = $4) and ($5::text is null or op = $5)`
const scopeValues = ({ projectId, from, to, transaction }: PartsScope): unknown[] => [
  projectId,
  from,
  to,
  transaction?.name ?? null,
  transaction?.op ?? null,
]

/** The newest parts of a scope with their spans. */
export async function newestParts(
  db: Connection,
  scope: PartsScope,
  max: number,
): Promise<{ traceId: string; name: string; spans: Buffer }[]> {
  const { rows } = await db.query<{ trace_id: string; name: string; spans: Buffer }>(
    `select trace_id, name, spans from trace_parts where ${ofScope} order by received_at desc, trace_id limit $6`,
    [...scopeValues(scope), max],
  )
  return rows.map((row) => ({ traceId: unhyphenate(row.trace_id), name: row.name, spans: row.spans }))
}

/** A stored request with its duration. */
export type SampledPart = {
  readonly traceId: string
  readonly durationMs: number
  readonly at: Date
  readonly hasError: boolean
}

/** The newest parts of a scope, without their spans. */
export async function sampledParts(db: Connection, scope: PartsScope, max: number): Promise<SampledPart[]> {
  const { rows } = await db.query<{ trace_id: string; duration_ms: number; received_at: Date; has_error: boolean }>(
    `select p.trace_id, p.duration_ms, p.received_at,
       exists (select from trace_errors e where e.project_id = p.project_id and e.trace_id = p.trace_id) as has_error
     from (select project_id, trace_id, duration_ms, received_at from trace_parts
           where ${ofScope} order by received_at desc, trace_id limit $6) p`,
    [...scopeValues(scope), max],
  )
  return rows.map((row) => ({
    traceId: unhyphenate(row.trace_id),
    durationMs: row.duration_ms,
    at: row.received_at,
    hasError: row.has_error,
  }))
}

/** Error events of traces, newest first. */
export async function errorsOfTraces(
  db: Connection,
  projectId: string,
  traceIds: readonly string[],
  max: number,
): Promise<{ traceId: string; eventId: string; occurredAt: Date }[]> {
  const { rows } = await db.query<{ trace_id: string; event_id: string; occurred_at: Date }>(
    `select trace_id, event_id, occurred_at from trace_errors
     where project_id = $1 and trace_id = any($2::uuid[]) order by occurred_at desc, event_id limit $3`,
    [projectId, traceIds.map(hyphenate), max],
  )
  return rows.map((row) => ({
    traceId: unhyphenate(row.trace_id),
    eventId: unhyphenate(row.event_id),
    occurredAt: row.occurred_at,
  }))
}
