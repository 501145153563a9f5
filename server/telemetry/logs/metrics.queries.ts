import { sql, type RawBuilder } from 'kysely'
import type { MetricType } from '../../events/protocol/telemetry.api.ts'
import { dayPlus, utcDay } from '../../platform/kernel/day.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { MIN_VALUES } from '#shared/rate-words.ts'
import type { Steps } from './steps.ts'
import { MAX_SEARCHED } from './telemetry.queries.ts'

/** Names and aggregates of trace metrics. */

type Period = { readonly projectId: string; readonly oldestDay: string; readonly from: Date; readonly to: Date }

const inPeriod = ({ projectId, oldestDay, from, to }: Period): RawBuilder<unknown> => sql`
  project_id = ${projectId} and received_day >= greatest(${oldestDay}::date, ${dayPlus(utcDay(from), -1)}::date)
  and occurred_at >= ${from} and occurred_at < ${to}`

export type MetricName = {
  readonly name: string
  readonly type: MetricType
  readonly unit: string | null
  readonly value: number
  readonly occurred_at: Date
}

/**
 * Names of a project, at most `max`, with the newest measurement of each in the period. From name to name through the
 * index: the cost depends on the number of names and days, not of measurements.
 */
export async function selectMetricNames(db: Connection, period: Period, max: number): Promise<MetricName[]> {
  const { projectId } = period
  const days = sql`received_day >= greatest(${period.oldestDay}::date, ${dayPlus(utcDay(period.from), -1)}::date)`
  const { rows } = await sql<MetricName>`
    with recursive names as (
      (select name, 1 as place from trace_metrics where project_id = ${projectId} and ${days} order by name limit 1)
      union all
      select next.name, names.place + 1 from names, lateral (
        select name from trace_metrics where project_id = ${projectId} and ${days} and name > names.name
        order by name limit 1
      ) next where names.place < ${max}
    )
    select names.name, newest.type, newest.unit, newest.value, newest.occurred_at from names, lateral (
      select type, unit, value, occurred_at from trace_metrics where ${inPeriod(period)} and name = names.name
      order by occurred_at desc, id desc limit 1
    ) newest order by names.name`.execute(db)
  return rows
}

const searched = (period: Period, name: string, columns: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select ${columns} from trace_metrics where ${inPeriod(period)} and name = ${name}
  order by occurred_at desc, id desc limit ${MAX_SEARCHED}`

/** The newest measurement, and when the oldest occurred that is read; null where all of the period is. */
export async function selectMetricHead(db: Connection, period: Period, name: string) {
  const { rows } = await sql<{ type: MetricType; unit: string | null; values: number; searched_from: Date | null }>`
    select type, unit, (
      select count(*) from (
        select from trace_metrics where ${inPeriod(period)} and name = ${name} limit ${MAX_SEARCHED}
      ) counted
    )::int as values, (
      select occurred_at from trace_metrics where ${inPeriod(period)} and name = ${name}
      order by occurred_at desc, id desc offset ${MAX_SEARCHED - 1} limit 1
    ) as searched_from
    from trace_metrics where ${inPeriod(period)} and name = ${name} order by occurred_at desc, id desc limit 1`.execute(
    db,
  )
  return rows[0] ?? null
}

/** Names of attributes of the newest measurements that one can group by, those of most first. */
export async function selectMetricAttributes(db: Connection, period: Period, name: string): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    select key from (
      select attributes from trace_metrics where ${inPeriod(period)} and name = ${name}
      order by occurred_at desc, id desc limit 500
    ) newest, jsonb_each(attributes) a(key, attribute)
    where jsonb_typeof(attribute -> 'value') <> 'array' and length(key) <= 200
      and key not in ('sentry.environment', 'sentry.release', 'environment', 'release')
    group by key order by count(*) desc, key limit 40`.execute(db)
  return rows.map(({ key }) => key)
}

export type MetricAggregates = {
  readonly count: number
  readonly sum: number | null
  readonly avg: number | null
  readonly min: number | null
  readonly max: number | null
  readonly p50: number | null
  readonly p95: number | null
  readonly last: number | null
}

export type MetricRow = MetricAggregates & {
  /** Null for the value of the attribute in the whole period. */
  readonly at: Date | null
  /** Null for all values. */
  readonly place: number | null
  readonly value: string | null
}

/** Values with a group of their own; the others are one group. */
export const MAX_GROUPS = 5

/** Aggregates by group, by step and group, and of everything. Group {@link MAX_GROUPS} + 1 is the rest. */
export async function aggregateMetric(
  db: Connection,
  period: Period,
  name: string,
  by: string | null,
  { from, stepSeconds }: Steps,
): Promise<MetricRow[]> {
  const group =
    by === null
      ? sql`null::text`
      : by === 'environment' || by === 'release'
        ? sql.ref(by)
        : sql`left(attributes #>> array[${by}, 'value']::text[], 200)`
  const percentile = (share: number) => sql`case when count(*) >= ${MIN_VALUES} then
    percentile_cont(${share}::float8) within group (order by m.value) end`
  const { rows } = await sql<MetricRow>`
    with measured as materialized (${searched(period, name, sql`occurred_at, value, ${group} as grouped`)}),
    places as (
      select grouped, least(row_number() over (order by count(*) desc, grouped), ${MAX_GROUPS + 1})::int as place
      from measured group by grouped
    ),
    m as (
      select date_bin(make_interval(secs => ${stepSeconds}::int), occurred_at, ${from}::timestamptz) as at, value, place,
        occurred_at, case when place <= ${MAX_GROUPS} then p.grouped end as grouped
      from measured join places p on p.grouped is not distinct from measured.grouped
    )
    select at, place, max(grouped) as value, count(*)::int as count, sum(m.value) as sum, avg(m.value) as avg,
      min(m.value) as min, max(m.value) as max, ${percentile(0.5)} as p50, ${percentile(0.95)} as p95,
      (array_agg(m.value order by occurred_at desc))[1] as last
    from m group by grouping sets ((at, place), (place), ())`.execute(db)
  return rows
}
