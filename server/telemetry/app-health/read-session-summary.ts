import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { selectIdsOfProjects } from '../../projects/registry/projects.queries.ts'
import { floorToBucket } from './buckets.ts'
import { readHealthTotals } from './read-health.ts'
import { MINUTE_MS, DAY_MS } from '../../platform/kernel/day.ts'

/** Length and bucket size of the ranges, the same for every chart. */
const RANGES = {
  '1h': { lengthMs: DAY_MS / 24, stepMs: MINUTE_MS },
  '24h': { lengthMs: DAY_MS, stepMs: 15 * MINUTE_MS },
  '7d': { lengthMs: 7 * DAY_MS, stepMs: 60 * MINUTE_MS },
  '30d': { lengthMs: 30 * DAY_MS, stepMs: 6 * 60 * MINUTE_MS },
} as const

type Summary = { total: number; crash_free_sessions: number | null; crashed_users: number | null }

/** Crash-free sessions and users affected by a crash, of a range and of the previous one. */
export async function readSessionSummary(
  app: App,
  actor: OrgActor,
  range: keyof typeof RANGES,
  projectIds: readonly string[] | undefined,
): Promise<Summary & { range: string; previous: Summary }> {
  const { lengthMs, stepMs } = RANGES[range]
  // The newest bucket is incomplete and ends in the future.
  const end = floorToBucket(app.clock.now().getTime(), stepMs) + stepMs
  const projects = await selectIdsOfProjects(app.db, actor.orgId, projectIds)
  const [now, previous] = await Promise.all([
    summarise(app, projects, end - lengthMs, end),
    summarise(app, projects, end - 2 * lengthMs, end - lengthMs),
  ])
  return { range, ...now, previous }
}

async function summarise(app: App, projectIds: readonly string[], from: number, to: number): Promise<Summary> {
  const query = {
    projectIds,
    source: 'sessions',
    from: new Date(from),
    to: new Date(to),
    now: app.clock.now(),
  } as const
  const { total, crashed, users, crashed_users } = await readHealthTotals(app.db, { ...query, filter: {} }, [
    'users',
    'crashed_users',
  ])
  return {
    total,
    crash_free_sessions: total <= 0 ? null : 1 - crashed / total,
    crashed_users: users === 0 ? null : crashed_users,
  }
}
