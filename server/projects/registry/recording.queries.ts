import { sql } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/** Writes of intake and digestion to projects and their keys. */

export type SeenKey = { readonly keyId: string; readonly projectId: string; readonly at: Date }

/** Stores when keys were last used, and the first request of their projects. */
export async function updateSeen(db: Connection, seen: readonly SeenKey[]): Promise<void> {
  const keyIds = seen.map((one) => one.keyId)
  const projectIds = seen.map((one) => one.projectId)
  const times = seen.map((one) => one.at.toISOString())
  await sql`
    with seen as (
      select * from unnest(${keyIds}::uuid[], ${projectIds}::uuid[], ${times}::timestamptz[]) as given(key_id, project_id, at)
    ), keys as (
      update project_keys set last_seen_at = seen.at from seen
      where project_keys.id = seen.key_id and (last_seen_at is null or last_seen_at < seen.at)
    )
    update projects set first_request_at = first.at
    from (select project_id, min(at) as at from seen group by project_id) as first
    where projects.id = first.project_id and first_request_at is null
  `.execute(db)
}

export type KeyRefusalOf = { readonly number: number; readonly reason: string; readonly at: Date }

/** Stores the last refusals of projects, by their numbers; unknown numbers are ignored. */
export async function writeRefusals(db: Connection, refusals: readonly KeyRefusalOf[]): Promise<void> {
  const numbers = refusals.map((one) => one.number)
  const reasons = refusals.map((one) => one.reason)
  const times = refusals.map((one) => one.at.toISOString())
  await sql`
    with given as (
      select p.id, k.reason, k.at
      from unnest(${numbers}::int[], ${reasons}::text[], ${times}::timestamptz[]) k (number, reason, at)
      join projects p on p.number = k.number order by p.id for no key update of p
    )
    update projects set key_refused_at = given.at, key_refused_reason = given.reason
    from given where projects.id = given.id`.execute(db)
}

/** The newest number of a short id, and the issues created in the hour and UTC day of the newest one. */
export type IssueNumbers = {
  readonly id: string
  readonly number: number
  readonly hour: Date | null
  readonly inHour: number
  readonly inDay: number
}

/** Locks the counters of new issues of projects, in the order of their ids. */
export async function lockIssueNumbers(tx: Tx, projectIds: readonly string[]): Promise<IssueNumbers[]> {
  const { rows } = await tx.query<IssueNumbers>({
    name: 'record-lock-numbers',
    text: `select id, issue_number as number, new_issues_hour as hour, new_issues_in_hour as "inHour", new_issues_in_day as "inDay"
           from projects where id = any($1::uuid[]) order by id for no key update`,
    values: [projectIds],
  })
  return rows
}

export async function writeIssueNumbers(tx: Tx, rows: readonly IssueNumbers[]): Promise<void> {
  await tx.query({
    name: 'record-write-numbers',
    text: `update projects p set issue_number = k.number, new_issues_hour = k.hour, new_issues_in_hour = k.in_hour, new_issues_in_day = k.in_day
           from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::int[], $5::int[]) k (id, number, hour, in_hour, in_day)
           where p.id = k.id`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.number),
      rows.map((row) => row.hour),
      rows.map((row) => row.inHour),
      rows.map((row) => row.inDay),
    ],
  })
}

/** Adds to the events per minute of projects, except deleted ones. */
export async function addMinutes(
  tx: Tx,
  rows: readonly { id: string; at: number; events: number; fatal: number }[],
): Promise<void> {
  await tx.query({
    name: 'record-add-minutes',
    text: `insert into project_minutes (project_id, minute, events, fatal)
           select k.* from unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::int[]) k (project_id, minute, events, fatal)
           where not exists (select from project_ids d where d.id = k.project_id and d.deleted_at is not null)
           on conflict (project_id, minute) do update set events = project_minutes.events + excluded.events, fatal = project_minutes.fatal + excluded.fatal`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => new Date(row.at)),
      rows.map((row) => row.events),
      rows.map((row) => row.fatal),
    ],
  })
}

/** Stores the times of the first request, and of the first and last event of projects. */
export async function touchProjects(tx: Tx, rows: readonly { id: string; at: Date }[]): Promise<void> {
  await tx.query({
    name: 'record-touch-projects',
    text: `update projects p set first_request_at = coalesce(p.first_request_at, k.at), first_event_at = coalesce(p.first_event_at, k.at), last_event_at = greatest(p.last_event_at, k.at)
           from (select * from unnest($1::uuid[], $2::timestamptz[]) k (id, at) order by id) k where p.id = k.id`,
    values: [rows.map((row) => row.id), rows.map((row) => row.at)],
  })
}

/** Returns the columns of a project that digestion needs; undefined if it was deleted. */
export const selectProjectForDigestion = (on: Connection, projectId: string) =>
  on
    .selectFrom('projects')
    .select(['id', 'org_id', 'settings', 'scrub_key_sealed'])
    .where('id', '=', projectId)
    .executeTakeFirst()
