import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { bucketSpans, type BucketSeconds, type Span, floorToBucket } from './buckets.ts'
import {
  type Dimension,
  DIMENSIONS,
  type Level,
  LEVEL_DIMENSIONS,
  levelWith,
  countColumn,
  type Counts,
  COUNTS,
  noCounts,
  type UserSet,
} from './dimensions.ts'
import type { HealthFilter, HealthQuery } from './health-query.ts'
import * as sql from './read-health.queries.ts'
import { readSketches } from './read-sketches.ts'

/**
 * Reads counts of sessions and events. The cost grows with the buckets of a range and the values that are asked for, not
 * with sessions. Each read adds rows of exactly one level.
 */

/** Distinct users: of a set, or of several together. */
type UserCounts<Q extends UserQuestion> = Readonly<Record<Q, number>>
/**
 * `crash_affected_users`: of crashed sessions or those with an unhandled error. `anr_background_users`: whose app hung, and
 * never in the foreground.
 */
type UserQuestion = UserSet | 'crash_affected_users' | 'anr_background_users'

export type HealthTotals<Q extends UserQuestion> = Readonly<Counts> & UserCounts<Q>

/** Totals of a range. */
export async function readHealthTotals<Q extends UserQuestion>(
  db: Connection,
  query: HealthQuery,
  sets: readonly Q[],
): Promise<HealthTotals<Q>> {
  const cells = cellsOf(query)
  if (cells === null) return { ...noCounts(), ...noUsers(sets) }
  const [[counts], users] = await Promise.all([sql.sumCounts(db, [cells]), readHealthUsers(db, query, sets)])
  return { ...onlyCounts(counts ?? {}), ...users }
}

/** Counts of several ranges in one statement, in the given order; all queries ask for the same counts. */
export async function readHealthCounts(db: Connection, queries: readonly HealthQuery[]): Promise<Readonly<Counts>[]> {
  const all = queries.map((query) => cellsOf(query))
  const asked = all.filter((cells) => cells !== null)
  const found = asked.length === 0 ? [] : await sql.sumCounts(db, asked)
  return all.map((cells) => (cells === null ? noCounts() : onlyCounts(found[asked.indexOf(cells)] ?? {})))
}

/** Distinct users of a range. */
export async function readHealthUsers<Q extends UserQuestion>(
  db: Connection,
  query: HealthQuery,
  sets: readonly Q[],
): Promise<UserCounts<Q>> {
  const cells = cellsOf(query)
  const users = cells === null ? null : (await usersBy(db, [cells], sets, null, null, () => '')).get('')
  return users ?? noUsers(sets)
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
  const found = await totalsBySteps(db, cells, sets, stepSeconds, null, ({ t }) => t)
  return pointsOf(query, stepSeconds, found, sets)
}

const pointsOf = <Q extends UserQuestion>(
  query: HealthQuery,
  stepSeconds: BucketSeconds,
  found: ReadonlyMap<number, Step<Q>>,
  sets: readonly Q[],
): HealthPoint<Q>[] =>
  stepsOf(query, stepSeconds).map((t) => ({
    t: new Date(t * 1000),
    ...(found.get(t)?.totals ?? { ...noCounts(), ...noUsers(sets) }),
  }))

/** Every step of a range, including empty ones, and the distinct users of the whole range. */
type HealthRange<Point extends UserQuestion, Total extends UserQuestion> = {
  readonly points: readonly HealthPoint<Point>[]
  readonly users: UserCounts<Total>
}

/**
 * Several ranges of whole steps, in the given order: sketches of all of them, of steps and totals, are read together.
 * @param stepSeconds as in {@link readHealthSeries}
 */
export async function readHealthRanges<Point extends UserQuestion, Total extends UserQuestion>(
  db: Connection,
  query: Omit<HealthQuery, 'from' | 'to'>,
  ranges: readonly { readonly from: Date; readonly to: Date }[],
  stepSeconds: BucketSeconds,
  questions: { readonly points: readonly Point[]; readonly total: readonly Total[] },
): Promise<HealthRange<Point, Total>[]> {
  const queries = ranges.map((range) => ({ ...query, ...range }))
  const ofSteps = queries.map((one) => cellsOfSteps(one, stepSeconds))
  const ofTotals = questions.total.length === 0 ? [] : queries.map((one) => cellsOf(one))
  const [first] = ofSteps
  if (first === undefined) return []
  const steps = new Unions<string, Point>(questions.points)
  const totals = new Unions<number, Total>(questions.total)
  const sets = [...new Set([...steps.sets, ...totals.sets])]
  const addDeltas = async (cells: sql.Cells): Promise<void> => {
    for await (const rows of sql.sketchesOfDeltas(db, cells, sets, null))
      for (const { sketches, ...row } of rows) {
        steps.add(stepKey({ ...row, t: floorToBucket(row.t, stepSeconds) }), row.project_id, sketches)
        for (const [index, of] of ofTotals.entries())
          if (of !== null && liesIn(row.t, of)) totals.add(index, row.project_id, sketches)
      }
  }
  const all = { ...first, spans: ofSteps.flatMap((cells) => cells.spans) }
  // A range of a combination is tens of thousands of rows, which two connections add up in half the time.
  const counted = first.level === 'combination' ? ofSteps : [all]
  const [found] = await Promise.all([
    Promise.all(counted.map((cells) => sql.sumCountsByBucket(db, cells, steps.sets, stepSeconds, null))),
    sets.length > 0 && addDeltas(all),
  ])
  const buckets = withStored(found.flat(), questions.points)
  const merged = buckets.flatMap(({ bucket, users }) => (users === null ? [bucket] : []))
  const ofWhole = ofTotals.flatMap((cells) => cells?.spans ?? [])
  const others = merged.filter(({ t }) => !ofWhole.some((span) => lies(t * 1000, stepSeconds, span)))
  const parts = [
    ...ofTotals.map((cells) => cells ?? { ...all, spans: [] }),
    { ...all, spans: spansOf(new Set(others.map(({ t }) => t)), stepSeconds) },
  ]
  for await (const rows of readSketches(db, parts, sets, null, stepSeconds))
    for (const { part, bucket_seconds: seconds, sketches, ...row } of rows) {
      if (seconds === stepSeconds) steps.add(stepKey(row), row.project_id, sketches)
      if (part < ofTotals.length) totals.add(part, row.project_id, sketches)
    }
  const totalsOf = stepsWith(buckets, questions.points, steps.counts(), ({ t }) => t)
  const users = totals.counts()
  return queries.map((one, index) => ({
    points: pointsOf(one, stepSeconds, totalsOf, questions.points),
    users: users.get(index) ?? noUsers(questions.total),
  }))
}

/** Whether a bucket is one of a span. @param seconds its length */
const lies = (at: number, seconds: number, { bucketSeconds, from, to }: Span): boolean =>
  at >= from && at < to && seconds === bucketSeconds

/** Whether a time in seconds lies in any span of cells. */
const liesIn = (t: number, { spans }: sql.Cells): boolean =>
  spans.some(({ from, to }) => t * 1000 >= from && t * 1000 < to)

type HealthRow<Q extends UserQuestion> = HealthTotals<Q> & { readonly name: string }

type HealthByName<Q extends UserQuestion> = {
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
  const found = cells === null ? [] : await sql.sumCountsByName(db, cells, dimension, max)
  const named = found.flatMap(({ name, ...row }) => (name === null ? [] : [{ name, ...onlyCounts(row) }]))
  const users = await readHealthUsersBy(
    db,
    query,
    dimension,
    named.map(({ name }) => name),
    sets,
  )
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

/** Distinct users of values of a dimension; empty is the unknown one. Values without users are left out. */
export async function readHealthUsersBy<Q extends UserQuestion>(
  db: Connection,
  query: HealthQuery,
  dimension: Dimension,
  names: readonly string[],
  sets: readonly Q[],
): Promise<Map<string, UserCounts<Q>>> {
  const cells = cellsOf({ ...query, filter: { ...query.filter, [dimension]: names } }, dimension)
  if (cells === null || names.length === 0) return new Map()
  return usersBy(db, [cells], sets, dimension, null, ({ name }) => name ?? '')
}

/** A range, and the values of a dimension whose users are counted in it. */
type UsersQuestion = {
  /** The source, and filters of other dimensions, are the same in all questions. */
  readonly query: HealthQuery
  /** Null: all together, whose users have an empty name. */
  readonly names: readonly string[] | null
}

/** Distinct users of several ranges, read together, in the given order: by value of a dimension, or without one together. */
export async function readHealthUsersOfRanges<Q extends UserQuestion>(
  db: Connection,
  questions: readonly UsersQuestion[],
  dimension: Dimension | null,
  sets: readonly Q[],
): Promise<Map<string, UserCounts<Q>>[]> {
  const all = questions.map(({ query, names }) => {
    if (names === null || dimension === null) return cellsOf(query)
    return names.length === 0 ? null : cellsOf({ ...query, filter: { ...query.filter, [dimension]: names } }, dimension)
  })
  const parts = all.filter((cells) => cells !== null)
  const found = await usersBy(db, parts, sets, dimension, null, ({ name }, part) => `${part} ${name ?? ''}`)
  return all.map((cells) => {
    const prefix = `${cells === null ? '-' : parts.indexOf(cells)} `
    return new Map(
      [...found].flatMap(([key, users]) =>
        key.startsWith(prefix) ? [[key.slice(prefix.length), users] as const] : [],
      ),
    )
  })
}

const onlyCounts = (row: sql.SomeCounts): Counts => {
  const counts = noCounts()
  for (const count of COUNTS) counts[count] = row[count] ?? 0
  return counts
}

/** Counts of a value in a bucket; `name` is null for what exceeded the daily limit, and empty for unknown. */
type HealthNamedPoint<Q extends UserQuestion> = HealthTotals<Q> & {
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
  const keyOf = ({ name, t }: { readonly name: string | null; readonly t: number }): string =>
    name === null ? `${t}` : `${t} ${name}`
  const found = await totalsBySteps(db, cells, sets, stepSeconds, dimension, keyOf)
  return [...found.values()].map(({ name, t, totals }) => ({ ...totals, name, t: new Date(t * 1000) }))
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
  const from = floorToBucket(query.from.getTime(), bucketSeconds * 1000)
  return { query, level: levelOf(query, dimension), spans: [{ bucketSeconds, from, to: query.to.getTime() }] }
}

/** Starts of all steps, in seconds. */
function stepsOf({ from, to }: HealthQuery, stepSeconds: number): number[] {
  const steps: number[] = []
  for (let t = floorToBucket(from.getTime() / 1000, stepSeconds); t * 1000 < to.getTime(); t += stepSeconds)
    steps.push(t)
  return steps
}

/** The stored sets that answer a question, as unions: the count of the first less the count of the second. */
const unionsOf = (question: UserQuestion): readonly (readonly UserSet[])[] => {
  if (question === 'crash_affected_users') return [['crashed_users', 'unhandled_users']]
  if (question === 'anr_background_users') return [['anr_users'], ['anr_foreground_users']]
  return [[question]]
}

type Step<Q extends UserQuestion> = {
  readonly name: string | null
  /** Its start, in seconds. */
  readonly t: number
  readonly totals: HealthTotals<Q>
}

/**
 * Counts and distinct users of each step, and of each value of a dimension. The users of what one rollup holds are stored
 * beside it; only the rest merges sketches: the newest step, and several values together.
 */
async function totalsBySteps<Key, Q extends UserQuestion>(
  db: Connection,
  cells: sql.Cells,
  questions: readonly Q[],
  stepSeconds: BucketSeconds,
  dimension: Dimension | null,
  keyOf: (row: { readonly name: string | null; readonly t: number }) => Key,
): Promise<Map<Key, Step<Q>>> {
  const sets = [...new Set(questions.flatMap((question) => unionsOf(question).flat()))]
  const buckets = withStored(await sql.sumCountsByBucket(db, cells, sets, stepSeconds, dimension), questions)
  const merged = buckets.flatMap(({ bucket, users }) => (users === null ? [bucket] : []))
  const users =
    merged.length === 0
      ? new Map<string, UserCounts<Q>>()
      : await usersOfSteps(db, cells, questions, stepSeconds, dimension, merged)
  return stepsWith(buckets, questions, users, keyOf)
}

/** Users of a bucket by stored numbers; null where sketches must be merged. */
type BucketUsers<Q extends UserQuestion> = { readonly bucket: sql.Bucket; readonly users: UserCounts<Q> | null }

function withStored<Q extends UserQuestion>(buckets: readonly sql.Bucket[], questions: readonly Q[]): BucketUsers<Q>[] {
  const stored = storedCounts(questions)
  return buckets.map((bucket) => ({ bucket, users: bucket.rows > 1 ? null : stored(bucket) }))
}

/** Steps of all projects together. @param merged users of the steps whose sketches were merged, by {@link stepKey} */
function stepsWith<Key, Q extends UserQuestion>(
  buckets: readonly BucketUsers<Q>[],
  questions: readonly Q[],
  merged: ReadonlyMap<string, UserCounts<Q>>,
  keyOf: (row: { readonly name: string | null; readonly t: number }) => Key,
): Map<Key, Step<Q>> {
  const steps = new Map<Key, Step<Q>>()
  for (const { bucket, users } of buckets) {
    const { name, t } = bucket
    const totals = { ...onlyCounts(bucket), ...(users ?? merged.get(stepKey(bucket)) ?? noUsers(questions)) }
    const key = keyOf(bucket)
    const before = steps.get(key)?.totals
    steps.set(key, { name, t, totals: before === undefined ? totals : add(before, totals) })
  }
  return steps
}

type StepOfProject = Pick<sql.SketchRow, 'project_id' | 'name' | 't'>

const stepKey = ({ project_id, name, t }: StepOfProject): string =>
  name === null ? `${project_id} ${t}` : `${project_id} ${t} ${name}`

const usersOfSteps = <Q extends UserQuestion>(
  db: Connection,
  cells: sql.Cells,
  questions: readonly Q[],
  stepSeconds: BucketSeconds,
  dimension: Dimension | null,
  buckets: readonly sql.Bucket[],
): Promise<Map<string, UserCounts<Q>>> => {
  const projectIds = [...new Set(buckets.map(({ project_id }) => project_id))]
  const spans = spansOf(new Set(buckets.map(({ t }) => t)), stepSeconds)
  const part = { ...cells, query: { ...cells.query, projectIds }, spans }
  return usersBy(db, [part], questions, dimension, stepSeconds, ({ t, ...row }) =>
    stepKey({ ...row, t: floorToBucket(t, stepSeconds) }),
  )
}

/** The answers that stored numbers of a bucket give; null where the users of two sets must be merged. */
function storedCounts<Q extends UserQuestion>(questions: readonly Q[]): (stored: sql.Bucket) => UserCounts<Q> | null {
  const unions = questions.flatMap(unionsOf)
  const isSeveral = (stored: sql.Bucket): boolean =>
    unions.some((sets) => sets.length > 1 && sets.filter((set) => (stored[countColumn(set)] ?? 0) > 0).length > 1)
  return (stored) =>
    isSeveral(stored)
      ? null
      : answersOf(questions, (sets) => sets.reduce((sum, set) => sum + Math.max(0, stored[countColumn(set)] ?? 0), 0))
}

/** Users of different projects are different: their hashes depend on the project. */
function add<Totals extends Readonly<Record<string, number>>>(a: Totals, b: Totals): Totals {
  const sum: Record<string, number> = { ...a }
  for (const [name, value] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + value
  // Safe: the names are those of both.
  return sum as Totals
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

/**
 * Distinct users of each group of rows.
 * @param parts of the same source, with the same filters except of the dimension
 * @param stepSeconds length of buckets that the key tells apart; null when it does not depend on times
 */
async function usersBy<Key, Q extends UserQuestion>(
  db: Connection,
  parts: readonly sql.Cells[],
  questions: readonly Q[],
  dimension: Dimension | null,
  stepSeconds: number | null,
  keyOf: (row: StepOfProject, part: number) => Key,
): Promise<Map<Key, UserCounts<Q>>> {
  const unions = new Unions<Key, Q>(questions)
  const [first, second] = parts
  if (unions.sets.length === 0 || first === undefined) return new Map()
  const together = second === undefined ? first : togetherOf(first, parts, dimension)
  // Before rollups: what a fold moves meanwhile is then read twice, and never missed.
  for await (const rows of sql.sketchesOfDeltas(db, together, unions.sets, dimension))
    for (const { sketches, ...row } of rows)
      for (const [part, cells] of parts.entries()) {
        const named = nameIn(cells, dimension, row.name)
        if (named !== undefined && liesIn(row.t, cells))
          unions.add(keyOf({ ...row, name: named }, part), row.project_id, sketches)
      }
  for await (const rows of readSketches(db, parts, unions.sets, dimension, stepSeconds))
    for (const row of rows) unions.add(keyOf(row, row.part), row.project_id, row.sketches)
  return unions.counts()
}

/** The deltas of all parts: of any value of the dimension where one part has all. */
function togetherOf(first: sql.Cells, parts: readonly sql.Cells[], dimension: Dimension | null): sql.Cells {
  const spans = parts.flatMap((part) => part.spans)
  if (dimension === null) return { ...first, spans }
  const named = parts.map(({ query }) => query.filter[dimension])
  const { [dimension]: _, ...filter } = first.query.filter
  const isNamed = named.every((names) => names !== undefined)
  const names = isNamed ? { [dimension]: [...new Set(named.flatMap((one) => one ?? []))] } : {}
  return { ...first, spans, query: { ...first.query, filter: { ...filter, ...names } } }
}

/** The name of a delta in the result of a part: null where it has none; undefined when the part has no such value. */
function nameIn({ level, query }: sql.Cells, dimension: Dimension | null, name: string | null) {
  if (dimension === null) return name
  const wanted = query.filter[dimension]
  if (wanted !== undefined && (name === null || !wanted.includes(name))) return undefined
  return LEVEL_DIMENSIONS[level].includes(dimension) ? name : null
}

/** Merges sketches of groups. Users of several projects are added. */
class Unions<Key, Q extends UserQuestion> {
  /** The stored sets that answer the questions. */
  readonly sets: readonly UserSet[]
  readonly #questions: readonly Q[]
  readonly #wanted: ReadonlyMap<string, readonly UserSet[]>
  readonly #projects = new Map<string, Map<Key, Map<string, HyperLogLog>>>()

  constructor(questions: readonly Q[]) {
    this.#questions = questions
    this.#wanted = new Map(questions.flatMap(unionsOf).map((sets) => [sets.join(), sets]))
    this.sets = [...new Set([...this.#wanted.values()].flat())]
  }

  add(key: Key, projectId: string, sketches: sql.SketchRow['sketches']): void {
    let unions = this.#projects.get(projectId)
    if (unions === undefined) this.#projects.set(projectId, (unions = new Map<Key, Map<string, HyperLogLog>>()))
    let of = unions.get(key)
    if (of === undefined)
      unions.set(key, (of = new Map([...this.#wanted.keys()].map((name) => [name, new HyperLogLog()]))))
    for (const [name, sets] of this.#wanted)
      for (const set of sets) {
        const bytes = sketches[set] ?? null
        if (bytes !== null) of.get(name)?.mergeBytes(bytes)
      }
  }

  counts(): Map<Key, UserCounts<Q>> {
    const counts = new Map<Key, UserCounts<Q>>()
    for (const unions of this.#projects.values())
      for (const [key, of] of unions) {
        const before = counts.get(key)
        const own = countsOf(this.#questions, of)
        counts.set(key, before === undefined ? own : add(before, own))
      }
    return counts
  }
}

/** Counts are estimates. The count of a part is limited to the count of all users, if the caller asks for both. */
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
