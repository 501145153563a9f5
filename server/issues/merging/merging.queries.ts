import { sql } from 'kysely'
import type { OrgActor } from '../../platform/context/actor.ts'
import { shortId } from '#shared/issue-values.ts'
import { LIFE_COLUMNS } from '../rules/life-columns.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/**
 * SQL of merging: which issue shows a group. The callers hold the lock of the project's relation (`changeRelation`), so that
 * digestion does not add to these groups meanwhile.
 */

/** The project of an issue of the actor's organisation. */
export async function projectOfIssue(db: Connection, actor: OrgActor, issueId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('issues')
    .select('project_id')
    .where('id', '=', issueId)
    .where('org_id', '=', actor.orgId)
    .executeTakeFirst()
  return row?.project_id
}

export type LockedIssue = Awaited<ReturnType<typeof lockForMerging>>[number]

/** Issues of the actor's organisation, including merged ones, locked in the order of their ids, as digestion does. */
export function lockForMerging(tx: Tx, actor: OrgActor, issueIds: readonly string[]) {
  return tx
    .selectFrom('issues as i')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .innerJoin('issue_groups as g', 'g.id', 'i.id')
    .select([
      'i.id',
      'i.project_id',
      'i.number',
      'g.issue_id as target_id',
      'i.merged_count',
      ...LIFE_COLUMNS.map((column) => `i.${column}` as const),
      'i.last_seen',
      'i.event_count',
      'i.user_count',
      'i.title',
      'p.slug as project_slug',
    ])
    .where('i.org_id', '=', actor.orgId)
    .where('i.id', '=', sql<string>`any(${[...issueIds]}::uuid[])`)
    .orderBy('i.id')
    .forUpdate('i')
    .execute()
}

export type MergedIssue = { readonly issueId: string; readonly parentId: string | null; readonly mergedAt: Date | null }

/** The issues whose groups an issue shows, including itself. */
export async function selectTargetIssues(tx: Tx, targetId: string): Promise<MergedIssue[]> {
  const rows = await tx
    .selectFrom('issue_groups as g')
    .innerJoin('issues as i', 'i.id', 'g.id')
    .select(['g.id', 'i.merged_into', 'g.merged_at'])
    .where('g.issue_id', '=', targetId)
    .execute()
  return rows.map((row) => ({ issueId: row.id, parentId: row.merged_into, mergedAt: row.merged_at }))
}

export type Merge = {
  readonly targetId: string
  readonly issueIds: readonly string[]
  readonly mergedBy: string | null
  readonly now: Date
}

/** Makes an issue show the groups of others, which are merged into it. `sumGroups` must follow. */
export async function mergeInto(tx: Tx, { targetId, issueIds, mergedBy, now }: Merge): Promise<void> {
  const ids = sql`any(${[...issueIds]}::uuid[])`
  // If an issue showed several groups, its groups have these days already.
  await sql`update issue_groups g set users_day = i.users_day, high_impact_day = i.high_impact_day from issues i
    where i.id = g.id and i.merged_count = 0 and (i.id = ${ids} or i.id = ${targetId})`.execute(tx)
  await sql`update issue_groups set merged_at = ${now}, merged_by = ${mergedBy} where id = ${ids}`.execute(tx)
  await sql`update issue_groups set issue_id = ${targetId} where issue_id = ${ids}`.execute(tx)
  await sql`update issues set merged_into = ${targetId}, merged_count = 0 where id = ${ids}`.execute(tx)
  await sql`update issues i set users_day = greatest(i.users_day, g.users_day),
      high_impact_day = greatest(i.high_impact_day, g.high_impact_day),
      -- Computed for the former events: against the limit of a small issue the hours of a large one always escalate.
      hourly_limit = null, limit_hour = null
    from (select max(users_day) as users_day, max(high_impact_day) as high_impact_day from issue_groups
      where issue_id = ${targetId}) g
    where i.id = ${targetId}`.execute(tx)
}

/**
 * Makes issues show their own groups again, and those of the issues that stay merged into them. `sumGroups` must follow.
 * @param groups by issue to unmerge, the groups that it shows
 */
export async function unmerge(tx: Tx, targetId: string, groups: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const ids = sql`any(${[...groups.keys()]}::uuid[])`
  const pairs = [...groups].flatMap(([issueId, groupIds]) => groupIds.map((groupId) => ({ issueId, groupId })))
  await sql`update issue_groups g set issue_id = k.issue_id
    from unnest(${pairs.map((pair) => pair.groupId)}::uuid[], ${pairs.map((pair) => pair.issueId)}::uuid[]) k (id, issue_id)
    where g.id = k.id`.execute(tx)
  await sql`update issue_groups set merged_at = null, merged_by = null where id = ${ids}`.execute(tx)
  await sql`update issues set merged_into = null where id = ${ids}`.execute(tx)
  // A high-impact day that no single issue has ends: all together had reached that many users.
  await sql`update issues i set users_day = g.users_day, high_impact_day = g.high_impact_day,
      hourly_limit = null, limit_hour = null
    from (select issue_id, max(users_day) as users_day, max(high_impact_day) as high_impact_day from issue_groups
      where issue_id = ${ids} or issue_id = ${targetId} group by issue_id) g
    where i.id = g.issue_id`.execute(tx)
  // The rows of issues that show only their own group have these facts.
  await sql`update issue_groups g set users_day = null, high_impact_day = null
    where (g.id = ${ids} or g.id = ${targetId})
      and not exists (select from issue_groups o where o.issue_id = g.id and o.id <> g.id)`.execute(tx)
}

/** How many users the groups of each issue have together, counting some of them several times. */
export async function usersToCount(tx: Tx, issueIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('issue_groups')
    .select((row) => ['issue_id', sql<number>`${row.fn.sum('user_count')}::float8`.as('users')])
    .where('issue_id', '=', sql<string>`any(${[...issueIds]}::uuid[])`)
    .groupBy('issue_id')
    .execute()
  return new Map(rows.map((row) => [row.issue_id, row.users]))
}

/** Locks an issue that is not merged into another. Returns its organisation and project. */
export function lockShown(tx: Tx, issueId: string) {
  return tx
    .selectFrom('issues')
    .select(['org_id', 'project_id'])
    .where('id', '=', issueId)
    .where('merged_into', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** The issues that were merged into an issue, for its page. */
export async function selectMergedIssues(db: Connection, targetId: string) {
  return db
    .selectFrom('issue_groups as g')
    .innerJoin('issues as i', 'i.id', 'g.id')
    .leftJoin('users as u', 'u.id', 'g.merged_by')
    .select([
      'g.id',
      'i.number',
      'g.title',
      'g.event_count',
      'g.merged_at',
      'g.merged_by',
      'u.name as merged_by_name',
      'u.email as merged_by_email',
    ])
    .where('g.issue_id', '=', targetId)
    .$narrowType<{ merged_at: Date }>()
    .where('g.merged_at', 'is not', null)
    .orderBy('g.merged_at')
    .orderBy('g.id')
    .execute()
}

/** Names of issues; a merged issue has the name of its target. */
export async function selectNames(
  db: Connection,
  issueIds: readonly string[],
): Promise<Map<string, { id: string; targetId: string; short_id: string; title: string }>> {
  const { rows } = await sql<{ id: string; target_id: string; number: number; title: string; slug: string }>`
    select i.id, r.id as target_id, r.number, r.title, p.slug
    from issue_groups g join issues r on r.id = g.issue_id join projects p on p.id = r.project_id,
      lateral (values (g.id), (r.id)) i (id)
    where g.id = any(${[...issueIds]}::uuid[])`.execute(db)
  return new Map(
    rows.map((row) => [
      row.id,
      { id: row.id, targetId: row.target_id, short_id: shortId(row.slug, row.number), title: row.title },
    ]),
  )
}
