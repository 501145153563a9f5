import { sql, type RawBuilder } from 'kysely'
import { dayOf, dayPlus } from '../kernel/day.ts'
import type { Connection } from '../storage/database.ts'
import type { Span } from './buckets.ts'
import { countColumn, COUNTS, type Counts, sourceNumber, type UserSet } from './counts.ts'
import { attributesId, type Dimension, DIMENSIONS, type Level, LEVEL_DIMENSIONS, levelNumber } from './dimensions.ts'
import type { HealthFilter, HealthQuery } from './health-query.ts'

/**
 * SQL that reads rollups, and the deltas that no fold has moved yet, at exactly one level. Every statement reads both, so
 * a fold changes no result.
 */

/** What to read: the buckets and the level of a query. */
export type Cells = {
  readonly query: HealthQuery
  readonly level: Level
  readonly spans: readonly Span[]
}

const MAX_IDS = 1_000

/** Ids of the wanted values, when the filter names all values of the level; else null. */
function knownIds(level: Level, filter: HealthFilter): number[] | null {
  let values: Partial<Record<Dimension, string>>[] = [{}]
  for (const dimension of LEVEL_DIMENSIONS[level]) {
    const named = filter[dimension]
    if (named === undefined || values.length * named.length > MAX_IDS) return null
    values = values.flatMap((one) => [...new Set(named)].map((value) => ({ ...one, [dimension]: value })))
  }
  return values.map((one) => attributesId(level, one))
}

const matching = (alias: string, filter: HealthFilter): RawBuilder<unknown> =>
  sql.join(
    [
      sql`true`,
      ...DIMENSIONS.flatMap((dimension) => {
        const named = filter[dimension]
        return named === undefined ? [] : [sql`${sql.ref(`${alias}.${dimension}`)} = any(${[...named]}::text[])`]
      }),
    ],
    sql` and `,
  )

const uuids = (ids: readonly string[]): RawBuilder<unknown> => sql`${[...ids]}::uuid[]`

/** Clocks up to an hour ahead are not corrected, and days of use are those of receipt; one day covers that. */
const usedSince = (from: number): string => dayPlus(dayOf(new Date(from)), -1)

function spanRows(spans: readonly Span[]): RawBuilder<unknown> {
  return sql`unnest(${spans.map((span) => span.bucketSeconds)}::int[], ${spans.map((span) => new Date(span.from))}::timestamptz[],
    ${spans.map((span) => new Date(span.to))}::timestamptz[]) s (bucket_seconds, "from", "to")`
}

/** Rollups of the level (alias `r`), with the values of its attributes (alias `a`) when `withNames`. */
function rollups({ query, level, spans }: Cells, withNames: boolean): RawBuilder<unknown> {
  const { projectIds, source, filter } = query
  const ids = knownIds(level, filter)
  const buckets = sql`r.source = ${sourceNumber(source)}::smallint and r.bucket_seconds = s.bucket_seconds
    and r.bucket >= s."from" and r.bucket < s."to"`
  if (ids !== null && !withNames)
    return sql`from ${spanRows(spans)} join health_rollups r on r.project_id = any(${uuids(projectIds)})
      and r.attributes_id = any(${ids}::bigint[]) and ${buckets}`
  const named = ids === null ? matching('a', filter) : sql`a.id = any(${ids}::bigint[])`
  return sql`from health_attributes a cross join ${spanRows(spans)}
    join health_rollups r on r.project_id = a.project_id and r.attributes_id = a.id and ${buckets}
    where a.project_id = any(${uuids(projectIds)}) and a.level = ${levelNumber(level)}::smallint
      and a.last_used_day >= ${usedSince(spans[0]?.from ?? 0)}::date and ${named}`
}

/** Deltas in the time of the spans (alias `d`). */
function deltas({ query, spans }: Cells): RawBuilder<unknown> {
  const { projectIds, source, filter } = query
  const [from, to] = [spans[0]?.from ?? 0, spans.at(-1)?.to ?? 0]
  return sql`from health_deltas d where d.project_id = any(${uuids(projectIds)}) and d.source = ${sourceNumber(source)}::smallint
    and d.minute >= ${new Date(from)} and d.minute < ${new Date(to)} and ${matching('d', filter)}`
}

const columns = (alias: string): RawBuilder<unknown> => sql.join(COUNTS.map((name) => sql.ref(`${alias}.${name}`)))
const sums = (alias: string): RawBuilder<unknown> =>
  sql.join(COUNTS.map((name) => sql`coalesce(sum(${sql.ref(`${alias}.${name}`)}), 0)::bigint as ${sql.ref(name)}`))

/** Counts of a range. */
export async function sumCounts(db: Connection, cells: Cells): Promise<Counts | null> {
  const { rows } = await sql<Counts>`select ${sums('c')} from (
    select ${columns('r')} ${rollups(cells, false)} union all select ${columns('d')} ${deltas(cells)}) c`.execute(db)
  return rows[0] ?? null
}

/** Counts by bucket; buckets without any are left out. */
export async function sumCountsByBucket(
  db: Connection,
  cells: Cells,
  stepSeconds: number,
): Promise<(Counts & { t: number })[]> {
  const { rows } = await sql<Counts & { t: number }>`select t, ${sums('c')} from (
    select extract(epoch from r.bucket)::bigint as t, ${columns('r')} ${rollups(cells, false)}
    union all
    select ${bucketOfDelta(stepSeconds)} as t, ${columns('d')} ${deltas(cells)}) c group by t`.execute(db)
  return rows
}

const bucketOfDelta = (stepSeconds: number): RawBuilder<unknown> =>
  sql`(floor(extract(epoch from d.minute) / ${stepSeconds}::int) * ${stepSeconds}::int)::bigint`

export type NamedCounts = Counts & { name: string | null; names: number }

/**
 * Counts by the values of a dimension: the `max` largest, the unknown value as an empty name, and all others together with
 * a null name and the number of known values among them.
 */
export async function sumCountsByName(
  db: Connection,
  cells: Cells,
  dimension: Dimension,
  max: number,
): Promise<NamedCounts[]> {
  const { rows } = await sql<NamedCounts>`
    with named as (
      select name, ${sums('c')} from (
        select ${sql.ref(`a.${dimension}`)} as name, ${columns('r')} ${rollups(cells, true)}
        union all
        select ${sql.ref(`d.${dimension}`)} as name, ${columns('d')} ${deltas(cells)}) c
      group by name),
    placed as (
      select *, row_number() over (partition by coalesce(name, '') = '' order by total desc, name) as place
      from named where total <> 0)
    select case when name = '' or place <= ${max}::int then name end as name,
      (count(name) filter (where name <> '' and place > ${max}::int))::int as names, ${sums('p')}
    from placed p group by 1 order by total desc, 1`.execute(db)
  return rows
}

export type NamedBucket = Counts & { name: string | null; t: number }

/** Counts by value of a dimension and bucket; null for what exceeds the limit of the level. */
export async function sumCountsByNameAndBucket(
  db: Connection,
  cells: Cells,
  dimension: Dimension,
  stepSeconds: number,
): Promise<NamedBucket[]> {
  const { rows } = await sql<NamedBucket>`
    select name, t, ${sums('c')} from (
      select ${sql.ref(`a.${dimension}`)} as name, extract(epoch from r.bucket)::bigint as t, ${columns('r')} ${rollups(cells, true)}
      union all
      select ${sql.ref(`d.${dimension}`)} as name, ${bucketOfDelta(stepSeconds)} as t, ${columns('d')} ${deltas(cells)}) c
    group by name, t`.execute(db)
  return rows
}

/** What sketches count in a bucket; `rows` is 1 when one rollup holds all of it, so that these are its users. */
export type CountedBucket = Readonly<Partial<Record<UserSet, number | null>>> & {
  /** Null without a dimension, and for what exceeds the limit of the level. */
  readonly name: string | null
  readonly t: number
  readonly rows: number
}

/** Numbers of users by bucket, and by value of a dimension. Buckets without any are left out. */
export async function countUsersByBucket(
  db: Connection,
  cells: Cells,
  sets: readonly UserSet[],
  stepSeconds: number,
  dimension: Dimension | null,
): Promise<CountedBucket[]> {
  const names = sql.join(sets.map((set) => sql.ref(set)))
  const { rows } = await sql<CountedBucket>`select name, t, sum(n)::int as rows,
      ${sql.join(sets.map((set) => sql`max(${sql.ref(set)}) as ${sql.ref(set)}`))} from (
    select name, extract(epoch from bucket)::bigint as t, 1 as n, ${names} from (
      select ${nameOf('a', dimension)} as name, r.bucket,
        ${sql.join(sets.map((set) => sql`${sql.ref(`r.${countColumn(set)}`)} as ${sql.ref(set)}`))}
      ${rollups(cells, dimension !== null)}) c
    where coalesce(${names}) is not null
    union all
    select ${nameOf('d', dimension)} as name, ${bucketOfDelta(stepSeconds)} as t, 2 as n, ${sql.join(sets.map(() => sql`null::int`))}
    ${deltas(cells)} and ${anyOf('d', sets)}) u group by name, t`.execute(db)
  return rows
}

const nameOf = (alias: string, dimension: Dimension | null): RawBuilder<unknown> =>
  dimension === null ? sql`null::text` : sql.ref(`${alias}.${dimension}`)

/** Stored sketches of one row. */
export type SketchRow = Readonly<Partial<Record<UserSet, Buffer | null>>> & {
  readonly name: string | null
  /** Start of the bucket, in seconds. */
  readonly t: number
}

const PAGE = 500

const anyOf = (alias: string, sets: readonly UserSet[]): RawBuilder<unknown> =>
  sql`(${sql.join(
    sets.map((set) => sql`${sql.ref(`${alias}.${set}`)} is not null`),
    sql` or `,
  )})`

/**
 * Sketches of users, a page at a time. Deltas come first: what a fold moves meanwhile is read twice, which changes no
 * union, and never missed.
 * @param dimension the name of each row; null for none
 */
export async function* sketchPages(
  db: Connection,
  cells: Cells,
  sets: readonly UserSet[],
  dimension: Dimension | null,
): AsyncGenerator<readonly SketchRow[]> {
  const wanted = (alias: string): RawBuilder<unknown> => sql.join(sets.map((set) => sql.ref(`${alias}.${set}`)))
  let lastId = 0
  for (;;) {
    const { rows } = await sql<SketchRow & { id: number }>`
      select d.id, ${nameOf('d', dimension)} as name, extract(epoch from d.minute)::bigint as t, ${wanted('d')} ${deltas(cells)}
        and d.id > ${lastId}::bigint and ${anyOf('d', sets)} order by d.id limit ${PAGE}`.execute(db)
    yield rows
    lastId = rows.at(-1)?.id ?? 0
    if (rows.length < PAGE) break
  }
  // Keys first: a page of sketches then reads its own rows only.
  type Key = { project_id: string; bucket_seconds: number; attributes_id: number; bucket: Date; name: string | null }
  const { rows: keys } = await sql<Key>`
    select project_id, bucket_seconds, attributes_id, bucket, name from (
      select r.project_id, r.bucket_seconds, r.attributes_id, r.bucket, ${nameOf('a', dimension)} as name,
        ${sql.join(sets.map((set) => sql`${sql.ref(`r.${countColumn(set)}`)} as ${sql.ref(set)}`))}
      ${rollups(cells, dimension !== null)}) c
    where coalesce(${sql.join(sets.map((set) => sql.ref(set)))}) is not null`.execute(db)
  for (let at = 0; at < keys.length; at += PAGE) {
    const page = keys.slice(at, at + PAGE)
    const { rows } = await sql<SketchRow>`
      select k.name, extract(epoch from r.bucket)::bigint as t, ${wanted('r')}
      from unnest(${page.map((key) => key.project_id)}::uuid[], ${page.map((key) => key.bucket_seconds)}::int[],
        ${page.map((key) => key.attributes_id)}::bigint[], ${page.map((key) => key.bucket)}::timestamptz[],
        ${page.map((key) => key.name)}::text[]) k (project_id, bucket_seconds, attributes_id, bucket, name)
      join health_rollups r on r.project_id = k.project_id and r.source = ${sourceNumber(cells.query.source)}::smallint
        and r.bucket_seconds = k.bucket_seconds and r.attributes_id = k.attributes_id and r.bucket = k.bucket`.execute(
      db,
    )
    yield rows
  }
}

/** Days of a range on which values exceeded the limit of a level, oldest first. */
export async function daysBeyondLimit(
  db: Connection,
  projectIds: readonly string[],
  level: Level,
  from: Date,
  to: Date,
): Promise<string[]> {
  const { rows } = await db.query<{ day: string }>({
    name: 'health-days-beyond-limit',
    text: `select distinct day from health_days where project_id = any($1::uuid[]) and level = $2::smallint
             and day >= $3::date and day <= $4::date and refused > 0 order by day`,
    values: [projectIds, levelNumber(level), dayOf(from), dayOf(to)],
  })
  return rows.map(({ day }) => day)
}

/** Known values of a dimension that were used since a time, by name. */
export async function valuesSince(
  db: Connection,
  projectId: string,
  dimension: Dimension,
  level: Level,
  since: Date,
  filter: HealthFilter,
  max: number,
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from (
      select ${sql.ref(`a.${dimension}`)} as name from health_attributes a
      where a.project_id = ${projectId} and a.level = ${levelNumber(level)}::smallint
        and a.last_used_day >= ${usedSince(since.getTime())}::date and ${matching('a', filter)}
      union
      select ${sql.ref(`d.${dimension}`)} from health_deltas d where d.project_id = ${projectId} and ${matching('d', filter)}) v
    where name <> '' order by name limit ${max}`.execute(db)
  return rows.map(({ name }) => name)
}
