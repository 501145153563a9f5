import type { App } from '../../platform/context/app.ts'
import type { ReleaseRow } from '../../projects/releases/releases.queries.ts'
import { floorToBucket } from '../../telemetry/app-health/buckets.ts'
import { sessionsByRelease, type SessionsQuery } from './sessions-of-releases.ts'
import { computeCrashFreeRate } from './verdict.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** The chart compares releases at equal age, in the time in which a rollout can still be held. */
const HOURS = 48

type CrashFreeHour = { hour: number; sessions: number; crash_free_sessions: number | null }

/**
 * Crash-free sessions per hour since the date of a release, up to now. Each hour counts all sessions so far, because
 * single hours of a new release have too few.
 */
export async function crashFreeHours(
  app: App,
  { project_id: projectId, version, dated_at: datedAt }: ReleaseRow,
  { environment, unhandledIsCrash }: Pick<SessionsQuery, 'environment' | 'unhandledIsCrash'>,
): Promise<CrashFreeHour[]> {
  const start = floorToBucket(datedAt.getTime(), HOUR_MS)
  const end = Math.min(start + HOURS * HOUR_MS, app.clock.now().getTime())
  if (end <= start) return []
  const buckets = await sessionsByRelease(
    app.db,
    { projectId, environment, unhandledIsCrash, bucketSeconds: 3_600, from: new Date(start), to: new Date(end) },
    [version],
  )
  const byHour = new Map(buckets.map((bucket) => [bucket.bucket.getTime(), bucket]))
  const hours: CrashFreeHour[] = []
  let [sessions, crashed] = [0, 0]
  for (let at = start, hour = 0; at < end; at += HOUR_MS, hour++) {
    sessions += byHour.get(at)?.sessions ?? 0
    crashed += byHour.get(at)?.crashed ?? 0
    hours.push({
      hour,
      sessions,
      crash_free_sessions: sessions <= 0 ? null : computeCrashFreeRate({ sessions, crashed }),
    })
  }
  return hours
}
