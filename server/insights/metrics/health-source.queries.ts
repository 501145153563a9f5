import type { BucketSeconds } from '../../telemetry/app-health/buckets.ts'
import { type Dimension, DIMENSIONS, type Count, type Counts, noCounts } from '../../telemetry/app-health/dimensions.ts'
import type { HealthFilter, HealthQuery as SourceQuery } from '../../telemetry/app-health/health-query.ts'
import {
  type HealthPoint,
  readHealthBy,
  readHealthRanges,
  readHealthSeries,
  readHealthSeriesBy,
  readHealthTotals,
  readHealthUsersBy,
  readHealthCounts,
  readHealthUsersOfRanges,
  requireCombinable,
} from '../../telemetry/app-health/read-health.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { anrUsers, NO_SESSIONS, type EventFigures, type SessionFigures } from './figures.ts'
import type { DeviceUsers } from './store-guard.ts'

/** Values of each dimension, any of which may match; all by default. */
export type Filter = { readonly [D in Dimension]?: readonly string[] | undefined }

/** The filters among other fields. */
export const pickHealthFilter = ({ release, environment, os, device, device_class }: Filter): Filter => ({
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
  /** Counts of sessions to read; all that figures have by default. */
  readonly counts?: readonly Count[]
}

/** Users to count beside sessions; sketches of users are most of the cost. Those not asked for are 0. */
export type SessionUsers = readonly Extract<keyof SessionFigures, `${string}users`>[]
/** Beside error events. */
export type EventUsers = readonly Extract<keyof EventFigures, `${string}users`>[]

/** Figures by start of the bucket, without empty ones, and of the whole range. */
export type Range<Figures> = { readonly series: ReadonlyMap<number, Figures>; readonly total: Figures }

type Times = { readonly from: number; readonly to: number }

/** Ranges of whole buckets, in the given order. @param users those of each bucket, and of the whole range */
export async function readSessions(
  db: Connection,
  query: Omit<HealthQuery, 'from' | 'to'>,
  ranges: readonly Times[],
  bucketSeconds: BucketSeconds,
  users: { readonly points: SessionUsers; readonly total: SessionUsers },
): Promise<Range<SessionFigures>[]> {
  const found = ranges.map(() => ({ series: new Map<number, SessionFigures>(), total: NO_SESSIONS }))
  for (const { read, isWidened } of partsOf({ ...query, ...wholeOf(ranges) })) {
    await requireCombinable(db, read)
    const of = await readHealthRanges(db, read, ranges.map(datesOf), bucketSeconds, {
      points: setsOf(users.points, isWidened),
      total: setsOf(users.total, isWidened),
    })
    for (const [index, range] of found.entries()) {
      const { points = [], users: ofRange = {} } = of[index] ?? {}
      addPoints(range.series, points, isWidened)
      range.total = addFigures(range.total, figuresOf({ ...noCounts(), ...ofRange }, isWidened))
    }
  }
  return found.map(({ series, total }) => ({
    series,
    total: [...series.values()].map(withoutUsers).reduce(addFigures, total),
  }))
}

const wholeOf = (ranges: readonly Times[]): Times => ({
  from: Math.min(...ranges.map(({ from }) => from)),
  to: Math.max(...ranges.map(({ to }) => to)),
})

const datesOf = ({ from, to }: Times) => ({ from: new Date(from), to: new Date(to) })

/** Sessions of ranges with their users, in the given order. */
export async function readUsers(
  db: Connection,
  query: Omit<HealthQuery, 'from' | 'to'>,
  ranges: readonly Times[],
  users: SessionUsers,
): Promise<SessionFigures[]> {
  const figures = ranges.map(() => NO_SESSIONS)
  for (const { read, isWidened } of partsOf({ ...query, ...wholeOf(ranges) })) {
    await requireCombinable(db, read)
    const questions = ranges.map((range) => ({ query: { ...read, ...datesOf(range) }, names: null }))
    const [found, counts] = await Promise.all([
      readHealthUsersOfRanges(db, questions, null, setsOf(users, isWidened)),
      readHealthCounts(
        db,
        questions.map((question) => question.query),
      ),
    ])
    for (const [index, of] of found.entries()) {
      const added = figuresOf({ ...(counts[index] ?? noCounts()), ...of.get('') }, isWidened)
      figures[index] = addFigures(figures[index] ?? NO_SESSIONS, added)
    }
  }
  return figures
}

const withoutUsers = (of: SessionFigures): SessionFigures => ({
  ...of,
  users: 0,
  crashed_users: 0,
  anr_foreground_users: 0,
  anr_background_users: 0,
})

async function readSessionSeries(
  db: Connection,
  query: HealthQuery,
  bucketSeconds: BucketSeconds,
  users: SessionUsers,
): Promise<Map<number, SessionFigures>> {
  const series = new Map<number, SessionFigures>()
  for (const { read, isWidened } of partsOf(query))
    addPoints(series, await readHealthSeries(db, read, bucketSeconds, setsOf(users, isWidened)), isWidened)
  return series
}

function addPoints(
  series: Map<number, SessionFigures>,
  points: readonly HealthPoint<UserSet>[],
  isWidened: boolean,
): void {
  for (const { t, ...totals } of points) {
    if (totals.total === 0) continue
    series.set(t.getTime(), addFigures(series.get(t.getTime()) ?? NO_SESSIONS, figuresOf(totals, isWidened)))
  }
}

/** Values of a dimension whose counts are read. */
export const MAX_NAMES = 10_000

type SessionsBy = {
  /** The largest values; their users are not counted. */
  readonly rows: readonly (SessionFigures & { readonly name: string })[]
  /** Sessions without a value. */
  readonly unknown: SessionFigures
  /** Sessions whose value exceeded the limit of names. */
  readonly other: { readonly sessions: number; readonly crashed: number }
}

/** By value of a dimension. */
export async function readSessionsBy(
  db: Connection,
  query: HealthQuery,
  dimension: Dimension,
  max: number,
): Promise<SessionsBy> {
  const rows = new Map<string, SessionFigures & { readonly name: string }>()
  let unknown = NO_SESSIONS
  const other = { sessions: 0, crashed: 0 }
  for (const { read, isWidened } of partsOf(query)) {
    await requireCombinable(db, read, dimension)
    const by = await readHealthBy(db, read, dimension, { max, sets: [] })
    for (const row of by.rows) {
      const before = rows.get(row.name) ?? NO_SESSIONS
      rows.set(row.name, { ...addFigures(before, figuresOf(row, isWidened)), name: row.name })
    }
    unknown = addFigures(unknown, figuresOf(by.unknown, isWidened))
    other.sessions += by.other.total
    other.crashed += by.other.crashed + (isWidened ? by.other.unhandled : 0)
  }
  return { rows: [...rows.values()].toSorted((a, b) => b.sessions - a.sessions).slice(0, max), unknown, other }
}

const SHOWN_USERS = ['users', 'crashed_users', 'anr_foreground_users'] as const

/** Users of the named values, and of the unknown one as ''; the counts are 0. */
export async function readUsersByValue(
  db: Connection,
  query: HealthQuery,
  dimension: Dimension,
  names: readonly string[],
): Promise<Map<string, SessionFigures>> {
  const found = new Map<string, SessionFigures>()
  for (const { read, isWidened } of partsOf(query)) {
    const given = read.filter[dimension]
    const wanted = [...new Set([...names, ''])].filter((name) => given === undefined || given.includes(name))
    for (const [name, users] of await readHealthUsersBy(db, read, dimension, wanted, setsOf(SHOWN_USERS, isWidened)))
      found.set(name, addFigures(found.get(name) ?? NO_SESSIONS, figuresOf({ ...noCounts(), ...users }, isWidened)))
  }
  return found
}

/** Users of each whole day of UTC, by its start, without empty ones. */
export const readSessionDays = (db: Connection, query: HealthQuery): Promise<Map<number, SessionFigures>> =>
  readSessionSeries(db, query, 86_400, SHOWN_USERS)

/** Models of which users are counted: those with the largest share of crashed or hung sessions. */
const MAX_DEVICES = 50
const DEVICE_COUNTS = ['total', 'crashed', 'unhandled', 'anr_foreground'] as const

/**
 * Sums of the users of each day, by device model: of the models with the worst sessions, because the users of all of them
 * are too many sketches for one answer.
 * @param minSessions models with fewer are left out
 */
export async function readDeviceDays(db: Connection, query: HealthQuery, minSessions: number): Promise<DeviceUsers[]> {
  const devices = new Map<string, DeviceUsers>()
  for (const { read, isWidened } of partsOf({ ...query, counts: DEVICE_COUNTS })) {
    const { rows } = await readHealthBy(db, read, 'device', { max: MAX_NAMES, sets: [] })
    const worst = rows
      .map(({ name, ...counts }) => ({ name, ...figuresOf(counts, isWidened) }))
      .filter(({ sessions }) => sessions >= minSessions)
      .map(({ name, sessions, crashed, anr_foreground: anr }) => ({ name, rate: Math.max(crashed, anr) / sessions }))
      .sort((a, b) => b.rate - a.rate)
      .slice(0, MAX_DEVICES)
    const filter = { ...read.filter, device: worst.map(({ name }) => name) }
    const days = await readHealthSeriesBy(db, { ...read, filter }, 'device', 86_400, setsOf(SHOWN_USERS, isWidened))
    for (const { name, ...totals } of days) if (name !== null) addDay(devices, name, figuresOf(totals, isWidened))
  }
  return [...devices.values()]
}

function addDay(devices: Map<string, DeviceUsers>, device: string, of: SessionFigures): void {
  const known = devices.get(device)
  devices.set(device, {
    device,
    user_days: (known?.user_days ?? 0) + of.users,
    crashed_user_days: (known?.crashed_user_days ?? 0) + of.crashed_users,
    anr_user_days: (known?.anr_user_days ?? 0) + anrUsers(of),
  })
}

type UserSet = 'users' | 'crashed_users' | 'crash_affected_users' | 'anr_foreground_users' | 'anr_background_users'

const setsOf = (users: SessionUsers, isWidened: boolean): UserSet[] =>
  users.map((name) => (name === 'crashed_users' && isWidened ? 'crash_affected_users' : name))

/** Counts that figures of sessions need. */
const SESSION_COUNTS = ['total', 'crashed', 'unhandled', 'anr_foreground', 'anr_background'] as const

/** Projects that count an unhandled error as a crash, and the others. Hashes of users differ between projects. */
function partsOf({ projects, from, to, now, filter, counts = SESSION_COUNTS }: HealthQuery) {
  return [true, false].flatMap((isWidened) => {
    const projectIds = projects.filter(({ unhandledIsCrash }) => unhandledIsCrash === isWidened).map(({ id }) => id)
    const range = { from: new Date(from), to: new Date(to), now, counts }
    return projectIds.length === 0
      ? []
      : [{ read: { projectIds, source: 'sessions' as const, ...range, filter: withoutGaps(filter) }, isWidened }]
  })
}

function withoutGaps(filter: Filter): HealthFilter {
  const given: Partial<Record<Dimension, readonly string[]>> = {}
  for (const dimension of DIMENSIONS) {
    const values = filter[dimension]
    if (values !== undefined) given[dimension] = values
  }
  return given
}

const figuresOf = (
  totals: Readonly<Counts> & Readonly<Partial<Record<UserSet, number>>>,
  isWidened: boolean,
): SessionFigures => ({
  sessions: totals.total,
  crashed: totals.crashed + (isWidened ? totals.unhandled : 0),
  unhandled: isWidened ? 0 : totals.unhandled,
  anr_foreground: totals.anr_foreground,
  anr_background: totals.anr_background,
  users: totals.users ?? 0,
  crashed_users: (isWidened ? totals.crash_affected_users : totals.crashed_users) ?? 0,
  anr_foreground_users: totals.anr_foreground_users ?? 0,
  anr_background_users: totals.anr_background_users ?? 0,
})

export const addFigures = (a: SessionFigures, b: SessionFigures): SessionFigures => ({
  sessions: a.sessions + b.sessions,
  crashed: a.crashed + b.crashed,
  unhandled: a.unhandled + b.unhandled,
  anr_foreground: a.anr_foreground + b.anr_foreground,
  anr_background: a.anr_background + b.anr_background,
  users: a.users + b.users,
  crashed_users: a.crashed_users + b.crashed_users,
  anr_foreground_users: a.anr_foreground_users + b.anr_foreground_users,
  anr_background_users: a.anr_background_users + b.anr_background_users,
})

/** Error events of ranges of whole buckets, in the given order. @param users those of each bucket, and of the whole range */
export async function readEvents(
  db: Connection,
  query: Omit<HealthQuery, 'from' | 'to'>,
  ranges: readonly Times[],
  bucketSeconds: BucketSeconds,
  users: { readonly points: EventUsers; readonly total: EventUsers },
): Promise<Range<EventFigures>[]> {
  const read = eventsOf({ ...query, ...wholeOf(ranges) })
  await requireCombinable(db, read)
  const found = await readHealthRanges(db, read, ranges.map(datesOf), bucketSeconds, {
    points: users.points.map(eventSet),
    total: users.total.map(eventSet),
  })
  return found.map(({ points, users: total }) => {
    const series = new Map(
      points.flatMap(({ t, ...totals }) => (totals.total === 0 ? [] : [[t.getTime(), eventFigures(totals)] as const])),
    )
    const sum = (name: 'events' | 'critical'): number =>
      [...series.values()].reduce((all, figures) => all + figures[name], 0)
    return { series, total: { ...eventFigures(total), events: sum('events'), critical: sum('critical') } }
  })
}

/** Users of error events. */
export async function readEventUsers(db: Connection, query: HealthQuery): Promise<EventFigures> {
  const read = eventsOf(query)
  await requireCombinable(db, read)
  return eventFigures(await readHealthTotals(db, read, ['users', 'crashed_users', 'anr_foreground_users']))
}

const eventSet = (name: EventUsers[number]) => (name === 'anr_users' ? 'anr_foreground_users' : name)

const EVENT_COUNTS = ['total', 'critical'] as const

const eventsOf = ({ projects, from, to, now, filter }: HealthQuery): SourceQuery => ({
  projectIds: projects.map(({ id }) => id),
  source: 'events',
  from: new Date(from),
  to: new Date(to),
  now,
  filter: withoutGaps(filter),
  counts: EVENT_COUNTS,
})

const eventFigures = (
  of: Readonly<Partial<Record<'total' | 'critical' | 'users' | 'crashed_users' | 'anr_foreground_users', number>>>,
): EventFigures => ({
  events: of.total ?? 0,
  critical: of.critical ?? 0,
  users: of.users ?? 0,
  crashed_users: of.crashed_users ?? 0,
  anr_users: of.anr_foreground_users ?? 0,
})
