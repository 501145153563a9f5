import { sql } from 'kysely'
import { utcDay } from '../../platform/kernel/day.ts'
import type { Metric } from '../../events/protocol/span-values.ts'
import type { DDSketch } from '../sketch/ddsketch.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { merged, type PerformanceFilter, type Scope, slotIn, union } from './read.queries.ts'
import { metricAt } from './record.queries.ts'

/** Measurements of many projects at once, each for itself: one statement, however many there are. */

/** The measurements to read for each project. */
export type ProjectsScope = Omit<Scope, 'filter'> & {
  /** Length of the intervals to tell apart; null for the whole range. */
  readonly intervalMs: number | null
}

export type MeasuredOfProject = {
  readonly projectId: string
  /** Empty where all names count together. */
  readonly name: string
  readonly metric: Metric
  /** Number of the interval after `from`; 0 without intervals. */
  readonly slot: number
  readonly failures: number
  readonly sketch: DDSketch
}

/** Reads the measurements of all names together. */
export const readOfProjects = (db: Connection, scope: ProjectsScope): Promise<MeasuredOfProject[]> =>
  read(db, scope, {}, false)

/** Reads the measurements of these names, each for itself. */
export async function readOfNames(
  db: Connection,
  scope: ProjectsScope,
  names: NonNullable<PerformanceFilter['projectNames']>,
): Promise<MeasuredOfProject[]> {
  return names.length === 0 ? [] : read(db, scope, { projectNames: names }, true)
}

async function read(
  db: Connection,
  scope: ProjectsScope,
  filter: PerformanceFilter,
  withNames: boolean,
): Promise<MeasuredOfProject[]> {
  if (scope.projectIds.length === 0 || scope.metrics.length === 0) return []
  const { intervalMs } = scope
  const rows = await union(db, { ...scope, filter }, withNames ? 1 : 2, [scope])
    .select([
      'project_id',
      (withNames ? sql<string>`name` : sql<string>`''`).as('group_name'),
      'metric',
      slotIn(scope, intervalMs).as('slot'),
      sql<number>`sum(count::float8)`.as('count'),
      (eb) => eb.fn.sum<number>('failures').as('failures'),
      sql<Buffer>`string_agg(int4send(length(sketch)) || sketch, ''::bytea)`.as('sketches'),
    ])
    .groupBy([sql`1`, sql`2`, sql`3`, sql`4`])
    .execute()
  return rows.map((row) => ({
    projectId: row.project_id,
    name: row.group_name,
    metric: metricAt(row.metric),
    slot: row.slot,
    failures: Number(row.failures),
    sketch: merged(row.sketches, row.count),
  }))
}

/** Names of the projects that received something since a time. */
export async function namesSince(
  db: Connection,
  projectIds: readonly string[],
  since: Date,
): Promise<{ projectId: string; name: string }[]> {
  const { rows } = await db.query<{ project_id: string; name: string }>({
    name: 'performance-names-since',
    // Unfolded measurements have series of grain 0 only.
    text: `select distinct project_id, name from performance_series
           where project_id = any($1::uuid[]) and grain in (0, 1) and last_day >= $2::date and name <> ''`,
    values: [projectIds, utcDay(since)],
  })
  return rows.map(({ project_id: projectId, name }) => ({ projectId, name }))
}

/** Devices whose battery drained, by project and hour. */
export async function drainedDevices(
  db: Connection,
  projectIds: readonly string[],
  from: Date,
  to: Date,
): Promise<{ projectId: string; hour: Date; devices: readonly number[] }[]> {
  const { rows } = await db.query<{ project_id: string; hour: Date; devices: number[] }>({
    name: 'performance-drained-devices',
    text: `select project_id, hour, array_agg(device_key) as devices from battery_hours
           where project_id = any($1::uuid[]) and hour >= $2 and hour < $3 group by 1, 2`,
    values: [projectIds, from, to],
  })
  return rows.map(({ project_id: projectId, ...row }) => ({ projectId, ...row }))
}

/** How many distinct devices drained in the hours of a range. */
export async function countDrainedDevices(
  db: Connection,
  projectIds: readonly string[],
  from: Date,
  to: Date,
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ project_id: string; devices: number }>({
    name: 'performance-count-drained-devices',
    text: `select project_id, count(distinct device_key)::int as devices from battery_hours
           where project_id = any($1::uuid[]) and hour >= date_trunc('hour', $2::timestamptz) and hour < $3 group by 1`,
    values: [projectIds, from, to],
  })
  return new Map(rows.map(({ project_id, devices }) => [project_id, devices]))
}
