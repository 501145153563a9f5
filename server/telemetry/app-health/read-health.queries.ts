import { sql, type RawBuilder } from 'kysely'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { bucketsIn, type Span } from './buckets.ts'
import {
  attributesId,
  type Dimension,
  DIMENSIONS,
  levelIdRange,
  type Level,
  LEVEL_DIMENSIONS,
  levelNumber,
  type Count,
  countColumn,
  COUNTS,
  type Counts,
  type Source,
  sourceNumber,
  type UserSet,
} from './dimensions.ts'
import type { HealthFilter, HealthQuery } from './health-query.ts'

/**
 * SQL that reads rollups, and the deltas that no fold has moved yet, at exactly one level. Every statement reads both, so
 * a fold changes no result.
 */

/** The rollups to read: the buckets, in any order, and the level of a query. */
export type Cells = {
  readonly query: HealthQuery
  readonly level: Level
  readonly spans: readonly Span[]
}

const MAX_IDS = 1_000

type Values = Readonly<Partial<Record<Dimension, string>>>

/** The wanted values with their ids, when the filter names all values of the level; else null. */
function knownValues(level: Level, filter: HealthFilter): { readonly id: number; readonly of: Values }[] | null {
  let values: Values[] = [{}]
  for (const dimension of LEVEL_DIMENSIONS[level]) {
    const named = filter[dimension]
    if (named === undefined || values.length * named.length > MAX_IDS) return null
    values = values.flatMap((one) => [...new Set(named)].map((value) => ({ ...one, [dimension]: value })))
  }
  return values.map((of) => ({ id: attributesId(level, of), of }))
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
const usedSince = (from: number): string => dayPlus(utcDay(new Date(from)), -1)

const startOfSpans = (spans: readonly Span[]): number => Math.min(...spans.map(({ from }) => from))

/** Rollups of a span: of named values or those that match the filter, or of the whole level. */
function inSpan({ query: { projectIds, filter }, level, spans }: Cells, span: Span): RawBuilder<unknown> {
  const { bucketSeconds, from, to } = span
  const known = knownValues(level, filter)
  const { from: first, to: end } = levelIdRange(level)
  // For a level, each bucket is a range of the index by time. For values, the time is a range of the key.
  if (known === null && LEVEL_DIMENSIONS[level].every((dimension) => filter[dimension] === undefined))
    return sql`r.bucket_seconds = ${bucketSeconds}::int and r.bucket = any(${bucketsIn([span]).map(({ at }) => at)}::timestamptz[])
      and r.attributes_id >= ${first}::bigint and r.attributes_id < ${end}::bigint`
  const wanted =
    known === null
      ? sql`array(select a.id from health_attributes a where a.project_id = any(${uuids(projectIds)})
          and a.level = ${levelNumber(level)}::smallint and a.last_used_day >= ${usedSince(startOfSpans(spans))}::date
          and ${matching('a', filter)})`
      : sql`${known.map(({ id }) => id)}::bigint[]`
  return sql`r.bucket_seconds = ${bucketSeconds}::int and r.bucket >= ${new Date(from)} and r.bucket < ${new Date(to)}
    and r.attributes_id = any(${wanted})`
}

/** Rollups of the level (alias `r`): one scan for each span, so that the planner need not guess how many there are. */
function rollups(cells: Cells, columns: RawBuilder<unknown>) {
  const { query, spans } = cells
  if (spans.length === 0) return sql`select ${columns} from health_rollups r where false`
  return sql.join(
    spans.map(
      (span) => sql`select ${columns} from health_rollups r
        where r.project_id = any(${uuids(query.projectIds)}) and r.source = ${sourceNumber(query.source)}::smallint
          and ${inSpan(cells, span)}`,
    ),
    sql` union all `,
  )
}

/** Deltas in the time of the spans (alias `d`). */
function deltas({ query, spans }: Cells): RawBuilder<unknown> {
  const { projectIds, source, filter } = query
  const [from, to] = [startOfSpans(spans), Math.max(...spans.map((span) => span.to))]
  return sql`from health_deltas d where d.project_id = any(${uuids(projectIds)}) and d.source = ${sourceNumber(source)}::smallint
    and d.minute >= ${new Date(from)} and d.minute < ${new Date(to)} and ${matching('d', filter)}`
}

const countsOf = ({ query }: Cells): readonly Count[] => query.counts ?? COUNTS
const columns = (cells: Cells, alias: string): RawBuilder<unknown> =>
  sql.join(countsOf(cells).map((name) => sql.ref(`${alias}.${name}`)))
/** In floating point, which is exact for counts: a sum of bigint is a numeric and takes five times as long. */
const sums = (cells: Cells, alias: string): RawBuilder<unknown> =>
  sql.join(
    countsOf(cells).map((name) => sql`coalesce(sum(${sql.ref(`${alias}.${name}`)}::float8), 0) as ${sql.ref(name)}`),
  )

/** The counts that were asked for. */
export type SomeCounts = Partial<Counts>

/** Counts of ranges, in the given order. All count the same. */
export async function sumCounts(db: Connection, all: readonly Cells[]): Promise<SomeCounts[]> {
  const parts = all.map(
    (cells, place) => sql`select ${place}::int as place, ${sums(cells, 'c')} from (
      ${rollups(cells, columns(cells, 'r'))} union all select ${columns(cells, 'd')} ${deltas(cells)}) c`,
  )
  const { rows } = await sql<
    SomeCounts & { place: number }
  >`${sql.join(parts, sql` union all `)} order by place`.execute(db)
  return rows
}

type NamedCounts = SomeCounts & { name: string | null; names: number }

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
    with folded as (
      select project_id, attributes_id, ${sums(cells, 'r')}
      from (${rollups(cells, sql`r.project_id, r.attributes_id, ${columns(cells, 'r')}`)}) r group by 1, 2),
    named as (
      select name, ${sums(cells, 'c')} from (
        select ${sql.ref(`a.${dimension}`)} as name, ${columns(cells, 'f')}
        from folded f join health_attributes a on a.project_id = f.project_id and a.id = f.attributes_id
        union all
        select ${sql.ref(`d.${dimension}`)} as name, ${columns(cells, 'd')} ${deltas(cells)}) c
      group by name),
    placed as (
      select *, row_number() over (partition by coalesce(name, '') = '' order by total desc, name) as place
      from named where total <> 0)
    select case when name = '' or place <= ${max}::int then name end as name,
      (count(name) filter (where name <> '' and place > ${max}::int))::int as names, ${sums(cells, 'p')}
    from placed p group by 1 order by total desc, 1`.execute(db)
  return rows
}

/** Counts of a bucket, of a project and of a value. */
export type Bucket = SomeCounts &
  Readonly<Partial<Record<`${UserSet}_count`, number | null>>> & {
    readonly project_id: string
    /** Null without a dimension, and for what exceeds the limit of the level. */
    readonly name: string | null
    /** Start of the bucket, in seconds. */
    readonly t: number
    /** How many rows have users: those of one rollup are counted beside it. */
    readonly rows: number
  }

/** Counts by bucket, and by value of a dimension, with what the sketches of a rollup count. Empty buckets are left out. */
export async function sumCountsByBucket(
  db: Connection,
  cells: Cells,
  sets: readonly UserSet[],
  stepSeconds: number,
  dimension: Dimension | null,
): Promise<Bucket[]> {
  const users = sets.map(countColumn)
  const joined = (parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
    sql.join([sql``, ...parts.map((part) => sql`${part}`)])
  const ofRollup = users.map((name) => sql.ref(`r.${name}`))
  const hasUsers =
    users.length === 0 ? sql`0` : sql`case when coalesce(${sql.join(ofRollup)}) is null then 0 else 1 end`
  const hasSketches = sets.length === 0 ? sql`0` : sql`case when ${anyOf('d', sets)} then 2 else 0 end`
  const ofUsers = users.map((name) => sql`max(${sql.ref(name)}) as ${sql.ref(name)}`)
  const stored = rollups(
    cells,
    sql`r.project_id, r.attributes_id, r.bucket, ${hasUsers} as n, ${columns(cells, 'r')} ${joined(ofRollup)}`,
  )
  // Without names summed before anything is added: a point of a combination has hundreds of rows.
  const folded =
    dimension === null
      ? sql`select project_id, null::text as name, bucket, sum(n) as n, ${sums(cells, 'r')} ${joined(ofUsers)}
          from (${stored}) r group by project_id, bucket`
      : sql`select r.project_id, ${nameOf('a', dimension)} as name, r.bucket, r.n, ${columns(cells, 'r')} ${joined(ofRollup)}
          from (${stored}) r ${attributes(dimension)}`
  const { rows } = await sql<Bucket>`
    select project_id, name, extract(epoch from bucket)::bigint as t, sum(n)::int as rows, ${sums(cells, 'c')}
      ${joined(ofUsers)} from (
      ${folded}
      union all
      select d.project_id, ${nameOf('d', dimension)},
        date_bin(make_interval(secs => ${stepSeconds}::int), d.minute, 'epoch'::timestamptz), ${hasSketches},
        ${columns(cells, 'd')} ${joined(users.map(() => sql`null::int`))}
      ${deltas(cells)}) c
    group by project_id, name, bucket`.execute(db)
  return rows
}

/** Joins the values of rollups (aliases `a` and `r`) where a result is by a dimension. */
const attributes = (dimension: Dimension | null): RawBuilder<unknown> =>
  dimension === null ? sql`` : sql`join health_attributes a on a.project_id = r.project_id and a.id = r.attributes_id`

const nameOf = (alias: string, dimension: Dimension | null): RawBuilder<unknown> =>
  dimension === null ? sql`null::text` : sql.ref(`${alias}.${dimension}`)

/** Stored sketches of one row. */
export type SketchRow = {
  readonly project_id: string
  readonly name: string | null
  /** Length of the bucket in seconds; null for a delta. */
  readonly bucket_seconds: number | null
  /** Start of the bucket, in seconds. */
  readonly t: number
  readonly sketches: Readonly<Partial<Record<UserSet, Buffer | null>>>
}

const DELTAS_PER_PAGE = 2_000

const anyOf = (alias: string, sets: readonly UserSet[]): RawBuilder<unknown> =>
  sql`(${sql.join(
    sets.map((set) => sql`${sql.ref(`${alias}.${set}`)} is not null`),
    sql` or `,
  )})`

/** A rollup that may have sketches. */
export type SketchKey = {
  readonly project_id: string
  readonly bucket_seconds: number
  readonly attributes_id: number
  readonly bucket: Date
  readonly name: string | null
}

type DeltaSketches = Pick<SketchRow, 'project_id' | 'name' | 't'> & Partial<Record<UserSet, Buffer | null>>

/**
 * Sketches of users in deltas, a page at a time. They are read before those of rollups: what a fold moves meanwhile
 * is read twice, which changes no union, and never missed.
 * @param dimension the name of each row; null for none
 */
export async function* sketchesOfDeltas(
  db: Connection,
  cells: Cells,
  sets: readonly UserSet[],
  dimension: Dimension | null,
): AsyncGenerator<readonly SketchRow[]> {
  const columns = sql.join(sets.map((set) => sql.ref(`d.${set}`)))
  let lastId = 0
  for (;;) {
    const { rows } = await sql<DeltaSketches & { id: number }>`
      select d.id, d.project_id, ${nameOf('d', dimension)} as name, extract(epoch from d.minute)::bigint as t, ${columns}
        ${deltas(cells)} and d.id > ${lastId}::bigint and ${anyOf('d', sets)} order by d.id limit ${DELTAS_PER_PAGE}`.execute(
      db,
    )
    yield rows.map(({ project_id, name, t, ...sketches }) => ({ project_id, name, bucket_seconds: null, t, sketches }))
    lastId = rows.at(-1)?.id ?? 0
    if (rows.length < DELTAS_PER_PAGE) return
  }
}

/** Keys of rollups that may have sketches. @param dimension the name of each; null for none */
export async function sketchKeys(db: Connection, cells: Cells, dimension: Dimension | null): Promise<SketchKey[]> {
  return knownKeys(cells, dimension) ?? readKeys(db, cells, dimension)
}

/** All keys that rollups of the wanted values may have; null where the values are not known. */
function knownKeys({ query, level, spans }: Cells, dimension: Dimension | null): SketchKey[] | null {
  const known = knownValues(level, query.filter)
  if (known === null) return null
  const buckets = bucketsIn(spans)
  return query.projectIds.flatMap((project_id) =>
    known.flatMap(({ id, of }) => {
      const name = dimension === null ? null : (of[dimension] ?? null)
      return buckets.map(({ seconds, at }) => ({
        project_id,
        bucket_seconds: seconds,
        attributes_id: id,
        bucket: at,
        name,
      }))
    }),
  )
}

/** Keys of rollups, from an index alone: some may have no sketches. */
async function readKeys(db: Connection, cells: Cells, dimension: Dimension | null): Promise<SketchKey[]> {
  const folded = rollups(cells, sql`r.project_id, r.bucket_seconds, r.attributes_id, r.bucket`)
  const { rows } = await sql<SketchKey>`
    select r.project_id, r.bucket_seconds, r.attributes_id, r.bucket, ${nameOf('a', dimension)} as name
    from (${folded}) r ${attributes(dimension)}`.execute(db)
  return rows
}

/** Stored sketches of a key. */
type StoredSketches<K extends SketchKey> = {
  readonly key: K
  readonly sketches: SketchRow['sketches']
  /** Version of the row: another one after each change of the row. */
  readonly version: string
}

/** Every transaction leaves at most one version of a row, and has its own number until these begin again after 2^32. */
const VERSION = 's.xmin::text || s.ctid::text'

/** The sketches of rollups by binary COPY, which takes no parameters: the keys are ids and times of the database. */
export async function readSketches<K extends SketchKey>(
  db: Connection,
  source: Source,
  keys: readonly K[],
  sets: readonly UserSet[],
): Promise<StoredSketches<K>[]> {
  const array = (of: (key: K) => string | number, type: string): string => `'{${keys.map(of).join()}}'::${type}[]`
  const rows = await db.copyOut(
    `select k.place, ${VERSION}, ${sets.map((set) => `s.${set}`).join()}
     from unnest(${array((key) => key.project_id, 'uuid')}, ${array((key) => key.bucket_seconds, 'int')},
       ${array((key) => key.attributes_id, 'bigint')}, ${array((key) => key.bucket.toISOString(), 'timestamptz')})
       with ordinality k (project_id, bucket_seconds, attributes_id, bucket, place)
     join health_sketches s on s.project_id = k.project_id and s.source = ${sourceNumber(source)}
       and s.bucket_seconds = k.bucket_seconds and s.attributes_id = k.attributes_id and s.bucket = k.bucket`,
    2 + sets.length,
  )
  return rows.flatMap(([place, version, ...sketches]) => {
    const key = keys[Number(place?.readBigInt64BE()) - 1]
    if (key === undefined) return []
    const stored = Object.fromEntries(sets.map((set, index) => [set, sketches[index]]))
    return [{ key, sketches: stored, version: String(version) }]
  })
}

/** Versions of the rows that {@link readSketches} would read, by the place of their key; without those that have none. */
export async function versionsOfSketches(
  db: Connection,
  source: Source,
  keys: readonly SketchKey[],
): Promise<Map<number, string>> {
  const { rows } = await db.query<{ places: string[]; versions: string[] }>({
    name: 'health-versions-of-sketches',
    text: `select coalesce(array_agg(k.place::text), '{}') as places, coalesce(array_agg(${VERSION}), '{}') as versions
           from unnest($1::uuid[], $2::int[], $3::bigint[], $4::timestamptz[])
             with ordinality k (project_id, bucket_seconds, attributes_id, bucket, place)
           join health_sketches s on s.project_id = k.project_id and s.source = $5
             and s.bucket_seconds = k.bucket_seconds and s.attributes_id = k.attributes_id and s.bucket = k.bucket`,
    values: [
      keys.map((key) => key.project_id),
      keys.map((key) => key.bucket_seconds),
      keys.map((key) => key.attributes_id),
      keys.map((key) => key.bucket),
      sourceNumber(source),
    ],
  })
  const { places = [], versions = [] } = rows[0] ?? {}
  return new Map(places.map((place, index) => [Number(place) - 1, versions[index] ?? '']))
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
    values: [projectIds, levelNumber(level), utcDay(from), utcDay(to)],
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
