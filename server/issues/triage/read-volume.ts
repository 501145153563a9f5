import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import {
  type ChartWindow,
  windowSlots,
  viewWindow,
  parseChartWindow,
  windowOfRange,
  type WindowInput,
  SLOT_MS,
  knowsUsers,
} from '../rules/count-window.ts'
import { selectIdsOfProjects } from '../../projects/registry/projects.queries.ts'
import { readHealthUsers } from '../../telemetry/app-health/read-health.ts'
import { countUsersOfProjects, type ListInput, sumIssues } from '../search/list-issues.ts'
import { selectVolume } from './volume.queries.ts'

const FILTERS = ['status', 'severity', 'platform', 'assignee_id'] as const

/** Query parameters, as the contract parses them. */
type VolumeInput = WindowInput & Pick<ListInput, (typeof FILTERS)[number] | 'projectId' | 'q'>

/**
 * Error events in equal buckets, including empty ones, the distinct users that they affected, and the total of the time
 * before. The sum of the list's counts of events under the same filters is the total.
 * @throws AppError invalid for a time or a query
 */
export async function readVolume(app: App, actor: OrgActor, input: VolumeInput) {
  const now = app.clock.now()
  const { range, from, to, ...filters } = input
  const isDefault = range === undefined && from === undefined && to === undefined
  const window = parseChartWindow(input, now) ?? windowOfRange('24h', now)
  const isFiltered = (filters.q ?? '').trim() !== '' || FILTERS.some((name) => filters[name] !== undefined)
  const matching = isFiltered ? await ofIssues(app, actor, filters, window) : null
  const { rows, bucketMs, users } = matching ?? (await ofProjects(app, actor, filters.projectId, window, isFiltered))
  const byBucket = new Map(rows.map((row) => [row.bucket, row]))
  const points = Array.from({ length: Math.ceil((window.to - window.from) / bucketMs) }, (_, index) => ({
    t: new Date(window.from + index * bucketMs).toISOString(),
    events: byBucket.get(index)?.events ?? 0,
    fatal: byBucket.get(index)?.fatal ?? 0,
  }))
  const total = points.reduce((sum, { events }) => sum + events, 0)
  return {
    range: isDefault ? '24h' : (range ?? null),
    ...viewWindow(window),
    interval_seconds: bucketMs / 1000,
    points,
    total,
    previous_total: byBucket.get(-1)?.events ?? 0,
    users: users === 0 && total > 0 ? null : users,
    counts: matching === null ? ('projects' as const) : ('matching' as const),
  }
}

/** Events of the issues that match filters, which are counted by quarters of an hour; null if too many match. */
async function ofIssues(app: App, actor: OrgActor, filters: Omit<VolumeInput, keyof WindowInput>, window: ChartWindow) {
  const bucketMs = Math.max(window.intervalMs, SLOT_MS)
  const previousFrom = window.from - Math.round((window.to - window.from) / SLOT_MS) * SLOT_MS
  const sums = await sumIssues(app, actor, filters, window, { previousFrom, bucketMs })
  return sums === null ? null : { rows: sums.events, bucketMs, users: sums.users }
}

/**
 * All events of projects, which are counted by minutes. Their users are those of the issues, or of many issues those that
 * the sketches of events estimate.
 */
async function ofProjects(
  app: App,
  actor: OrgActor,
  projectId: readonly string[] | undefined,
  window: ChartWindow,
  isFiltered: boolean,
) {
  const { from, to, intervalMs } = window
  const [rows, users] = await Promise.all([
    selectVolume(app.db, actor.orgId, projectId, {
      previousFrom: 2 * from - to,
      from,
      // An event of the current quarter may be in the next minute: the list counts it.
      to: windowSlots(window).to * SLOT_MS,
      bucketMs: intervalMs,
      buckets: Math.ceil((to - from) / intervalMs),
    }),
    isFiltered ? null : countUsersOfProjects(app, actor, projectId, window),
  ])
  return { rows, bucketMs: intervalMs, users: users ?? (await usersOfProjects(app, actor, projectId, window)) }
}

/** Distinct users of all events of projects; null when they are not known any more. */
async function usersOfProjects(
  app: App,
  actor: OrgActor,
  projectId: readonly string[] | undefined,
  window: ChartWindow,
): Promise<number | null> {
  const now = app.clock.now()
  if (!knowsUsers(window, now)) return null
  const projectIds = await selectIdsOfProjects(app.db, actor.orgId, projectId)
  const [from, to] = [new Date(window.from), new Date(windowSlots(window).to * SLOT_MS)]
  const query = { projectIds, source: 'events', from, to, now, filter: {} } as const
  return (await readHealthUsers(app.db, query, ['users'])).users
}
