import type { BucketSeconds } from '../../telemetry/app-health/buckets.ts'
import { noCounts, type Counts, type Dimension } from '../../telemetry/app-health/dimensions.ts'
import type { HealthFilter, HealthQuery } from '../../telemetry/app-health/health-query.ts'
import {
  readHealthBy,
  readHealthCounts,
  readHealthSeries,
  readHealthSeriesBy,
  readHealthUsersOfRanges,
  readHealthValues,
} from '../../telemetry/app-health/read-health.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** Sessions by release. */

export type SessionsQuery = {
  readonly projectId: string
  /** Rounded down to a whole bucket. */
  readonly from: Date
  /** Excluded. */
  readonly to: Date
  readonly bucketSeconds: BucketSeconds
  readonly environment?: string | undefined
  /** The project counts a session with an unhandled error as crashed. */
  readonly unhandledIsCrash: boolean
}

export type SessionCount = { readonly sessions: number; readonly crashed: number }

/** Sessions that started in a bucket. `release` is null for sessions whose release is not counted separately. */
export type ReleaseBucket = SessionCount & { readonly release: string | null; readonly bucket: Date }

const countOf = (of: Readonly<Counts>, { unhandledIsCrash }: SessionsQuery): SessionCount => ({
  sessions: of.total,
  crashed: of.crashed + (unhandledIsCrash ? of.unhandled : 0),
})

function healthQuery({ projectId, from, to, environment }: SessionsQuery, filter: HealthFilter = {}): HealthQuery {
  const inEnvironment = environment === undefined ? filter : { ...filter, environment: [environment] }
  const counts = ['total', 'crashed', 'unhandled'] as const
  return { projectIds: [projectId], source: 'sessions', from, to, now: to, filter: inEnvironment, counts }
}

export async function sessionsByRelease(
  db: Connection,
  query: SessionsQuery,
  versions: readonly string[],
): Promise<ReleaseBucket[]> {
  const filter = { release: versions }
  const rows = await readHealthSeriesBy(db, healthQuery(query, filter), 'release', query.bucketSeconds, [])
  return rows.map(({ name, t, ...counts }) => ({ release: name, bucket: t, ...countOf(counts, query) }))
}

/** More releases with sessions are counted together. */
const MAX_RELEASES = 10_000

/** Sessions of a range by release, and of all. */
export async function sumsByRelease(
  db: Connection,
  query: SessionsQuery,
): Promise<{ readonly byRelease: ReadonlyMap<string, SessionCount>; readonly total: number }> {
  const found = await readHealthBy(db, healthQuery(query), 'release', { max: MAX_RELEASES, sets: [] })
  const all = [...found.rows, found.unknown, found.other]
  return {
    byRelease: new Map(found.rows.map(({ name, ...counts }) => [name, countOf(counts, query)])),
    total: all.reduce((sum, { total }) => sum + total, 0),
  }
}

type ReleaseSeries = {
  readonly byRelease: ReadonlyMap<string | null, readonly ReleaseBucket[]>
  /** Sessions of all releases by start of the bucket, without empty ones. */
  readonly totals: ReadonlyMap<number, number>
}

/** Sessions of some releases by bucket, beside those of all. */
export async function seriesOfReleases(
  db: Connection,
  query: SessionsQuery,
  versions: readonly string[],
): Promise<ReleaseSeries> {
  const [buckets, all] = await Promise.all([
    versions.length === 0 ? [] : sessionsByRelease(db, query, versions),
    readHealthSeries(db, healthQuery(query), query.bucketSeconds, []),
  ])
  return {
    byRelease: Map.groupBy(buckets, ({ release }) => release),
    totals: new Map(all.flatMap(({ t, total }) => (total === 0 ? [] : [[t.getTime(), total] as const]))),
  }
}

/** Sessions of releases, each in its own range, and of all releases in the same range; in the given order. */
export async function sessionsOfReleases(
  db: Connection,
  wanted: readonly { readonly query: SessionsQuery; readonly version: string }[],
): Promise<{ readonly own: SessionCount; readonly all: SessionCount }[]> {
  const found = await readHealthCounts(
    db,
    wanted.flatMap(({ query, version }) => [healthQuery(query, { release: [version] }), healthQuery(query)]),
  )
  return wanted.map(({ query }, index) => ({
    own: countOf(found[index * 2] ?? noCounts(), query),
    all: countOf(found[index * 2 + 1] ?? noCounts(), query),
  }))
}

/** Traits by which sessions are counted, beside release and environment. */
export type SessionTrait = Extract<Dimension, 'device' | 'os'>
type TraitCount = SessionCount & { readonly name: string | null }

/** Sessions of a release by device or operating system, largest first; null for sessions without it. */
export async function sessionsByTrait(
  db: Connection,
  query: SessionsQuery,
  release: string,
  trait: SessionTrait,
  max: number,
): Promise<TraitCount[]> {
  const { rows, unknown } = await readHealthBy(db, healthQuery(query, { release: [release] }), trait, { max, sets: [] })
  return [...rows, ...(unknown.total > 0 ? [{ ...unknown, name: null }] : [])]
    .map(({ name, ...counts }) => ({ name, ...countOf(counts, query) }))
    .sort((a, b) => b.sessions - a.sessions)
    .slice(0, max)
}

export type UserCount = { readonly users: number; readonly crashedUsers: number }

/** Releases, or null for all sessions of the project together, in a range. */
type UsersWanted = { readonly query: SessionsQuery; readonly versions: readonly string[] | null }

/**
 * Distinct users by release, in the given order; of all together under an empty version. Leaves out releases whose sessions
 * name no user.
 */
export async function usersOfReleases(
  db: Connection,
  wanted: readonly UsersWanted[],
): Promise<ReadonlyMap<string, UserCount>[]> {
  const [first] = wanted
  const crashedUsers = first?.query.unhandledIsCrash === true ? 'crash_affected_users' : 'crashed_users'
  const found = await readHealthUsersOfRanges(
    db,
    wanted.map(({ query, versions }) => ({ query: healthQuery(query), names: versions })),
    'release',
    ['users', crashedUsers],
  )
  return found.map(
    (of) =>
      new Map(
        [...of]
          .filter(([, { users }]) => users > 0)
          .map(([name, counts]) => [name, { users: counts.users, crashedUsers: counts[crashedUsers] }]),
      ),
  )
}

const MAX_ENVIRONMENTS = 50

/** Environments of sessions since a time, of a project or one of its releases, by name. */
export function readSessionEnvironments(
  db: Connection,
  projectId: string,
  since: Date,
  release?: string,
): Promise<string[]> {
  const filter = release === undefined ? {} : { release: [release] }
  return readHealthValues(db, projectId, 'environment', since, { filter, max: MAX_ENVIRONMENTS })
}
