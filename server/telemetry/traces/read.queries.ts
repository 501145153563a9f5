import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** SQL of reading a trace. Reads issues. */

type StoredPart = {
  readonly receivedDay: string
  readonly keep: number
  readonly leftOut: number
  readonly spans: Buffer
}

/** The parts of a trace, those with a segment first. */
export async function selectParts(
  db: Connection,
  projectId: string,
  traceId: string,
  max: number,
): Promise<StoredPart[]> {
  const { rows } = await db.query<{ day: string; keep: number; left_out: number; spans: Buffer }>(
    `select received_day::text as day, keep, left_out, spans from trace_parts
     where project_id = $1 and trace_id = $2 order by name is null, received_at, part limit $3`,
    [projectId, hyphenate(traceId), max],
  )
  return rows.map((row) => ({ receivedDay: row.day, keep: row.keep, leftOut: row.left_out, spans: row.spans }))
}

type ErrorOfTrace = { readonly eventId: string; readonly spanId: string | null; readonly occurredAt: Date }

export async function selectErrors(
  db: Connection,
  projectId: string,
  traceId: string,
  max: number,
): Promise<ErrorOfTrace[]> {
  const { rows } = await db.query<{ event_id: string; span_id: string | null; occurred_at: Date }>(
    `select event_id, span_id, occurred_at from trace_errors
     where project_id = $1 and trace_id = $2 order by occurred_at, event_id limit $3`,
    [projectId, hyphenate(traceId), max],
  )
  return rows.map((row) => ({ eventId: unhyphenate(row.event_id), spanId: row.span_id, occurredAt: row.occurred_at }))
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
  projectId: string,
  issueIds: readonly string[],
): Promise<Map<string, IssueOfTrace>> {
  const { rows } = await db.query<IssueOfTrace & { asked: string }>(
    `select k.id as asked, i.id, p.slug, i.number, i.title, i.level from unnest($2::uuid[]) k (id)
     join issues own on own.id = k.id
     join issues i on i.id = coalesce(own.merged_into, own.id)
     join projects p on p.id = i.project_id where i.project_id = $1`,
    [projectId, issueIds],
  )
  return new Map(rows.map(({ asked, ...issue }) => [asked, issue]))
}

type TraceDay = { readonly segments: number; readonly considered: number; readonly kept: number }

export async function selectDay(db: Connection, projectId: string, day: string): Promise<TraceDay> {
  const { rows } = await db.query<TraceDay>(
    `select segments, considered, kept_for_error + kept_for_slowness as kept
     from trace_days where project_id = $1 and day = $2::date`,
    [projectId, day],
  )
  return rows[0] ?? { segments: 0, considered: 0, kept: 0 }
}

/** Whether spans of a trace are stored. */
export async function hasTrace(db: Connection, projectId: string, traceId: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `select exists (select from trace_parts where project_id = $1 and trace_id = $2) as found`,
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
