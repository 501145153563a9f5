import { CANARY_ORG_ID, CANARY_PROJECT_NUMBER } from '../../platform/kernel/ids.ts'
import { dayPlus } from '../../platform/kernel/day.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** SQL of the status of an installation. Reads what other rooms write, of all organisations together. */

export type MinuteSum = { readonly minute: Date; readonly events: number }

/** Events of all projects by minute since a time. */
export async function sumMinutes(on: Connection, since: Date): Promise<MinuteSum[]> {
  const { rows } = await on.query<MinuteSum>(
    `select m.minute, sum(m.events)::float8 as events from project_minutes m join projects p on p.id = m.project_id
     where m.minute >= $1 and p.number <> ${CANARY_PROJECT_NUMBER} group by m.minute order by m.minute`,
    [since],
  )
  return rows
}

/** Items that were lost since a time. */
export async function sumDropped(on: Connection, since: Date): Promise<number> {
  const { rows } = await on.query<{ n: number }>(
    // Project by project, as the index goes.
    `select coalesce(sum(o.n), 0)::float8 as n from projects p cross join lateral (
       select sum(quantity) as n from outcomes_hourly
       where project_id = p.id and hour >= $1 and outcome = 'dropped' and category <> 'internal') o
     where p.number <> ${CANARY_PROJECT_NUMBER}`,
    [since],
  )
  return rows[0]?.n ?? 0
}

/** Deliveries that wait, counted up to a bound. */
export async function countDeliveries(on: Connection, max: number): Promise<number> {
  const { rows } = await on.query<{ n: number }>(
    `select count(*)::int as n from (select from outbox_deliveries d join outbox_lanes l on l.id = d.lane_id
     where d.next_attempt_at is not null and l.org_id <> '${CANARY_ORG_ID}' limit $1) w`,
    [max],
  )
  return rows[0]?.n ?? 0
}

/** Jobs that are due, counted up to a bound. */
export async function countJobs(on: Connection, max: number): Promise<number> {
  const { rows } = await on.query<{ n: number }>(
    `select count(*)::int as n from (select from graphile_worker.jobs
     where locked_at is null and attempts < max_attempts and run_at <= now() limit $1) w`,
    [max],
  )
  return rows[0]?.n ?? 0
}

/** When tasks with a schedule were last started, by their names. */
export async function lastRuns(on: Connection): Promise<ReadonlyMap<string, Date | null>> {
  const { rows } = await on.query<{ name: string; at: Date | null }>(
    'select identifier as name, last_execution as at from graphile_worker._private_known_crontabs order by identifier',
  )
  return new Map(rows.map(({ name, at }) => [name, at]))
}

/** Bytes that each of some days stores in tables split by day; without days of which nothing is stored. */
export async function bytesOfDays(on: Connection, firstDay: string, days: number): Promise<number[]> {
  const names = Array.from({ length: days }, (_, place) => dayPlus(firstDay, place).replaceAll('-', ''))
  const { rows } = await on.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(c.oid))::float8 as bytes from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where right(c.relname, 8) = any($1) and c.relname ~ '_[0-9]{8}$' group by right(c.relname, 8)`,
    [names],
  )
  return rows.map(({ bytes }) => bytes)
}
