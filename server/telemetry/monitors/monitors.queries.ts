import { sql } from 'kysely'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { JudgedOf } from './judge-runs.ts'

/** SQL of reading monitors. */

const COLUMNS = [
  'm.id',
  'm.project_id',
  'm.slug',
  'm.state',
  'm.state_at',
  'm.schedule_type',
  'm.schedule_value',
  'm.schedule_unit',
  'm.timezone',
  'm.checkin_margin_minutes',
  'm.max_runtime_minutes',
  'm.failure_issue_threshold',
  'm.recovery_threshold',
  'm.owner',
  'm.created_at',
  'm.updated_at',
  'm.last_check_in_at',
] as const

const ofOrg = (db: Connection, orgId: string, projectId: string | null) => {
  const query = db
    .selectFrom('monitors as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .where('p.org_id', '=', orgId)
  return projectId === null ? query : query.where('m.project_id', '=', projectId)
}

export type MonitorRow = Awaited<ReturnType<typeof selectMonitors>>[number]

export const selectMonitors = (
  db: Connection,
  { orgId, projectId }: { readonly orgId: string; readonly projectId: string | null },
  { limit, offset }: { readonly limit: number; readonly offset: number },
) => ofOrg(db, orgId, projectId).select(COLUMNS).orderBy('m.slug').orderBy('m.id').limit(limit).offset(offset).execute()

export async function countListed(db: Connection, orgId: string, projectId: string | null): Promise<number> {
  const { n } = await ofOrg(db, orgId, projectId)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return n
}

export const selectMonitor = (db: Connection, orgId: string, id: string): Promise<MonitorRow | undefined> =>
  ofOrg(db, orgId, null).select(COLUMNS).where('m.id', '=', id).executeTakeFirst()

export const selectActiveMonitors = (db: Connection, projectId: string): Promise<MonitorRow[]> =>
  db
    .selectFrom('monitors as m')
    .select(COLUMNS)
    .where('m.project_id', '=', projectId)
    .where('m.state', '=', 'active')
    .orderBy('m.slug')
    .execute()

/** Clients choose the names of environments: further ones of a monitor are not shown. */
const MAX_ENVIRONMENTS = 20

export type OwnRuns = { readonly monitorId: string; readonly environment: string; readonly runs: JudgedOf[] }

/**
 * The newest runs of each monitor in each of its environments, which are found by steps through an index.
 * @param monitors each with the maximum of runs of one environment
 */
export async function selectNewestRuns(
  db: Connection,
  monitors: readonly { readonly id: string; readonly max: number }[],
): Promise<OwnRuns[]> {
  if (monitors.length === 0) return []
  const { rows } = await sql<Omit<JudgedOf, 'id'> & { id: string; monitorId: string; environment: string }>`
    with recursive environments (monitor_id, max, environment, n) as (
      select k.id, k.max, (select min(c.environment) from check_ins c where c.monitor_id = k.id), 1
      from unnest(${monitors.map(({ id }) => id)}::uuid[], ${monitors.map(({ max }) => max)}::int[]) k (id, max)
      union all
      select e.monitor_id, e.max,
        (select min(c.environment) from check_ins c where c.monitor_id = e.monitor_id and c.environment > e.environment),
        e.n + 1
      from environments e where e.environment is not null and e.n < ${MAX_ENVIRONMENTS}
    )
    select e.monitor_id as "monitorId", e.environment, r.id, r.status, r.release, r.trace_id as "traceId",
      r.duration_ms as "durationMs", r.started_at as "startedAt", r.finished_at as "finishedAt", r.received_at as "receivedAt"
    from environments e cross join lateral (
      select c.* from check_ins c where c.monitor_id = e.monitor_id and c.environment = e.environment
      order by c.received_at desc limit e.max
    ) r
    where e.environment is not null
    order by e.monitor_id, e.environment, r.received_at desc`.execute(db)
  const found = new Map<string, OwnRuns>()
  for (const { monitorId, environment, ...run } of rows) {
    const key = `${monitorId}/${environment}`
    const own = found.get(key) ?? { monitorId, environment, runs: [] }
    found.set(key, own)
    const traceId = run.traceId === null ? null : unhyphenate(run.traceId)
    own.runs.push({ ...run, id: unhyphenate(run.id), traceId })
  }
  return [...found.values()]
}
