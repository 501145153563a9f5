import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { Because, Choice, DuePart, SlowSegment } from './choose-traces.ts'

/** SQL of deciding which traces are kept. The caller holds the lock. */

const CHOICE_LOCK = 7_201_994_337
const UNDECIDED = 0
const KEEP = { error: 1, slow: 2 } as const satisfies Record<Because, number>
export const keepReason = (keep: number): Because | null => (keep === 1 ? 'error' : keep === 2 ? 'slow' : null)

/** Excludes another process until the transaction ends. @returns whether the lock was free */
export async function lockChoice(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [CHOICE_LOCK])
  return rows[0]?.locked === true
}

/** Parts received before a time that are not decided yet, oldest first, by project. */
export async function dueParts(tx: Tx, before: Date, max: number): Promise<Map<string, DuePart[]>> {
  const { rows } = await tx.query<{
    project_id: string
    trace_id: string
    part: number
    name: string | null
    op: string | null
    duration_ms: number | null
    span_count: number
    hour: Date
  }>(
    `select project_id, trace_id, part, name, op, duration_ms, span_count, date_trunc('hour', received_at) as hour
     from trace_parts where keep = ${UNDECIDED} and received_at < $1 order by received_at limit $2`,
    [before, max],
  )
  const byProject = new Map<string, DuePart[]>()
  for (const row of rows) {
    const parts = byProject.get(row.project_id) ?? []
    const { name, op, duration_ms: durationMs } = row
    parts.push({
      traceId: unhyphenate(row.trace_id),
      part: row.part,
      segment: name === null || op === null || durationMs === null ? null : { name, op, durationMs },
      spanCount: row.span_count,
      hour: row.hour.getTime(),
    })
    byProject.set(row.project_id, parts)
  }
  return byProject
}

/** Returns which traces are kept, with their numbers of spans. */
export async function keptAmong(
  tx: Tx,
  projectId: string,
  traceIds: readonly string[],
): Promise<Map<string, { because: Because; spans: number }>> {
  const { rows } = await tx.query<{ trace_id: string; keep: number; spans: number }>(
    `select trace_id, min(keep)::int as keep, sum(span_count)::int as spans from trace_parts
     where project_id = $1 and trace_id = any($2::uuid[]) and keep > ${UNDECIDED} group by trace_id`,
    [projectId, traceIds.map(hyphenate)],
  )
  return new Map(
    rows.flatMap((row) => {
      const because = keepReason(row.keep)
      return because === null ? [] : [[unhyphenate(row.trace_id), { because, spans: row.spans }]]
    }),
  )
}

/** Returns which traces hold an error. */
export async function withError(tx: Tx, projectId: string, traceIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ trace_id: string }>(
    `select distinct trace_id from trace_errors where project_id = $1 and trace_id = any($2::uuid[])`,
    [projectId, traceIds.map(hyphenate)],
  )
  return new Set(rows.map((row) => unhyphenate(row.trace_id)))
}

/** Segments of slow traces received in some hours. */
export async function slowSegments(tx: Tx, projectId: string, hours: readonly number[]): Promise<SlowSegment[]> {
  const { rows } = await tx.query<{ trace_id: string; name: string; op: string; duration_ms: number; hour: Date }>(
    `select p.trace_id, p.name, p.op, p.duration_ms, h.hour from unnest($2::timestamptz[]) h (hour)
     join trace_parts p on p.project_id = $1 and p.received_at >= h.hour and p.received_at < h.hour + interval '1 hour'
     where p.keep = ${KEEP.slow} and p.name is not null`,
    [projectId, hours.map((hour) => new Date(hour))],
  )
  return rows.map((row) => ({
    traceId: unhyphenate(row.trace_id),
    name: row.name,
    op: row.op,
    durationMs: row.duration_ms,
    hour: row.hour.getTime(),
  }))
}

/** Traces that were kept on a day. */
export async function keptOn(tx: Tx, projectId: string, day: string): Promise<Record<Because, number>> {
  const { rows } = await tx.query<{ error: number; slow: number }>(
    `select kept_for_error as error, kept_for_slowness as slow from trace_days where project_id = $1 and day = $2::date`,
    [projectId, day],
  )
  return rows[0] ?? { error: 0, slow: 0 }
}

/** Writes a project's choice. */
export async function applyChoice(tx: Tx, projectId: string, day: string, choice: Choice): Promise<void> {
  const kept = choice.keep.flatMap(({ traceId, because, parts }) =>
    parts.map((part) => ({ traceId: hyphenate(traceId), part, keep: KEEP[because] })),
  )
  if (kept.length > 0)
    await tx.query(
      `update trace_parts p set keep = k.keep from unnest($2::uuid[], $3::bigint[], $4::smallint[]) k (trace_id, part, keep)
       where p.project_id = $1 and p.trace_id = k.trace_id and (p.part = k.part or p.keep > ${UNDECIDED})`,
      [projectId, kept.map((one) => one.traceId), kept.map((one) => one.part), kept.map((one) => one.keep)],
    )
  if (choice.drop.length > 0)
    await tx.query(
      `delete from trace_parts p using unnest($2::uuid[], $3::bigint[]) k (trace_id, part)
       where p.project_id = $1 and p.trace_id = k.trace_id and p.part = k.part and p.keep = ${UNDECIDED}`,
      [projectId, choice.drop.map(({ traceId }) => hyphenate(traceId)), choice.drop.map(({ part }) => part)],
    )
  if (choice.evict.length > 0)
    await tx.query(`delete from trace_parts where project_id = $1 and trace_id = any($2::uuid[])`, [
      projectId,
      choice.evict.map(hyphenate),
    ])
  const { error, slow } = choice.added
  if (error !== 0 || slow !== 0)
    await tx.query(
      `insert into trace_days as d (project_id, day, kept_for_error, kept_for_slowness) values ($1, $2::date, greatest(0, $3::int), greatest(0, $4::int))
       on conflict (project_id, day) do update
         set kept_for_error = greatest(0, d.kept_for_error + $3::int), kept_for_slowness = greatest(0, d.kept_for_slowness + $4::int)`,
      [projectId, day, error, slow],
    )
}
