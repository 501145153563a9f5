import { sql } from 'kysely'
import { bucketSpans } from '../app-health/session-totals.queries.ts'
import { ALL_ATTRIBUTES, COUNTS, type Counts, USER_SETS, type UserSet } from '../app-health/rollup.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import type { Connection } from '../storage/database.ts'
import { NO_EVENTS, NO_SESSIONS, type EventFigures, type SessionFigures } from './figures.ts'
import type { DeviceUsers } from './store-guard.ts'

export const DIMENSIONS = ['release', 'environment', 'os', 'device', 'device_class'] as const
export type Dimension = (typeof DIMENSIONS)[number]
/** Values of each dimension, any of which may match; all by default. */
export type Filter = { readonly [D in Dimension]?: readonly string[] | undefined }

/** The filters among other fields. */
export const filterOf = ({ release, environment, os, device, device_class }: Filter): Filter => ({
  release,
  environment,
  os,
  device,
  device_class,
})

export type HealthQuery = {
  /** `unhandledIsCrash`: the project counts a session with an unhandled error as crashed. */
  readonly projects: readonly { readonly id: string; readonly unhandledIsCrash: boolean }[]
  readonly from: number
  /** Excluded. */
  readonly to: number
  readonly now: Date
  readonly filter: Filter
}

type Span = { readonly bucketSeconds: number; readonly from: number; readonly to: number }
type Row = Counts & Record<UserSet, Buffer | null> & { project_id: string; bucket: Date; name: string | null }

export async function readSessions(db: Connection, query: HealthQuery): Promise<SessionFigures> {
  return figuresOf(await readRows(db, query, bucketSpans(query.from, query.to)), query)
}

/** By start of the bucket, without empty ones. */
export async function readSessionSeries(
  db: Connection,
  query: HealthQuery,
  bucketSeconds: number,
): Promise<Map<number, SessionFigures>> {
  const rows = await readRows(db, query, [{ bucketSeconds, from: query.from, to: query.to }])
  return mapValues(
    Map.groupBy(rows, (row) => row.bucket.getTime()),
    (of) => figuresOf(of, query),
  )
}

/** By value of a dimension; null for sessions without it. */
export async function readSessionsBy(
  db: Connection,
  query: HealthQuery,
  dimension: Dimension,
  max: number,
): Promise<SessionsBy> {
  const rows = await readRows(db, query, bucketSpans(query.from, query.to), dimension)
  const by = mapValues(
    Map.groupBy(rows, (row) => row.name ?? ''),
    (of) => figuresOf(of, query),
  )
  const named = [...by].flatMap(([name, of]) => (name === '' ? [] : [{ name, ...of }]))
  return {
    rows: named.toSorted((a, b) => b.sessions - a.sessions).slice(0, max),
    unknown: by.get('') ?? NO_SESSIONS,
    other: { sessions: 0, crashed: 0 },
  }
}

/** Values of a dimension whose counts are read. */
export const MAX_NAMES = 10_000

export type SessionsBy = {
  /** The largest values; their users are not counted. */
  readonly rows: readonly (SessionFigures & { readonly name: string })[]
  /** Sessions without a value. */
  readonly unknown: SessionFigures
  /** Sessions whose value exceeded the limit of names. */
  readonly other: { readonly sessions: number; readonly crashed: number }
}

/** Figures with users of the named values, and of unknown as ''. */
export async function readSessionsOf(
  db: Connection,
  query: HealthQuery,
  dimension: Dimension,
  names: readonly string[],
): Promise<Map<string, SessionFigures>> {
  const rows = await readRows(db, query, bucketSpans(query.from, query.to), dimension)
  return mapValues(
    Map.groupBy(
      rows.filter(({ name }) => name === null || names.includes(name)),
      (row) => row.name ?? '',
    ),
    (of) => figuresOf(of, query),
  )
}

/** Users of each whole day of UTC, by its start, without empty ones. */
export async function readSessionDays(db: Connection, query: HealthQuery): Promise<Map<number, SessionFigures>> {
  const rows = await readRows(db, query, [{ bucketSeconds: 21_600, from: query.from, to: query.to }])
  return mapValues(
    Map.groupBy(rows, (row) => Math.floor(row.bucket.getTime() / DAY_MS) * DAY_MS),
    (of) => figuresOf(of, query),
  )
}

const DAY_MS = 86_400_000

/** Sums of the users of each day, by device model. */
export async function readDeviceDays(db: Connection, query: HealthQuery): Promise<DeviceUsers[]> {
  const rows = await readRows(db, query, [{ bucketSeconds: 21_600, from: query.from, to: query.to }], 'device')
  const days = Map.groupBy(rows, (row) => `${Math.floor(row.bucket.getTime() / DAY_MS)}/${row.name}`)
  const devices = new Map<string, DeviceUsers>()
  for (const [row] of [...days.values()].map((of) => of)) {
    const name = row?.name ?? null
    if (name === null) continue
    const of = figuresOf(days.get(`${Math.floor((row?.bucket.getTime() ?? 0) / DAY_MS)}/${name}`) ?? [], query)
    const known = devices.get(name)
    devices.set(name, {
      device: name,
      user_days: (known?.user_days ?? 0) + of.users,
      crashed_user_days: (known?.crashed_user_days ?? 0) + of.crashed_users,
      anr_user_days: (known?.anr_user_days ?? 0) + of.anr_foreground_users,
    })
  }
  return [...devices.values()]
}

const mapValues = <K, A, B>(map: ReadonlyMap<K, A>, change: (value: A) => B): Map<K, B> =>
  new Map([...map].map(([key, value]) => [key, change(value)]))

async function readRows(
  db: Connection,
  { projects, filter }: HealthQuery,
  spans: readonly Span[],
  by?: Dimension,
): Promise<Row[]> {
  if (filter.device_class !== undefined || by === 'device_class') return []
  const given = DIMENSIONS.filter((dimension) => filter[dimension] !== undefined)
  const columns = sql.join([...COUNTS, ...USER_SETS].map((name) => sql.ref(`r.${name}`)))
  const conditions = given.map(
    (dimension) => sql`a.${sql.ref(dimension)} = any(${[...(filter[dimension] ?? [])]}::text[])`,
  )
  const first = Math.min(...spans.map((span) => span.from))
  const ids = projects.map((project) => project.id)
  const attributes =
    given.length === 0 && by === undefined
      ? sql`(select p.id as project_id, ${ALL_ATTRIBUTES}::bigint as id, null::text as name from unnest(${ids}::uuid[]) p (id))`
      : sql`(select a.project_id, a.id, ${by === undefined ? sql`null::text` : sql.ref(`a.${by}`)} as name
          from session_attributes a where a.project_id = any(${ids}::uuid[])
            and a.last_used_day >= ${dayPlus(dayOf(new Date(first)), -1)}::date
            and ${sql.join([sql`true`, ...conditions], sql` and `)})`
  const { rows } = await sql<Row>`
    select r.project_id, r.bucket, a.name, ${columns}
    from unnest(${spans.map((span) => span.bucketSeconds)}::int[], ${spans.map((span) => new Date(span.from))}::timestamptz[],
      ${spans.map((span) => new Date(span.to))}::timestamptz[]) s (bucket_seconds, "from", "to")
    cross join ${attributes} a
    join session_rollups r on r.project_id = a.project_id and r.bucket_seconds = s.bucket_seconds
      and r.attributes_id = a.id and r.bucket >= s."from" and r.bucket < s."to"`.execute(db)
  return rows
}

function figuresOf(rows: readonly Row[], { projects }: HealthQuery): SessionFigures {
  const widened = new Set(projects.filter((project) => project.unhandledIsCrash).map((project) => project.id))
  const sum = (name: keyof Counts): number => rows.reduce((total, row) => total + row[name], 0)
  const isWidened = (row: Row): boolean => widened.has(row.project_id)
  const moved = rows.reduce((total, row) => total + (isWidened(row) ? row.unhandled : 0), 0)
  const distinct = (sets: (row: Row) => readonly UserSet[]): number => {
    const union = new HyperLogLog()
    for (const row of rows) for (const set of sets(row)) if (row[set] !== null) union.mergeBytes(row[set])
    return union.count()
  }
  const users = distinct(() => ['users'])
  const crashedUsers = distinct((row) => (isWidened(row) ? ['crashed_users', 'unhandled_users'] : ['crashed_users']))
  const anrUsers = distinct(() => ['anr_users'])
  const foreground = Math.min(
    users,
    distinct(() => ['anr_foreground_users']),
  )
  return {
    sessions: sum('total'),
    crashed: sum('crashed') + moved,
    unhandled: sum('unhandled') - moved,
    anr_foreground: sum('anr_foreground'),
    anr_background: sum('anr_background'),
    users,
    // These are estimates: that of a part may be larger than that of the whole.
    crashed_users: Math.min(users, crashedUsers),
    anr_foreground_users: foreground,
    anr_background_users: Math.max(0, Math.min(users, anrUsers) - foreground),
  }
}

type EventRow = { bucket: number; events: number; fatal: number }

/** Error events by start of the bucket, without empty ones. */
export async function readEventSeries(
  db: Connection,
  query: HealthQuery,
  bucketSeconds: number,
): Promise<Map<number, EventFigures>> {
  if (DIMENSIONS.some((dimension) => query.filter[dimension] !== undefined)) return new Map()
  const { rows } = await sql<EventRow>`
    select floor(extract(epoch from minute) / ${bucketSeconds})::float8 as bucket, sum(events)::float8 as events,
      sum(fatal)::float8 as fatal
    from project_minutes where project_id = any(${query.projects.map((project) => project.id)}::uuid[])
      and minute >= ${new Date(query.from)} and minute < ${new Date(query.to)} group by 1`.execute(db)
  return new Map(
    rows.map(({ bucket, events, fatal }) => [
      bucket * bucketSeconds * 1000,
      { ...NO_EVENTS, events, critical: fatal, users: null },
    ]),
  )
}

export async function readEvents(db: Connection, query: HealthQuery): Promise<EventFigures> {
  const series = await readEventSeries(db, query, 60)
  let [events, critical] = [0, 0]
  for (const one of series.values()) {
    events += one.events
    critical += one.critical
  }
  return { ...NO_EVENTS, events, critical, users: null }
}
