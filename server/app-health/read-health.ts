import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { invalid } from '../kernel/errors.ts'
import type { Connection } from '../storage/database.ts'
import { bucketSpans, type BucketSeconds, type Span, startOf } from './buckets.ts'
import { type Counts, COUNTS, noCounts, type UserSet } from './counts.ts'
import { type Dimension, DIMENSIONS, type Level, LEVEL_DIMENSIONS, levelWith } from './dimensions.ts'
import type { HealthFilter, HealthQuery } from './health-query.ts'
import * as sql from './read-health.queries.ts'

/**
 * Reads counts of sessions and events. The cost grows with the buckets of a range and the values that are asked for, not
 * with sessions. Each read adds rows of exactly one level.
 */

/** Distinct users: of a set, or of several together. */
export type UserCounts<Q extends UserQuestion> = Readonly<Record<Q, number>>
/**
 * `crash_affected_users`: of crashed sessions or those with an unhandled error. `anr_background_users`: whose app hung, and
 * never in the foreground.
 */
export type UserQuestion = UserSet | 'crash_affected_users' | 'anr_background_users'

export type HealthTotals<Q extends UserQuestion> = Readonly<Counts> & UserCounts<Q>

/** Totals of a range. */
export async function readHealthTotals<Q extends UserQuestion>(
  db: Connection,
  query: HealthQuery,
  sets: readonly Q[],
): Promise<HealthTotals<Q>> {
  const cells = cellsOf(query)
  if (cells === null) return { ...noCounts(), ...noUsers(sets) }
  const counts = await sql.sumCounts(db, cells)
  const users = await usersBy(db, cells, sets, null, () => '')
  return { ...(counts ?? noCounts()), ...(users.get('') ?? noUsers(sets)) }
}

export type HealthPoint<Q extends UserQuestion> = HealthTotals<Q> & { readonly t: Date }

/**
 * The same in equal steps, including empty ones.
 * @param stepSeconds `from` is rounded down to a whole step; buckets of a minute and 15 minutes are kept for some days
 */
export async function readHealthSeries<Q extends UserQuestion>(
  db: Connection,
  query: HealthQuery,
  stepSeconds: BucketSeconds,
  sets: readonly Q[],
): Promise<HealthPoint<Q>[]> {
  const cells = cellsOfSteps(query, stepSeconds)
  const counts = new Map((await sql.sumCountsByBucket(db, cells, stepSeconds)).map(({ t, ...row }) => [t, row]))
  const users = await usersBySteps(db, cells, sets, stepSeconds, null, ({ t }) => startOf(t, stepSeconds))
  return stepsOf(query, stepSeconds).map((t) => ({
    t: new Date(t * 1000),
    ...(counts.get(t) ?? noCounts()),
    ...(users.get(t) ?? noUsers(sets)),
  }))
}

export type HealthRow<Q extends UserQuestion> = HealthTotals<Q> & { readonly name: string }

export type HealthByName<Q extends UserQuestion> = {
  /** The largest values by total; of those that a project counts by name, their counts are exact. */
  readonly rows: readonly HealthRow<Q>[]
  /** Sessions or events without a value. */
  readonly unknown: HealthTotals<Q>
  /** All further ones: `names` known values, and what exceeded the daily limit of values. */
  readonly other: Readonly<Counts> & { readonly names: number }
}

/** Counts by the values of a dimension. */
export async function readHealthBy<Q extends UserQuestion>(
  db: Connection,
  query: HealthQuery,
  dimension: Dimension,
  { max, sets }: { readonly max: number; readonly sets: readonly Q[] },
): Promise<HealthByName<Q>> {
  const cells = cellsOf(query, dimension)
  if (cells === null)
    return { rows: [], unknown: { ...noCounts(), ...noUsers(sets) }, other: { ...noCounts(), names: 0 } }
  const found = await sql.sumCountsByName(db, cells, dimension, max)
  const named = found.flatMap(({ name, ...row }) => (name === null ? [] : [{ name, ...onlyCounts(row) }]))
  const asked = {
    ...cells,
    query: { ...query, filter: { ...query.filter, [dimension]: named.map(({ name }) => name) } },
  }
  const users =
    named.length === 0
      ? new Map<string, UserCounts<Q>>()
      : await usersBy(db, asked, sets, dimension, ({ name }) => name ?? '')
  const withUsers = <Row extends Counts & { name: string }>(row: Row) => ({
    ...row,
    ...(users.get(row.name) ?? noUsers(sets)),
  })
  const rest = found.find(({ name }) => name === null)
  return {
    rows: named.filter(({ name }) => name !== '').map(withUsers),
    unknown: { ...(named.find(({ name }) => name === '') ?? noCounts()), ...(users.get('') ?? noUsers(sets)) },
    other: rest === undefined ? { ...noCounts(), names: 0 } : { ...onlyCounts(rest), names: rest.names },
  }
}

function onlyCounts(row: Counts): Counts {
  const counts = noCounts()
  for (const count of COUNTS) counts[count] = row[count]
  return counts
}

/** Counts of a value in a bucket; `name` is null for what exceeded the daily limit, and empty for unknown. */
export type HealthNamedPoint<Q extends UserQuestion> = HealthTotals<Q> & {
  readonly name: string | null
  readonly t: Date
}

/** Counts by the values of a dimension in equal steps; without empty ones. */
export async function readHealthSeriesBy<Q extends UserQuestion>(
  db: Connection,
  query: HealthQuery,
  dimension: Dimension,
  stepSeconds: BucketSeconds,
  sets: readonly Q[],
): Promise<HealthNamedPoint<Q>[]> {
  const cells = cellsOfSteps(query, stepSeconds, dimension)
  const rows = await sql.sumCountsByNameAndBucket(db, cells, dimension, stepSeconds)
  const key = ({ name, t }: { readonly name: string | null; readonly t: number }): string =>
    JSON.stringify([name, startOf(t, stepSeconds)])
  const users = await usersBySteps(db, cells, sets, stepSeconds, dimension, key)
  return rows.map((row) => ({
    ...onlyCounts(row),
    ...(users.get(key(row)) ?? noUsers(sets)),
    name: row.name,
    t: new Date(row.t * 1000),
  }))
}

/** Known values of a dimension that were used since a time, by name. */
export function readHealthValues(
  db: Connection,
  projectId: string,
  dimension: Dimension,
  since: Date,
  { filter = {}, max }: { readonly filter?: HealthFilter; readonly max: number },
): Promise<string[]> {
  return sql.valuesSince(db, projectId, dimension, levelWith([dimension, ...named(filter)]), since, filter, max)
}

/**
 * Refuses a combination of filters over a day on which a project had more combinations than are counted one by one:
 * the result would be too small.
 * @param dimension that is counted by, if any
 * @throws AppError invalid, naming the filters that combine
 */
export async function requireCombinable(db: Connection, query: HealthQuery, dimension?: Dimension): Promise<void> {
  const level = levelOf(query, dimension)
  if (LEVEL_DIMENSIONS[level].length < 2) return
  const [day] = await sql.daysBeyondLimit(db, query.projectIds, level, query.from, query.to)
  if (day === undefined) return
  const combining =
    level === 'release_environment'
      ? `each of ${DIMENSIONS.join(', ')} alone`
      : `each of ${DIMENSIONS.join(', ')} alone, or release with environment`
  throw invalid(`On ${day} the project had too many combinations of values to filter by several. Use ${combining}.`)
}

const named = (filter: HealthFilter): Dimension[] => DIMENSIONS.filter((dimension) => filter[dimension] !== undefined)

const levelOf = ({ filter }: HealthQuery, dimension?: Dimension): Level =>
  levelWith(dimension === undefined ? named(filter) : [dimension, ...named(filter)])

/** The fewest buckets of a range, at the level that has the dimensions of a query; null for an empty range. */
function cellsOf(query: HealthQuery, dimension?: Dimension): sql.Cells | null {
  const spans = bucketSpans(query.from.getTime(), query.to.getTime(), query.now.getTime())
  return spans.length === 0 ? null : { query, level: levelOf(query, dimension), spans }
}

function cellsOfSteps(query: HealthQuery, bucketSeconds: BucketSeconds, dimension?: Dimension): sql.Cells {
  const from = startOf(query.from.getTime(), bucketSeconds * 1000)
  return { query, level: levelOf(query, dimension), spans: [{ bucketSeconds, from, to: query.to.getTime() }] }
}

/** Starts of all steps, in seconds. */
function stepsOf({ from, to }: HealthQuery, stepSeconds: number): number[] {
  const steps: number[] = []
  for (let t = startOf(from.getTime() / 1000, stepSeconds); t * 1000 < to.getTime(); t += stepSeconds) steps.push(t)
  return steps
}

/** The stored sets that answer a question, as unions: the count of the first less that of the second. */
const unionsOf = (question: UserQuestion): readonly (readonly UserSet[])[] => {
  if (question === 'crash_affected_users') return [['crashed_users', 'unhandled_users']]
  if (question === 'anr_background_users') return [['anr_users'], ['anr_foreground_users']]
  return [[question]]
}

/**
 * Distinct users of each step, and of each value of a dimension. What one rollup holds has its stored number; only the rest
 * merges sketches: the newest step, and several values together.
 */
async function usersBySteps<Key, Q extends UserQuestion>(
  db: Connection,
  cells: sql.Cells,
  questions: readonly Q[],
  stepSeconds: BucketSeconds,
  dimension: Dimension | null,
  keyOf: (row: Pick<sql.SketchRow, 'name' | 't'>) => Key,
): Promise<Map<Key, UserCounts<Q>>> {
  const sets = [...new Set(questions.flatMap((question) => unionsOf(question).flat()))]
  if (sets.length === 0) return new Map()
  const users = new Map<Key, UserCounts<Q>>()
  const merged = new Set<number>()
  for (const bucket of await sql.countUsersByBucket(db, cells, sets, stepSeconds, dimension)) {
    const counts = bucket.rows === 1 ? storedCounts(questions, bucket) : null
    if (counts !== null) users.set(keyOf(bucket), counts)
    else merged.add(bucket.t)
  }
  if (merged.size === 0) return users
  const spans = spansOf(merged, stepSeconds)
  for (const [key, counts] of await usersBy(db, { ...cells, spans }, questions, dimension, keyOf))
    users.set(key, counts)
  return users
}

/** The answers that stored numbers give; null where the users of two sets must be merged. */
function storedCounts<Q extends UserQuestion>(
  questions: readonly Q[],
  stored: sql.CountedBucket,
): UserCounts<Q> | null {
  const count = (sets: readonly UserSet[]): number | null => {
    const known = sets.map((set) => stored[set] ?? 0).filter((users) => users > 0)
    return known.length > 1 ? null : (known[0] ?? 0)
  }
  if (questions.some((question) => unionsOf(question).some((sets) => count(sets) === null))) return null
  return answersOf(questions, (sets) => count(sets) ?? 0)
}

/** Steps by their starts in seconds, neighbours as one span. */
function spansOf(starts: ReadonlySet<number>, bucketSeconds: BucketSeconds): Span[] {
  const spans: Span[] = []
  for (const start of [...starts].sort((a, b) => a - b)) {
    const [from, to] = [start * 1000, (start + bucketSeconds) * 1000]
    const last = spans.at(-1)
    if (last?.to === from) spans[spans.length - 1] = { ...last, to }
    else spans.push({ bucketSeconds, from, to })
  }
  return spans
}

/** Distinct users of each group of rows. */
async function usersBy<Key, Q extends UserQuestion>(
  db: Connection,
  cells: sql.Cells,
  questions: readonly Q[],
  dimension: Dimension | null,
  keyOf: (row: sql.SketchRow) => Key,
): Promise<Map<Key, UserCounts<Q>>> {
  const wanted = new Map(questions.flatMap(unionsOf).map((sets) => [sets.join(), sets]))
  if (wanted.size === 0) return new Map()
  const unions = new Map<Key, Map<string, HyperLogLog>>()
  for await (const rows of sql.sketchPages(db, cells, [...new Set([...wanted.values()].flat())], dimension)) {
    for (const row of rows) {
      const key = keyOf(row)
      let of = unions.get(key)
      if (of === undefined) unions.set(key, (of = new Map([...wanted.keys()].map((name) => [name, new HyperLogLog()]))))
      for (const [name, sets] of wanted)
        for (const set of sets) {
          const bytes = row[set] ?? null
          if (bytes !== null) of.get(name)?.mergeBytes(bytes)
        }
    }
  }
  return new Map([...unions].map(([key, of]) => [key, countsOf(questions, of)]))
}

/** These are estimates: that of a part may be larger than that of all users, if they are asked for. */
function countsOf<Q extends UserQuestion>(
  questions: readonly Q[],
  unions: ReadonlyMap<string, HyperLogLog>,
): UserCounts<Q> {
  return answersOf(questions, (sets) => unions.get(sets.join())?.count() ?? 0)
}

function answersOf<Q extends UserQuestion>(
  questions: readonly Q[],
  count: (sets: readonly UserSet[]) => number,
): UserCounts<Q> {
  const all = questions.some((question) => question === 'users') ? count(['users']) : Number.POSITIVE_INFINITY
  return usersOf(questions, (question) => {
    const [of = [], less] = unionsOf(question)
    return Math.min(all, Math.max(0, count(of) - (less === undefined ? 0 : count(less))))
  })
}

const noUsers = <Q extends UserQuestion>(questions: readonly Q[]): UserCounts<Q> => usersOf(questions, () => 0)

function usersOf<Q extends UserQuestion>(questions: readonly Q[], count: (question: Q) => number): UserCounts<Q> {
  const counts: Partial<Record<Q, number>> = {}
  for (const question of questions) counts[question] = count(question)
  // Safe: every question has a count.
  return counts as UserCounts<Q>
}
