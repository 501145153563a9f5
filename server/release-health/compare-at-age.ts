import type { App } from '../context/app.ts'
import { startOf } from '../app-health/buckets.ts'
import type { ReleaseRow } from '../releases/releases.queries.ts'
import type { Comparison } from './release-health.api.ts'
import {
  sessionsOfReleases,
  usersByRelease,
  type SessionCount,
  type SessionsQuery,
  type UserCount,
} from './sessions-of-releases.ts'
import { crashFreeOf } from './verdict.ts'

const HOUR_MS = 3_600_000
/** After a week a rollout is decided, and later sessions are of other users. */
const MAX_HOURS = 7 * 24

export type Dated = Pick<ReleaseRow, 'version' | 'dated_at'>

/**
 * A release and the one before it, each from its date on and equally long: a release is not compared with one that had
 * weeks to reach its users. Null within the first hour.
 */
export async function compareAtAge(
  app: App,
  release: Dated,
  previous: Dated,
  about: Pick<SessionsQuery, 'projectId' | 'environment' | 'unhandledIsCrash'>,
): Promise<Comparison | null> {
  const ageMs = app.clock.now().getTime() - startOf(release.dated_at.getTime(), HOUR_MS)
  const hours = Math.min(MAX_HOURS, Math.floor(ageMs / HOUR_MS))
  if (hours < 1) return null
  const rangeOf = ({ version, dated_at: datedAt }: Dated) => {
    const from = startOf(datedAt.getTime(), HOUR_MS)
    const to = new Date(from + hours * HOUR_MS)
    return { version, query: { ...about, bucketSeconds: 3_600 as const, from: new Date(from), to } }
  }
  const [now, before] = [rangeOf(release), rangeOf(previous)]
  const [[own, other], users, otherUsers] = await Promise.all([
    sessionsOfReleases(app.db, [now, before]),
    usersByRelease(app.db, now.query, [now.version]),
    usersByRelease(app.db, before.query, [before.version]),
  ])
  return {
    age_hours: hours,
    release: figuresOf(now.version, own, users),
    previous: figuresOf(before.version, other, otherUsers),
  }
}

const NO_SESSIONS = { own: { sessions: 0, crashed: 0 }, all: { sessions: 0, crashed: 0 } }

function figuresOf(
  version: string,
  { own, all }: { readonly own: SessionCount; readonly all: SessionCount } = NO_SESSIONS,
  users: ReadonlyMap<string, UserCount>,
): Comparison['release'] {
  const counted = users.get(version)
  return {
    version,
    sessions: own.sessions,
    crashed: own.crashed,
    adoption: all.sessions <= 0 ? null : own.sessions / all.sessions,
    users: counted?.users ?? null,
    crash_free_sessions: own.sessions <= 0 ? null : crashFreeOf(own),
    crash_free_users: counted === undefined ? null : 1 - counted.crashedUsers / counted.users,
  }
}
