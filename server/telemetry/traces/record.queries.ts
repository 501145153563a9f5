import { hyphenate } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { TRACE_ROWS } from './summaries.queries.ts'
import type { TracePart } from './trace-part.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** SQL of recording traces. Rows are written in a fixed order. */

type DaySum = { readonly projectId: string; readonly segments: number; readonly considered: number }

/** Adds to the day's counts of projects, given in the order of their ids. */
export async function addToDays(tx: Tx, day: string, sums: readonly DaySum[]): Promise<void> {
  await tx.query({
    name: 'traces-add-to-days',
    text: `insert into trace_days as d (project_id, day, segments, considered)
           select k.project_id, $1::date, k.segments, k.considered
           from unnest($2::uuid[], $3::bigint[], $4::bigint[]) k (project_id, segments, considered)
           on conflict (project_id, day) do update
             set segments = d.segments + excluded.segments, considered = d.considered + excluded.considered`,
    values: [day, sums.map((sum) => sum.projectId), sums.map((sum) => sum.segments), sums.map((sum) => sum.considered)],
  })
}

export type ReceivedPart = TracePart & { readonly projectId: string }

/** Stores parts; one that is stored already is left as it is. The day's partition must exist. */
export async function insertParts(tx: Tx, day: string, now: Date, parts: readonly ReceivedPart[]): Promise<void> {
  const keyOf = ({ projectId, traceId, part }: ReceivedPart): string => `${projectId}/${traceId}/${part}`
  const sorted = parts.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  await tx.query({
    name: 'traces-insert-parts',
    text: `insert into trace_parts (received_day, received_at, project_id, trace_id, part, name, op, duration_ms, span_count, left_out, spans)
           select $1::date, $2::timestamptz, k.* from unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::text[], $7::text[],
             $8::float8[], $9::int[], $10::int[], $11::bytea[]) k on conflict do nothing`,
    values: [
      day,
      now,
      sorted.map((one) => one.projectId),
      sorted.map((one) => hyphenate(one.traceId)),
      sorted.map((one) => one.part),
      sorted.map((one) => one.segment?.name ?? null),
      sorted.map((one) => one.segment?.op ?? null),
      sorted.map((one) => one.segment?.durationMs ?? null),
      sorted.map((one) => one.spanCount),
      sorted.map((one) => one.leftOut),
      sorted.map((one) => one.spans),
    ],
  })
}

export type TraceError = {
  readonly projectId: string
  /** 32 hex digits. */
  readonly traceId: string
  /** 32 hex digits. */
  readonly eventId: string
  readonly spanId: string | null
  readonly occurredAt: Date
}

/** Remembers that traces hold an error. The day's partition must exist. */
export function insertTraceErrors(tx: Tx, day: string, errors: readonly TraceError[]): void {
  const keyOf = ({ projectId, traceId, eventId }: TraceError): string => `${projectId}/${traceId}/${eventId}`
  const sorted = errors.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  tx.send({
    name: 'traces-insert-errors',
    text: `insert into trace_errors (received_day, project_id, trace_id, event_id, span_id, occurred_at)
           select $1::date, k.* from unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[]) k
           on conflict do nothing`,
    values: [
      day,
      sorted.map((one) => one.projectId),
      sorted.map((one) => hyphenate(one.traceId)),
      sorted.map((one) => hyphenate(one.eventId)),
      sorted.map((one) => one.spanId),
      sorted.map((one) => one.occurredAt),
    ],
  })
}

export const TRACE_DAY_ROWS = ownRows('trace_days')
export const TRACE_PARTS = [
  projectPart(500, [
    ownRows('trace_parts', 'trace_id', 'part', 'received_day'),
    ownRows('trace_errors', 'trace_id', 'event_id', 'received_day'),
  ]),
  projectPart(500, [TRACE_DAY_ROWS, TRACE_ROWS]),
]
