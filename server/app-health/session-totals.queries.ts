import { sql } from 'kysely'
import { dayOf, dayPlus } from '../kernel/day.ts'
import type { Connection } from '../storage/database.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { ALL_ATTRIBUTES, BUCKET_SECONDS, COUNTS, type Counts, startOf, USER_SETS, type UserSet } from './rollup.ts'

export type SessionTotalsQuery = {
  readonly projectId: string
  /** Rounded down to the minute; in ranges over a week to the hour. */
  readonly from: Date
  /** Excluded. */
  readonly to: Date
  readonly release?: string | undefined
  readonly environment?: string | undefined
  readonly os?: string | undefined
  readonly device?: string | undefined
}

/** Sessions that started in a range (docs/protocol.md §9.2). Rates are fractions, null without sessions or users. */
export type SessionTotals = {
  readonly total: number
  readonly healthy: number
  readonly errored: number
  readonly unhandled: number
  readonly abnormal: number
  readonly crashed: number
  readonly anr_foreground: number
  readonly anr_background: number
  /** Distinct users of sessions that name their user. */
  readonly users: number
  readonly crashed_users: number
  readonly unhandled_users: number
  readonly anr_users: number
  readonly anr_foreground_users: number
  readonly crash_rate: number | null
  readonly crash_free_sessions: number | null
  readonly crash_free_users: number | null
  readonly unhandled_rate: number | null
  /** Share of users; share of sessions when no session names its user. */
  readonly anr_rate: number | null
  readonly anr_foreground_rate: number | null
}

/** Totals of a range. The cost grows with the buckets of the range, not with its sessions. */
export async function readSessionTotals(db: Connection, query: SessionTotalsQuery): Promise<SessionTotals> {
  const spans = bucketSpans(query.from.getTime(), query.to.getTime())
  const rows = await readRows(db, query, spans)
  return totalsOf(rows)
}

export type SessionPoint = { readonly t: Date; readonly totals: SessionTotals }

/**
 * The same in equal steps, including empty ones.
 * @param stepSeconds one of BUCKET_SECONDS; `from` is rounded down to a whole step
 */
export async function readSessionSeries(
  db: Connection,
  query: SessionTotalsQuery,
  stepSeconds: (typeof BUCKET_SECONDS)[number],
): Promise<SessionPoint[]> {
  const stepMs = stepSeconds * 1000
  const from = startOf(query.from.getTime(), stepMs)
  const to = query.to.getTime()
  const rows = await readRows(db, query, to > from ? [{ bucketSeconds: stepSeconds, from, to }] : [])
  const byBucket = Map.groupBy(rows, (row) => row.bucket.getTime())
  const points: SessionPoint[] = []
  for (let at = from; at < to; at += stepMs) points.push({ t: new Date(at), totals: totalsOf(byBucket.get(at) ?? []) })
  return points
}

type Row = Counts & Record<UserSet, Buffer | null> & { bucket: Date }
type Span = { readonly bucketSeconds: number; readonly from: number; readonly to: number }

async function readRows(db: Connection, query: SessionTotalsQuery, spans: readonly Span[]): Promise<Row[]> {
  if (spans.length === 0) return []
  const attributes = await attributesToRead(db, query)
  if (attributes.length === 0) return []
  const columns = sql.join([...COUNTS, ...USER_SETS].map((name) => sql.ref(`r.${name}`)))
  const { rows } = await sql<Row>`
    select r.bucket, ${columns}
    from unnest(${spans.map((span) => span.bucketSeconds)}::int[], ${spans.map((span) => new Date(span.from))}::timestamptz[],
      ${spans.map((span) => new Date(span.to))}::timestamptz[]) s (bucket_seconds, "from", "to")
    cross join unnest(${attributes}::bigint[]) a (id)
    join session_rollups r on r.project_id = ${query.projectId} and r.bucket_seconds = s.bucket_seconds
      and r.attributes_id = a.id and r.bucket >= s."from" and r.bucket < s."to"`.execute(db)
  return rows
}

/** Ids to read: without a filter that of all sessions, else those that match and were used since. */
async function attributesToRead(db: Connection, { projectId, from, ...filter }: SessionTotalsQuery): Promise<number[]> {
  const { release, environment, os, device } = filter
  if (release === undefined && environment === undefined && os === undefined && device === undefined)
    return [ALL_ATTRIBUTES]
  let query = db
    .selectFrom('session_attributes')
    .select('id')
    .where('project_id', '=', projectId)
    // Clocks up to an hour ahead are not corrected; one day covers that.
    .where('last_used_day', '>=', dayPlus(dayOf(from), -1))
  for (const [name, value] of Object.entries({ release, environment, os, device }) as [
    'release' | 'environment' | 'os' | 'device',
    string | undefined,
  ][])
    if (value !== undefined) query = query.where(name, '=', value)
  return (await query.execute()).map((row) => row.id)
}

/**
 * Divides a range into the fewest spans of whole buckets: long ones inside, shorter ones at both ends. A range over a
 * week starts at a whole hour, because shorter buckets are deleted after a week.
 * @returns an empty list for an empty range
 */
export function bucketSpans(from: number, to: number): Span[] {
  const finestMs = 60_000
  return cover(
    startOf(from, to - from > WEEK_MS ? 3_600_000 : finestMs),
    startOf(to, finestMs),
    BUCKET_SECONDS.length - 1,
  )
}

const WEEK_MS = 7 * 86_400_000

function cover(from: number, to: number, level: number): Span[] {
  const bucketSeconds = BUCKET_SECONDS[level]
  if (from >= to || bucketSeconds === undefined) return []
  const bucketMs = bucketSeconds * 1000
  const inner = startOf(from + bucketMs - 1, bucketMs)
  const end = startOf(to, bucketMs)
  if (inner >= end) return cover(from, to, level - 1)
  return [...cover(from, inner, level - 1), { bucketSeconds, from: inner, to: end }, ...cover(end, to, level - 1)]
}

function totalsOf(rows: readonly Row[]): SessionTotals {
  const sum = (name: keyof Counts): number => rows.reduce((total, row) => total + row[name], 0)
  const distinct = (set: UserSet): number => {
    const union = new HyperLogLog()
    for (const row of rows) if (row[set] !== null) union.merge(HyperLogLog.fromBytes(row[set]))
    return union.count()
  }
  const total = sum('total')
  const [errored, unhandled, abnormal, crashed] = [sum('errored'), sum('unhandled'), sum('abnormal'), sum('crashed')]
  const [anrForeground, anrBackground] = [sum('anr_foreground'), sum('anr_background')]
  const users = distinct('users')
  // These are estimates: that of a part may be larger than that of the whole.
  const ofUsers = (set: UserSet): number => Math.min(distinct(set), users)
  const crashedUsers = ofUsers('crashed_users')
  const anrUsers = ofUsers('anr_users')
  const anrForegroundUsers = ofUsers('anr_foreground_users')
  const crashRate = share(crashed, total)
  return {
    total,
    healthy: total - errored - unhandled - abnormal - crashed,
    errored,
    unhandled,
    abnormal,
    crashed,
    anr_foreground: anrForeground,
    anr_background: anrBackground,
    users,
    crashed_users: crashedUsers,
    unhandled_users: ofUsers('unhandled_users'),
    anr_users: anrUsers,
    anr_foreground_users: anrForegroundUsers,
    crash_rate: crashRate,
    crash_free_sessions: crashRate === null ? null : 1 - crashRate,
    crash_free_users: users === 0 ? null : 1 - crashedUsers / users,
    unhandled_rate: share(unhandled, total),
    anr_rate: users > 0 ? anrUsers / users : share(anrForeground + anrBackground, total),
    anr_foreground_rate: users > 0 ? anrForegroundUsers / users : share(anrForeground, total),
  }
}

const share = (part: number, whole: number): number | null => (whole <= 0 ? null : part / whole)
