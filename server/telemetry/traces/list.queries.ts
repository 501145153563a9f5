import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { Slice } from '../logs/telemetry.queries.ts'

/** SQL of the list of traces. Every query reads at most {@link MAX_SEARCHED} rows of an organisation and range. */

const MAX_SEARCHED = 20_000
const MAX_FACET = 20
const MAX_POINTS = 600

export type TraceFilter = {
  readonly orgId: string
  readonly from: Date
  readonly to: Date
  readonly projectId: string | null
  readonly ops: readonly string[] | null
  readonly names: readonly string[] | null
  readonly statuses: readonly string[] | null
  readonly minMs: number | null
  readonly maxMs: number | null
  readonly releases: readonly string[] | null
  readonly environments: readonly string[] | null
  readonly tags: readonly string[] | null
  /** A part of a text, or a whole trace id. */
  readonly text: string | null
}

const ofStatus = `case when failed or keep = 1 then 'error' else 'ok' end`

/** The searched rows, each with what the filters say about it: a facet counts without its own filter. */
const FLAGGED = `
  searched as materialized (
    select *, ${ofStatus} as status from traces
    where org_id = $1 and started_at >= $2 and started_at < $3 and span_count > 0
    order by started_at desc, trace_id desc limit ${MAX_SEARCHED}),
  flagged as materialized (
    select *,
      $4::uuid is null or $4 = any(project_ids) as project_fits,
      $5::text[] is null or op = any($5) as op_fits,
      $6::text[] is null or names && $6 as name_fits,
      $7::text[] is null or status = any($7) as status_fits,
      ($8::float8 is null or duration_ms >= $8) and ($9::float8 is null or duration_ms <= $9) as duration_fits,
      $10::text[] is null or releases && $10 as release_fits,
      $11::text[] is null or environments && $11 as environment_fits,
      ($12::text[] is null or tags @> $12)
        and ($13::uuid is null or trace_id = $13)
        and ($14::text is null or strpos(lower(name), $14) > 0
          or exists (select from unnest(names || releases || tags) t (text) where strpos(lower(t.text), $14) > 0)) as text_fits
    from searched)`

const FLAGS = [
  'project_fits',
  'op_fits',
  'name_fits',
  'status_fits',
  'duration_fits',
  'release_fits',
  'environment_fits',
  'text_fits',
] as const
type Flag = (typeof FLAGS)[number]
const fitting = (...without: readonly Flag[]): string => FLAGS.filter((flag) => !without.includes(flag)).join(' and ')

function valuesOf(filter: TraceFilter): unknown[] {
  const traceId = filter.text !== null && /^[0-9a-f]{32}$/.test(filter.text) ? hyphenate(filter.text) : null
  return [
    filter.orgId,
    filter.from,
    filter.to,
    filter.projectId,
    filter.ops,
    filter.names,
    filter.statuses,
    filter.minMs,
    filter.maxMs,
    filter.releases,
    filter.environments,
    filter.tags,
    traceId,
    traceId === null ? filter.text : null,
  ]
}

type TraceRow = {
  /** With hyphens, as cursors hold it. */
  readonly id: string
  readonly traceId: string
  readonly keep: number
  readonly name: string
  readonly op: string
  readonly startedAt: Date
  readonly durationMs: number
  readonly failed: boolean
  readonly spans: number
  readonly errors: number
  readonly projects: unknown
}

/** Traces that a filter matches, newest first. */
export async function selectTraces(
  db: Connection,
  filter: TraceFilter,
  { after, limit, offset }: Slice,
): Promise<TraceRow[]> {
  const { rows } = await db.query<{
    trace_id: string
    keep: number
    name: string
    op: string
    started_at: Date
    duration_ms: number
    status: string
    span_count: number
    errors: number
    projects: unknown
  }>(
    `with ${FLAGGED}
     select trace_id, keep, name, op, started_at, duration_ms, status, span_count, projects,
       (select count(*)::int from trace_errors e where e.project_id = any(f.project_ids) and e.trace_id = f.trace_id) as errors
     from flagged f where ${fitting()} and ($15::timestamptz is null or (started_at, trace_id) < ($15, $16::uuid))
     order by started_at desc, trace_id desc limit $17 offset $18`,
    [...valuesOf(filter), after?.at ?? null, after?.id ?? null, limit, offset],
  )
  return rows.map((row) => ({
    id: row.trace_id,
    traceId: unhyphenate(row.trace_id),
    keep: row.keep,
    name: row.name,
    op: row.op,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    failed: row.status === 'error',
    spans: row.span_count,
    errors: row.errors,
    projects: row.projects,
  }))
}

export async function countTraces(db: Connection, filter: TraceFilter): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `with ${FLAGGED} select count(*)::int as n from flagged where ${fitting()}`,
    valuesOf(filter),
  )
  return rows[0]?.n ?? 0
}

/** The most frequent values of a column, each with its number of traces. */
const facet = (column: string, ...own: readonly Flag[]): string =>
  `(select coalesce(json_agg(v), '[]') from (
     select ${column} as value, count(*)::int as count from flagged where ${fitting(...own)}
     group by 1 order by 2 desc, 1 limit ${MAX_FACET}) v where v.value <> '')`
/** The same for a column of many values. */
const facetOfMany = (column: string, own: Flag): string =>
  `(select coalesce(json_agg(v), '[]') from (
     select one::text as value, count(*)::int as count from flagged, unnest(${column}) one where ${fitting(own)}
     group by 1 order by 2 desc, 1 limit ${MAX_FACET}) v)`

/** Sums of the traces that a filter matches, as the JSON that the caller reads. */
export async function selectOverview(db: Connection, filter: TraceFilter): Promise<unknown> {
  const { rows } = await db.query<{ overview: unknown }>(
    `with ${FLAGGED}
     select json_build_object(
       'searched', (select count(*)::int from searched),
       'total', (select count(*)::int from flagged where ${fitting()}),
       'project', ${facetOfMany('project_ids', 'project_fits')},
       'status', ${facet('status', 'status_fits')},
       'op', ${facet('op', 'op_fits')},
       'name', ${facetOfMany('names', 'name_fits')},
       'release', ${facetOfMany('releases', 'release_fits')},
       'environment', ${facetOfMany('environments', 'environment_fits')},
       'durations', (select coalesce(json_agg(b order by b.step), '[]') from (
          select floor(log(greatest(duration_ms, 0.1)) * 3)::int as step, count(*)::int as count from flagged
          where ${fitting('duration_fits')} group by 1) b),
       'points', (select coalesce(json_agg(p), '[]') from (
          select replace(trace_id::text, '-', '') as trace_id, started_at, duration_ms, status,
            duration_fits and status_fits as matches
          from flagged where ${fitting('duration_fits', 'status_fits')}
          order by duration_fits and status_fits desc, started_at desc limit ${MAX_POINTS}) p)) as overview`,
    valuesOf(filter),
  )
  return rows[0]?.overview
}
