import type { App } from '../../platform/context/app.ts'
import { floorToBucket } from '../../telemetry/app-health/buckets.ts'
import type { ReleaseRow } from '../../projects/releases/releases.queries.ts'
import type { Comparison } from './release-health.api.ts'
import {
  sessionsOfReleases,
  usersOfReleases,
  type SessionCount,
  type SessionsQuery,
  type UserCount,
} from './sessions-of-releases.ts'
import { computeCrashFreeRate } from './verdict.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** After a week a rollout is decided, and later sessions are of other users. */
const MAX_HOURS = 7 * 24

export type Dated = Pick<ReleaseRow, 'version' | 'dated_at'>

/** A release and the one before it. */
export type Pair = { readonly release: Dated; readonly previous: Dated }

/**
 * Releases and the ones before them, each from its date on and equally long as its pair: a release is not compared with one
 * that had weeks to reach its users. In the given order; null within the first hour.
 */
export async function compareAtAge(
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
