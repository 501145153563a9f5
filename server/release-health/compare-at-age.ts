import type { App } from '../context/app.ts'
import { startOf } from '../app-health/buckets.ts'
import type { ReleaseRow } from '../releases/releases.queries.ts'
import type { Comparison } from './release-health.api.ts'
import { sessionsOfRelease, usersByRelease, type SessionsQuery } from './sessions-of-releases.ts'
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
  const atAge = async ({ version, dated_at: datedAt }: Dated) => {
    const from = startOf(datedAt.getTime(), HOUR_MS)
    const query: SessionsQuery = {
      ...about,
      bucketSeconds: 3_600,
      from: new Date(from),
      to: new Date(from + hours * HOUR_MS),
    }
    const [{ own, all }, users] = await Promise.all([
      sessionsOfRelease(app.db, query, version),
      usersByRelease(app.db, query, [version]),
    ])
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
  const [own, other] = await Promise.all([atAge(release), atAge(previous)])
  return { age_hours: hours, release: own, previous: other }
}
