import type { Tx, Connection } from '../../platform/storage/database.ts'
import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import type { MonitorConfig } from '../../events/protocol/check-in.ts'
import type { Note } from '../../events/protocol/strings.ts'
import type { SentStatus } from '../../events/protocol/telemetry.api.ts'
import type { Run } from './check-in.ts'
import { type Selectable, sql, type Updateable } from 'kysely'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

/** SQL of recording check-ins: prepared statements that lock rows in a fixed order. */

type Named = { readonly projectId: string; readonly slug: string }

export const monitorKey = (projectId: string, slug: string): string => `${projectId}/${slug}`

/** Ids of monitors by {@link monitorKey}. Locks them, so that batches apply the runs of a monitor one after the other. */
export async function findMonitors(tx: Tx, monitors: readonly Named[]): Promise<Map<string, string>> {
  if (monitors.length === 0) return new Map()
  const { rows } = await tx.query<{ project_id: string; slug: string; id: string }>({
    name: 'check-ins-find-monitors',
    text: `select m.project_id, m.slug, m.id from unnest($1::uuid[], $2::text[]) k (project_id, slug)
           join monitors m on m.project_id = k.project_id and m.slug = k.slug
           order by m.id for no key update of m`,
    values: [monitors.map((one) => one.projectId), monitors.map((one) => one.slug)],
  })
  return new Map(rows.map((row) => [monitorKey(row.project_id, row.slug), row.id]))
}

/** Number of monitors by project id, counted up to `max`. */
export async function countMonitors(tx: Tx, projectIds: readonly string[], max: number): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ id: string; n: number }>({
    name: 'check-ins-count-monitors',
    text: `select k.id, (select count(*) from (select 1 from monitors m where m.project_id = k.id limit $2) counted) as n
           from unnest($1::uuid[]) k (id)`,
    values: [projectIds, max],
  })
  return new Map(rows.map((row) => [row.id, row.n]))
}

/** Creates monitors unless another process created them meanwhile. */
export async function insertMonitors(
  tx: Tx,
  now: Date,
  monitors: readonly (Named & { readonly id: string })[],
): Promise<void> {
  if (monitors.length === 0) return
  await tx.query({
    name: 'check-ins-insert-monitors',
    text: `insert into monitors (id, project_id, slug, created_at, updated_at, last_check_in_at)
           select k.id, k.project_id, k.slug, $4::timestamptz, $4::timestamptz, $4::timestamptz from unnest($1::uuid[], $2::uuid[], $3::text[]) k (id, project_id, slug)
           order by k.project_id, k.slug on conflict (project_id, slug) do nothing`,
    values: [
      monitors.map((one) => one.id),
      monitors.map((one) => one.projectId),
      monitors.map((one) => one.slug),
      now.toISOString(),
    ],
  })
}

type RunRow = {
  monitor_id: string
  id: string
  project_id: string
  status: SentStatus
  environment: string
  release: string | null
  trace_id: string | null
  duration_ms: number | null
  started_at: Date | null
  finished_at: Date | null
  received_at: Date
  updated_at: Date
  notes: readonly Note[] | null
}

const fromRow = (row: RunRow): Run => ({
  id: unhyphenate(row.id),
  monitorId: row.monitor_id,
  projectId: row.project_id,
  status: row.status,
  environment: row.environment,
  release: row.release,
  traceId: row.trace_id === null ? null : unhyphenate(row.trace_id),
  durationMs: row.duration_ms,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
  receivedAt: row.received_at,
  updatedAt: row.updated_at,
  notes: row.notes ?? [],
})

/** Reads and locks the runs with these ids. */
export async function lockRuns(tx: Tx, keys: readonly { monitorId: string; id: string }[]): Promise<Run[]> {
  if (keys.length === 0) return []
  const { rows } = await tx.query<RunRow>({
    name: 'check-ins-lock-runs',
    text: `select c.* from check_ins c
           join (select distinct * from unnest($1::uuid[], $2::uuid[]) k (monitor_id, id)) k
             on c.monitor_id = k.monitor_id and c.id = k.id
           order by c.monitor_id, c.id for update of c`,
    values: [keys.map((key) => key.monitorId), keys.map((key) => hyphenate(key.id))],
  })
  return rows.map(fromRow)
}

/** Reads and locks the newest open runs by monitor and environment, at most `max` of each. */
export async function lockOpenRuns(
  tx: Tx,
  keys: readonly { monitorId: string; environment: string; max: number }[],
): Promise<Run[]> {
  if (keys.length === 0) return []
  const { rows } = await tx.query<RunRow>({
    name: 'check-ins-lock-open',
    text: `select c.* from check_ins c
           join (
             select o.monitor_id, o.id from unnest($1::uuid[], $2::text[], $3::int[]) k (monitor_id, environment, max)
             cross join lateral (
               select i.monitor_id, i.id from check_ins i
               where i.monitor_id = k.monitor_id and i.environment = k.environment and i.status = 'in_progress'
               order by i.received_at desc limit k.max
             ) o
           ) newest on c.monitor_id = newest.monitor_id and c.id = newest.id
           order by c.monitor_id, c.id for update of c`,
    values: [keys.map((key) => key.monitorId), keys.map((key) => key.environment), keys.map((key) => key.max)],
  })
  return rows.map(fromRow)
}

/** Inserts or updates runs. */
export async function writeRuns(tx: Tx, runs: readonly Run[]): Promise<void> {
  if (runs.length === 0) return
  const of = <T>(pick: (run: Run) => T): T[] => runs.map(pick)
  await tx.query({
    name: 'check-ins-write-runs',
    text: `insert into check_ins (monitor_id, id, project_id, status, environment, release, trace_id, duration_ms, started_at, finished_at, received_at, updated_at, notes)
           select k.monitor_id, k.id, k.project_id, k.status, k.environment, k.release, k.trace_id, k.duration_ms, k.started_at, k.finished_at, k.received_at, k.updated_at, k.notes::jsonb
           from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::bigint[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::text[])
             k (monitor_id, id, project_id, status, environment, release, trace_id, duration_ms, started_at, finished_at, received_at, updated_at, notes)
           on conflict (monitor_id, id) do update set status = excluded.status, release = excluded.release, trace_id = excluded.trace_id, duration_ms = excluded.duration_ms,
             started_at = excluded.started_at, finished_at = excluded.finished_at, received_at = excluded.received_at, updated_at = excluded.updated_at, notes = excluded.notes`,
    values: [
      of((run) => run.monitorId),
      of((run) => hyphenate(run.id)),
      of((run) => run.projectId),
      of((run) => run.status),
      of((run) => run.environment),
      of((run) => run.release),
      of((run) => (run.traceId === null ? null : hyphenate(run.traceId))),
      of((run) => run.durationMs),
      of((run) => run.startedAt),
      of((run) => run.finishedAt),
      of((run) => run.receivedAt),
      of((run) => run.updatedAt),
      of((run) => (run.notes.length === 0 ? null : JSON.stringify(run.notes))),
    ],
  })
}

/** Sets the time of the last check-in of monitors. */
export async function touchMonitors(tx: Tx, seen: ReadonlyMap<string, Date>): Promise<void> {
  const rows = [...seen].sort(([a], [b]) => (a < b ? -1 : 1))
  if (rows.length === 0) return
  await tx.query({
    name: 'check-ins-touch-monitors',
    text: `update monitors m set last_check_in_at = greatest(m.last_check_in_at, k.at)
           from (select * from unnest($1::uuid[], $2::timestamptz[]) k (id, at) order by id) k where m.id = k.id`,
    values: [rows.map(([id]) => id), rows.map(([, at]) => at)],
  })
}

/** Replaces the configurations of monitors. Values that the new one leaves out become null. */
export async function configureMonitors(tx: Tx, now: Date, configs: ReadonlyMap<string, MonitorConfig>): Promise<void> {
  const rows = [...configs].sort(([a], [b]) => (a < b ? -1 : 1))
  if (rows.length === 0) return
  const of = <T>(pick: (config: MonitorConfig) => T): T[] => rows.map(([, config]) => pick(config))
  await tx.query({
    name: 'check-ins-configure-monitors',
    text: `update monitors m set schedule_type = k.type, schedule_value = k.value, schedule_unit = k.unit, timezone = k.timezone,
             checkin_margin_minutes = k.margin, max_runtime_minutes = k.runtime, failure_issue_threshold = k.failures, recovery_threshold = k.recoveries,
             owner = k.owner, updated_at = $11::timestamptz
           from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[], $8::int[], $9::int[], $10::text[])
             k (id, type, value, unit, timezone, margin, runtime, failures, recoveries, owner)
           where m.id = k.id and (m.schedule_type, m.schedule_value, m.schedule_unit, m.timezone, m.checkin_margin_minutes, m.max_runtime_minutes,
             m.failure_issue_threshold, m.recovery_threshold, m.owner) is distinct from (k.type, k.value, k.unit, k.timezone, k.margin, k.runtime, k.failures, k.recoveries, k.owner)`,
    values: [
      rows.map(([id]) => id),
      of((config) => config.schedule.type),
      of((config) => String(config.schedule.value)),
      of(({ schedule }) => (schedule.type === 'interval' ? schedule.unit : null)),
      of((config) => config.timezone),
      of((config) => config.checkinMarginMinutes),
      of((config) => config.maxRuntimeMinutes),
      of((config) => config.failureIssueThreshold),
      of((config) => config.recoveryThreshold),
      of((config) => config.owner),
      now.toISOString(),
    ],
  })
}

export const CHECK_IN_ROWS = ownRows('check_ins')
export const MONITOR_PARTS = [projectPart(2_000, [CHECK_IN_ROWS]), projectPart(2_000, [ownRows('monitors')])]

/** Deletes monitors without runs whose last check-in was before a day: their number is limited. */
export async function deleteIdleMonitors(on: Connection, projectId: string, day: string): Promise<void> {
  await sql`
    delete from monitors m where m.project_id = ${projectId} and m.last_check_in_at < ${`${day}T00:00:00Z`}::timestamptz
      and not exists (select from check_ins c where c.monitor_id = m.id)`.execute(on)
}

// Changes of members

export type LockedMonitor = Selectable<Tables['monitors']>

export const lockMonitor = (tx: Tx, orgId: string, id: string): Promise<LockedMonitor | undefined> =>
  tx
    .selectFrom('monitors as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .selectAll('m')
    .where('p.org_id', '=', orgId)
    .where('m.id', '=', id)
    .forUpdate('m')
    .executeTakeFirst()

export async function changeMonitorRow(tx: Tx, id: string, change: Updateable<Tables['monitors']>): Promise<void> {
  await tx.updateTable('monitors').set(change).where('id', '=', id).execute()
}

/** Its runs go with it. */
export async function deleteMonitorRow(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('monitors').where('id', '=', id).execute()
}
