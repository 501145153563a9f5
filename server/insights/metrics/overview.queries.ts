import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'

export const selectProjects = (db: Connection, orgId: string) =>
  db.selectFrom('projects').select(['id', 'settings']).where('org_id', '=', orgId).execute()

/** Issues are counted up to this number of each kind. */
const MAX_COUNTED_ISSUES = 10_000

export type IssueNumbers = {
  readonly open: number
  readonly new: number
  readonly regressed: number
  readonly escalated: number
  readonly critical: number
}

/** Open issues of projects, and those first seen since a time. */
export async function countIssues(db: Connection, projectIds: readonly string[], since: Date): Promise<IssueNumbers> {
  const countOf = (condition: ReturnType<typeof sql>) => sql`(select count(*) from (
    select from issues i where i.project_id = any(${[...projectIds]}::uuid[]) and i.merged_into is null and ${condition}
    limit ${MAX_COUNTED_ISSUES}) c)::int`
  const { rows } = await sql<IssueNumbers>`select
    ${countOf(sql`i.status in ('unresolved', 'regressed', 'escalated')`)} as open,
    ${countOf(sql`i.first_seen >= ${since}`)} as new,
    ${countOf(sql`i.status = 'regressed'`)} as regressed,
    ${countOf(sql`i.status = 'escalated'`)} as escalated,
    ${countOf(sql`i.severity = 3 and i.status in ('unresolved', 'regressed', 'escalated')`)} as critical`.execute(db)
  return rows[0] ?? { open: 0, new: 0, regressed: 0, escalated: 0, critical: 0 }
}

export type OutcomeSum = { readonly outcome: string; readonly quantity: number }

/** Error events of projects by outcome since a time, by hour of receipt. */
export async function sumOutcomes(db: Connection, projectIds: readonly string[], since: Date): Promise<OutcomeSum[]> {
  return db
    .selectFrom('outcomes_hourly')
    .select(['outcome', sql<number>`sum(quantity)::float8`.as('quantity')])
    .where('project_id', 'in', [...projectIds])
    .where('hour', '>=', since)
    .where('category', '=', 'error')
    .groupBy('outcome')
    .execute()
}

type IssueRise = {
  readonly id: string
  readonly slug: string
  readonly number: number
  /** Events after the time, and what the time before it lets expect. */
  readonly after: number
  readonly expected: number
}

/** Crashes are searched among this many issues with the most events. */
const MAX_ISSUES = 50

/** How events of crashes changed at a time: by issue, in whole hours. */
export async function risesOfIssues(
  db: Connection,
  projectId: string,
  { from, at, to }: { readonly from: Date; readonly at: Date; readonly to: Date },
): Promise<IssueRise[]> {
  const hours = (a: Date, b: Date): number => Math.max(1, Math.ceil((b.getTime() - a.getTime()) / 3_600_000))
  const factor = hours(at, to) / hours(from, at)
  const { rows } = await sql<IssueRise>`
    with candidates as (
      select i.id, i.number, p.slug from issues i join projects p on p.id = i.project_id
      where i.project_id = ${projectId} and i.merged_into is null and i.event_severity = 3 and i.last_seen >= ${at}
      order by i.event_count desc limit ${MAX_ISSUES})
    select c.id, c.number, c.slug,
      coalesce(sum(h.events) filter (where h.hour >= date_trunc('hour', ${at}::timestamptz)), 0)::float8 as after,
      (coalesce(sum(h.events) filter (where h.hour < date_trunc('hour', ${at}::timestamptz)), 0) * ${factor}::float8)::float8 as expected
    from candidates c join issue_groups g on g.issue_id = c.id
    join issue_hours h on h.group_id = g.id and h.hour >= ${from} and h.hour < ${to}
    group by c.id, c.number, c.slug`.execute(db)
  return rows
}

/** Releases of a project with their first session, newest first, that came around a time. */
export async function releasesAround(
  db: Connection,
  projectId: string,
  from: Date,
  to: Date,
): Promise<{ version: string }[]> {
  return db
    .selectFrom('releases')
    .select('version')
    .where('project_id', '=', projectId)
    .where('dated_at', '>=', from)
    .where('dated_at', '<', to)
    .orderBy('dated_at', 'desc')
    .limit(1)
    .execute()
}
