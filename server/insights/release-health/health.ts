import { selectVersions } from './list.queries.ts'
import type { App } from '../../platform/context/app.ts'
import { countReleaseIssues } from '../../issues/rows/of-releases.queries.ts'
import { compareReleases } from '../../projects/releases/order.ts'
import type { Release } from '../../projects/releases/releases.api.ts'
import type { ReleaseRow } from '../../projects/releases/releases.queries.ts'
import { isSameApp } from '../../projects/releases/version.ts'
import { viewReleases } from '../../projects/releases/view-release.ts'
import { floorToBucket } from '../../telemetry/app-health/buckets.ts'
import { healthSettings } from '../../telemetry/app-health/health-settings.ts'
import { selectProjectForDigestion } from '../../projects/registry/projects.queries.ts'
import type { Comparison, ReleaseRange, ReleaseWithHealth } from './release-health.api.ts'
import {
  seriesOfReleases,
  sumsByRelease,
  usersOfReleases,
  type ReleaseBucket,
  type SessionsQuery,
  sessionsOfReleases,
  type SessionCount,
  type UserCount,
} from './sessions-of-releases.ts'
import { computeCrashFreeRate, MIN_SESSIONS, judgeRelease, type Sessions } from './verdict.ts'
import { HOUR_MS, DAY_MS } from '../../platform/kernel/day.ts'

/** Length and bucket size of each range. */
const RANGES = {
  '1h': { ms: HOUR_MS, bucketSeconds: 60 },
  '24h': { ms: DAY_MS, bucketSeconds: 900 },
  '7d': { ms: 7 * DAY_MS, bucketSeconds: 3_600 },
  '30d': { ms: 30 * DAY_MS, bucketSeconds: 21_600 },
} as const

/** The range up to now in whole buckets. The newest bucket is incomplete. */
function sessionsRange(
  now: Date,
  range: ReleaseRange,
  about: Pick<SessionsQuery, 'projectId' | 'environment' | 'unhandledIsCrash'>,
): SessionsQuery & { readonly times: readonly number[] } {
  const { ms, bucketSeconds } = RANGES[range]
  const bucketMs = bucketSeconds * 1000
  const to = floorToBucket(now.getTime(), bucketMs) + bucketMs
  const times = Array.from({ length: ms / bucketMs }, (_, index) => to - ms + index * bucketMs)
  return { ...about, bucketSeconds, from: new Date(to - ms), to: new Date(to), times }
}

/** The last 24 hours, including the current one. */
function lastDay(
  now: Date,
  { projectId, environment, unhandledIsCrash }: Pick<SessionsQuery, 'projectId' | 'environment' | 'unhandledIsCrash'>,
): SessionsQuery {
  const to = floorToBucket(now.getTime(), HOUR_MS) + HOUR_MS
  return {
    projectId,
    environment,
    unhandledIsCrash,
    bucketSeconds: 3_600,
    from: new Date(to - DAY_MS),
    to: new Date(to),
  }
}

/** Sessions of a project by release over a range and over the last day. */
export type ProjectSessions = {
  readonly range: ReleaseRange
  readonly query: ReturnType<typeof sessionsRange>
  readonly byRelease: ReadonlyMap<string, Sessions>
  readonly total: number
  readonly today: ReadonlyMap<string, number>
  readonly totalToday: number
}

export async function sessionsOfProject(
  app: App,
  projectId: string,
  range: ReleaseRange,
  environment: string | undefined,
): Promise<ProjectSessions> {
  const now = app.clock.now()
  const project = await selectProjectForDigestion(app.db, projectId)
  const unhandledIsCrash = healthSettings(project?.settings).unhandled_is_crash
  const query = sessionsRange(now, range, { projectId, environment, unhandledIsCrash })
  const [ofRange, ofDay] = await Promise.all([sumsByRelease(app.db, query), sumsByRelease(app.db, lastDay(now, query))])
  return {
    range,
    query,
    byRelease: ofRange.byRelease,
    total: ofRange.total,
    today: new Map([...ofDay.byRelease].map(([version, { sessions }]) => [version, sessions])),
    totalToday: ofDay.total,
  }
}

export const computeShare = (part: number, whole: number): number | null => (whole <= 0 ? null : part / whole)

/** Releases that are compared with each other: those with the most sessions. */
const MAX_COMPARED = 200

/** Adds health to releases of one project. */
export async function withHealth(
  app: App,
  rows: readonly ReleaseRow[],
  known: ProjectSessions,
): Promise<ReleaseWithHealth[]> {
  const { query, byRelease, total, today, totalToday } = known
  const versions = rows.map((row) => row.version)
  const day = lastDay(app.clock.now(), query)
  const usedToday = versions.filter((version) => today.has(version))
  const used = versions.filter((version) => byRelease.has(version))
  const [releases, series, [usersToday, usersOfRange, ofAll], issues, ranked] = await Promise.all([
    viewReleases(app.db, rows),
    seriesOfReleases(app.db, query, used),
    usersOfReleases(app.db, [
      { query: day, versions: usedToday },
      { query, versions: used },
      { query: day, versions: usedToday.length === 0 ? [] : null },
    ]),
    countReleaseIssues(app.db, query.projectId, versions),
    rankReleases(app, known),
  ])
  const allUsers = ofAll?.get('')?.users ?? 0
  const neighbours = new Map(rows.map((row) => [row.version, neighboursOf(row, ranked, today)]))
  const comparisons = await comparedAtAge(app, rows, query, neighbours)
  return releases.map((release) => {
    const { version } = release
    const sessions = byRelease.get(version) ?? null
    const today24h = usersToday?.get(version)
    const counted = usersOfRange?.get(version)
    const adoption = computeShare(today.get(version) ?? 0, totalToday)
    const { previous, isSucceeded } = neighbours.get(version) ?? NO_NEIGHBOURS
    const comparison = comparisons.get(version) ?? null
    const regressions = issues.get(version)?.regressed ?? 0
    return {
      ...release,
      adoption,
      adoption_users: computeShare(today24h?.users ?? 0, allUsers),
      adoption_trend: sessions === null ? [] : trendOf(query.times, series.byRelease.get(version) ?? [], series.totals),
      sessions: total === 0 ? null : (sessions?.sessions ?? 0),
      users: counted?.users ?? null,
      users_range: known.range,
      crash_free_sessions: sessions === null || sessions.sessions <= 0 ? null : computeCrashFreeRate(sessions),
      crash_free_users: counted === undefined || counted.users === 0 ? null : 1 - counted.crashedUsers / counted.users,
      previous:
        previous === null ? null : { version: previous.version, crash_free_sessions: computeCrashFreeRate(previous) },
      new_issues: issues.get(version)?.fresh ?? 0,
      regressions,
      comparison,
      ...judgeRelease({
        state: release.state,
        received: receivedFrom(release),
        sessions,
        previous,
        comparison,
        regressions,
        adoption,
        isSucceeded,
      }),
    }
  })
}

const receivedFrom = ({ first_seen, first_session }: Release): 'nothing' | 'no_sessions' | 'sessions' =>
  first_session !== null ? 'sessions' : first_seen === null ? 'nothing' : 'no_sessions'

function trendOf(
  times: readonly number[],
  buckets: readonly ReleaseBucket[],
  totals: ReadonlyMap<number, number>,
): (number | null)[] {
  const own = new Map(buckets.map(({ bucket, sessions }) => [bucket.getTime(), sessions]))
  return times.map((time) => computeShare(own.get(time) ?? 0, totals.get(time) ?? 0))
}

/** Releases of a list that are compared: those that roll out. */
const MAX_COMPARED_AT_AGE = 5
const ROLLOUT_MS = 14 * DAY_MS

/** The newest releases against the ones before them; a release alone always. */
async function comparedAtAge(
  app: App,
  rows: readonly ReleaseRow[],
  query: SessionsQuery,
  neighbours: ReadonlyMap<string, Neighbours>,
): Promise<Map<string, Comparison>> {
  const now = app.clock.now().getTime()
  const { projectId, environment, unhandledIsCrash } = query
  const wanted = rows
    .filter((row) => rows.length === 1 || now - row.dated_at.getTime() < ROLLOUT_MS)
    .toSorted((a, b) => b.dated_at.getTime() - a.dated_at.getTime())
    .slice(0, MAX_COMPARED_AT_AGE)
  const pairs = wanted.flatMap((release) => {
    const previous = neighbours.get(release.version)?.previous
    if (previous?.datedAt === undefined || previous.datedAt === null) return []
    return [{ release, previous: { version: previous.version, dated_at: previous.datedAt } }]
  })
  const compared = await compareAtAge(app, pairs, { projectId, environment, unhandledIsCrash })
  return new Map(
    pairs.flatMap(({ release }, index) => {
      const comparison = compared[index] ?? null
      return comparison === null ? [] : [[release.version, comparison] as const]
    }),
  )
}

type Ranked = {
  readonly version: string
  readonly datedAt: Date | null
  readonly releasedAt: Date | null
  readonly firstSeenAt: Date | null
} & Sessions

/** Releases with sessions, and the facts that order them. */
async function rankReleases(app: App, { query, byRelease }: ProjectSessions): Promise<Ranked[]> {
  const compared = [...byRelease].sort(([, a], [, b]) => b.sessions - a.sessions).slice(0, MAX_COMPARED)
  if (compared.length === 0) return []
  const rows = await selectVersions(
    app.db,
    query.projectId,
    compared.map(([version]) => version),
  )
  const facts = new Map(rows.map((row) => [row.version, row]))
  return compared.map(([version, sessions]) => ({
    version,
    datedAt: facts.get(version)?.dated_at ?? null,
    releasedAt: facts.get(version)?.released_at ?? null,
    firstSeenAt: facts.get(version)?.first_seen_at ?? null,
    ...sessions,
  }))
}

type Neighbours = { readonly previous: Ranked | null; readonly isSucceeded: boolean }
const NO_NEIGHBOURS: Neighbours = { previous: null, isSucceeded: false }

/** The previous release of the same app with enough sessions, and whether a newer one is in use. */
function neighboursOf(row: ReleaseRow, ranked: readonly Ranked[], today: ReadonlyMap<string, number>): Neighbours {
  const self = { version: row.version, releasedAt: row.released_at, firstSeenAt: row.first_seen_at }
  let previous: Ranked | null = null
  let isSucceeded = false
  for (const other of ranked) {
    if (!isSameApp(other.version, self.version)) continue
    const order = compareReleases(other, self)
    if (order > 0 && (today.get(other.version) ?? 0) > 0) isSucceeded = true
    if (order < 0 && other.sessions >= MIN_SESSIONS && (previous === null || compareReleases(other, previous) > 0))
      previous = other
  }
  return { previous, isSucceeded }
}

/** After a week a rollout is decided, and later sessions are of other users. */
const MAX_HOURS = 7 * 24

type Dated = Pick<ReleaseRow, 'version' | 'dated_at'>

/** A release and the one before it. */
type Pair = { readonly release: Dated; readonly previous: Dated }

/**
 * Releases and the ones before them, each from its date on and equally long as its pair: a release is not compared with one
 * that had weeks to reach its users. In the given order; null within the first hour.
 */
async function compareAtAge(
  app: App,
  pairs: readonly Pair[],
  about: Pick<SessionsQuery, 'projectId' | 'environment' | 'unhandledIsCrash'>,
): Promise<(Comparison | null)[]> {
  const now = app.clock.now().getTime()
  const ranges = pairs.map(({ release, previous }) => {
    const hours = Math.min(MAX_HOURS, Math.floor((now - floorToBucket(release.dated_at.getTime(), HOUR_MS)) / HOUR_MS))
    return hours < 1 ? null : { hours, of: [release, previous].map((one) => rangeOf(one, hours, about)) }
  })
  const wanted = ranges.flatMap((range) => range?.of ?? [])
  const [sessions, users] = await Promise.all([
    Promise.all(ranges.map((range) => sessionsOfReleases(app.db, range?.of ?? []))),
    usersOfReleases(
      app.db,
      wanted.map(({ version, query }) => ({ query, versions: [version] })),
    ),
  ])
  const figures = (range: Range | undefined, counts: SessionsInRange | undefined): Comparison['release'] =>
    figuresOf(
      range?.version ?? '',
      counts,
      (range === undefined ? undefined : users[wanted.indexOf(range)]) ?? new Map(),
    )
  return ranges.map((range, index) => {
    if (range === null) return null
    const [own, other] = sessions[index] ?? []
    return {
      age_hours: range.hours,
      release: figures(range.of[0], own),
      previous: figures(range.of[1], other),
    }
  })
}

type Range = { readonly version: string; readonly query: SessionsQuery }

function rangeOf(
  { version, dated_at: datedAt }: Dated,
  hours: number,
  about: Pick<SessionsQuery, 'projectId' | 'environment' | 'unhandledIsCrash'>,
): Range {
  const from = floorToBucket(datedAt.getTime(), HOUR_MS)
  const to = new Date(from + hours * HOUR_MS)
  return { version, query: { ...about, bucketSeconds: 3_600, from: new Date(from), to } }
}

type SessionsInRange = { readonly own: SessionCount; readonly all: SessionCount }

const NO_SESSIONS: SessionsInRange = { own: { sessions: 0, crashed: 0 }, all: { sessions: 0, crashed: 0 } }

function figuresOf(
  version: string,
  { own, all }: SessionsInRange = NO_SESSIONS,
  users: ReadonlyMap<string, UserCount>,
): Comparison['release'] {
  const counted = users.get(version)
  return {
    version,
    sessions: own.sessions,
    crashed: own.crashed,
    adoption: all.sessions <= 0 ? null : own.sessions / all.sessions,
    users: counted?.users ?? null,
    crash_free_sessions: own.sessions <= 0 ? null : computeCrashFreeRate(own),
    crash_free_users: counted === undefined ? null : 1 - counted.crashedUsers / counted.users,
  }
}
