import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { Because, Choice, DayCounts, DuePart, KeptTrace, SlowSegment } from './choose-traces.ts'

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

type Due = {
  /** A trace is decided when none of its parts arrived since. */
  readonly settled: Date
  /** A trace whose first part arrived before is decided while more arrive. */
  readonly overdue: Date
  readonly maxTraces: number
}

/** All undecided parts of the traces to decide, oldest first, by organisation. */
export async function dueParts(tx: Tx, { settled, overdue, maxTraces }: Due): Promise<Map<string, DuePart[]>> {
  const { rows } = await tx.query<{
    org_id: string
    project_id: string
    trace_id: string
    part: number
    name: string | null
    op: string | null
    duration_ms: number | null
    span_count: number
    hour: Date
  }>(
    `with undecided as materialized (
       select j.org_id, p.project_id, p.trace_id, p.part, p.name, p.op, p.duration_ms, p.span_count, p.received_at
       from trace_parts p join projects j on j.id = p.project_id where p.keep = ${UNDECIDED}),
     due as (
       select org_id, trace_id from undecided group by org_id, trace_id
       having max(received_at) < $1 or min(received_at) < $2 order by min(received_at), trace_id limit $3)
     select org_id, project_id, trace_id, part, name, op, duration_ms, span_count, date_trunc('hour', received_at) as hour
     from undecided join due using (org_id, trace_id)`,
    [settled, overdue, maxTraces],
  )
  const byOrg = new Map<string, DuePart[]>()
  for (const row of rows) {
    const parts = byOrg.get(row.org_id) ?? []
    const { name, op, duration_ms: durationMs } = row
    parts.push({
      projectId: row.project_id,
      traceId: unhyphenate(row.trace_id),
      part: row.part,
      segment: name === null || op === null || durationMs === null ? null : { name, op, durationMs },
      spanCount: row.span_count,
      hour: row.hour.getTime(),
    })
    byOrg.set(row.org_id, parts)
  }
  return byOrg
}

export async function selectProjectIds(tx: Tx, orgId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>('select id from projects where org_id = $1', [orgId])
  return rows.map(({ id }) => id)
}

/** An organisation, its projects and some of its traces. */
type Some = { readonly orgId: string; readonly projectIds: readonly string[]; readonly traceIds: readonly string[] }

/** Returns which traces are kept, with their numbers of spans. */
export async function keptAmong(tx: Tx, { orgId, projectIds, traceIds }: Some): Promise<Map<string, KeptTrace>> {
  const { rows } = await tx.query<{
    trace_id: string
    project_id: string
    keep: number
    spans: number
    counts_in: string | null
  }>(
    `select p.trace_id, p.project_id, min(p.keep)::int as keep, sum(p.span_count)::int as spans,
       (select t.project_id from traces t where t.org_id = $1 and t.trace_id = p.trace_id) as counts_in
     from trace_parts p where p.project_id = any($2::uuid[]) and p.trace_id = any($3::uuid[]) and p.keep > ${UNDECIDED}
     group by p.trace_id, p.project_id order by p.trace_id, p.project_id`,
    [orgId, projectIds, traceIds.map(hyphenate)],
  )
  const kept = new Map<string, KeptTrace>()
  for (const [traceId, parts] of Map.groupBy(rows, (row) => unhyphenate(row.trace_id))) {
    const because = keepReason(Math.min(...parts.map(({ keep }) => keep)))
    const projectId = parts[0]?.counts_in ?? parts[0]?.project_id
    if (because !== null && projectId !== undefined)
      kept.set(traceId, { because, projectId, spans: new Map(parts.map((one) => [one.project_id, one.spans])) })
  }
  return kept
}

/** Returns which traces hold an error in any project, with the project of the first one. */
export async function withError(tx: Tx, { projectIds, traceIds }: Some): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ trace_id: string; project_id: string }>(
    `select distinct on (trace_id) trace_id, project_id from trace_errors
     where project_id = any($1::uuid[]) and trace_id = any($2::uuid[]) order by trace_id, occurred_at, project_id`,
    [projectIds, traceIds.map(hyphenate)],
  )
  return new Map(rows.map((row) => [unhyphenate(row.trace_id), row.project_id]))
}

/** All segments of slow traces that have a segment in some hours. */
export async function slowSegments(
  tx: Tx,
  projectIds: readonly string[],
  hours: readonly number[],
): Promise<SlowSegment[]> {
  const { rows } = await tx.query<{
    project_id: string
    trace_id: string
    name: string
    op: string
    duration_ms: number
    hour: Date
  }>(
    `with slow as (
       select distinct p.trace_id from unnest($2::timestamptz[]) h (hour)
       join trace_parts p on p.project_id = any($1::uuid[]) and p.received_at >= h.hour
         and p.received_at < h.hour + interval '1 hour'
       where p.keep = ${KEEP.slow} and p.name is not null)
     select p.project_id, p.trace_id, p.name, p.op, p.duration_ms, date_trunc('hour', p.received_at) as hour
     from slow join trace_parts p on p.project_id = any($1::uuid[]) and p.trace_id = slow.trace_id
     where p.keep = ${KEEP.slow} and p.name is not null`,
    [projectIds, hours.map((hour) => new Date(hour))],
  )
  return rows.map((row) => ({
    projectId: row.project_id,
    traceId: unhyphenate(row.trace_id),
    name: row.name,
    op: row.op,
    durationMs: row.duration_ms,
    hour: row.hour.getTime(),
  }))
}

/** Traces that were kept on a day, by project. */
export async function keptOn(tx: Tx, projectIds: readonly string[], day: string): Promise<Map<string, DayCounts>> {
  const { rows } = await tx.query<DayCounts & { project_id: string }>(
    `select project_id, kept_for_error as error, kept_for_slowness as slow from trace_days
     where project_id = any($1::uuid[]) and day = $2::date`,
    [projectIds, day],
  )
  return new Map(rows.map(({ project_id: projectId, error, slow }) => [projectId, { error, slow }]))
}

/** Writes the choice of an organisation. */
export async function applyChoice(
  tx: Tx,
  { orgId, projectIds }: Omit<Some, 'traceIds'>,
  now: Date,
  day: string,
  choice: Choice,
): Promise<void> {
  const kept = choice.keep.flatMap(({ because, parts }) => parts.map((one) => ({ ...one, keep: KEEP[because] })))
  if (kept.length > 0)
    await tx.query(
      `update trace_parts p set keep = k.keep
       from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::smallint[]) k (project_id, trace_id, part, keep)
       where p.project_id = k.project_id and p.trace_id = k.trace_id and p.part = k.part and p.keep = ${UNDECIDED}`,
      [
        kept.map(({ projectId }) => projectId),
        kept.map(({ traceId }) => hyphenate(traceId)),
        kept.map(({ part }) => part),
        kept.map(({ keep }) => keep),
      ],
    )
  // An error that came later changes the reason of the parts that were kept before.
  const failed = choice.keep.filter(({ because }) => because === 'error').map(({ traceId }) => hyphenate(traceId))
  if (failed.length > 0)
    await tx.query(
      `update trace_parts set keep = ${KEEP.error}
       where project_id = any($1::uuid[]) and trace_id = any($2::uuid[]) and keep = ${KEEP.slow}`,
      [projectIds, failed],
    )
  if (choice.drop.length > 0)
    await tx.query(
      `delete from trace_parts p using unnest($1::uuid[], $2::uuid[], $3::bigint[]) k (project_id, trace_id, part)
       where p.project_id = k.project_id and p.trace_id = k.trace_id and p.part = k.part and p.keep = ${UNDECIDED}`,
      [
        choice.drop.map(({ projectId }) => projectId),
        choice.drop.map(({ traceId }) => hyphenate(traceId)),
        choice.drop.map(({ part }) => part),
      ],
    )
  if (choice.evict.length > 0)
    // Parts that arrived meanwhile are decided in their turn.
    await tx.query(
      `delete from trace_parts
       where project_id = any($1::uuid[]) and trace_id = any($2::uuid[]) and keep <> ${UNDECIDED}`,
      [projectIds, choice.evict.map(hyphenate)],
    )
  if (choice.keep.length > 0)
    await tx.query(
      `insert into traces as t (org_id, trace_id, project_id, keep, received_at, started_at, is_stale)
       select $1, k.trace_id, k.project_id, k.keep, $2::timestamptz, $2::timestamptz, true
       from unnest($3::uuid[], $4::uuid[], $5::smallint[]) k (trace_id, project_id, keep)
       on conflict (org_id, trace_id) do update
         set project_id = excluded.project_id, keep = excluded.keep, is_stale = true`,
      [
        orgId,
        now,
        choice.keep.map(({ traceId }) => hyphenate(traceId)),
        choice.keep.map(({ projectId }) => projectId),
        choice.keep.map(({ because }) => KEEP[because]),
      ],
    )
  const dropped = [...new Set(choice.drop.map(({ traceId }) => traceId))]
  if (dropped.length > 0 || choice.evict.length > 0)
    await tx.query(
      `delete from traces where org_id = $1
       and (trace_id = any($2::uuid[]) and keep = ${UNDECIDED} or trace_id = any($3::uuid[]))`,
      [orgId, dropped.map(hyphenate), choice.evict.map(hyphenate)],
    )
  await addToDays(tx, day, choice.added)
}

async function addToDays(tx: Tx, day: string, added: Choice['added']): Promise<void> {
  const changes = [...added]
    .filter(([, { error, slow }]) => error !== 0 || slow !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  if (changes.length === 0) return
  const projectIds = changes.map(([projectId]) => projectId)
  await tx.query(
    `insert into trace_days (project_id, day) select k, $1::date from unnest($2::uuid[]) k on conflict do nothing`,
    [day, projectIds],
  )
  await tx.query(
    `update trace_days d set kept_for_error = greatest(0, d.kept_for_error + k.error),
       kept_for_slowness = greatest(0, d.kept_for_slowness + k.slow)
     from unnest($2::uuid[], $3::int[], $4::int[]) k (project_id, error, slow)
     where d.project_id = k.project_id and d.day = $1::date`,
    [day, projectIds, changes.map(([, { error }]) => error), changes.map(([, { slow }]) => slow)],
  )
}
