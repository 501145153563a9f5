import { sql, type AliasableExpression, type Selectable } from 'kysely'
import type { OrgActor } from '../../platform/context/actor.ts'
import { LIFE_COLUMNS } from '../rules/life-columns.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** Reads and locks of issues, and what lists show of them. */

/** Columns of an issue that lists show. */
export const ownColumns = [
  'i.id',
  'i.number',
  'i.project_id',
  'i.title',
  'i.culprit',
  'i.error_type',
  'i.error_value',
  'i.level',
  'i.platform',
  'i.status',
  'i.status_reason',
  'i.status_changed_at',
  'i.severity',
  'i.severity_pinned',
  'i.assignee_id',
  'i.assignee_team',
  'i.first_seen',
  'i.last_seen',
  'i.event_count',
  'i.user_count',
  'i.first_release',
  'i.last_release',
  'i.resolved_in_release',
  'i.ignore_until',
  'i.resolution',
  'i.is_unhandled',
] as const

const issueColumns = [
  ...ownColumns,
  'p.slug as project_slug',
  'u.name as assignee_name',
  'u.email as assignee_email',
] as const

type ColumnOf<Name> = Name extends `i.${infer Column extends keyof Tables['issues']}` ? Column : never
type OwnRow = Selectable<Pick<Tables['issues'], ColumnOf<(typeof ownColumns)[number]>>>
export type IssueRow = Awaited<ReturnType<typeof selectIssue>> & object

/** Returns a query, without columns, for the organisation's issues that are not merged into another. */
export const ofOrganisation = (db: Connection, actor: Pick<OrgActor, 'orgId'>) =>
  db.selectFrom('issues as i').where('i.org_id', '=', actor.orgId).where('i.merged_into', 'is', null)

/**
 * Returns a query that adds the names of projects and assignees to rows of issues with {@link ownColumns}. An issue of a
 * disabled member counts as unassigned. Issues of a deleted project are left out.
 */
export const issueRows = (db: Connection, actor: Pick<OrgActor, 'orgId'>, rows: AliasableExpression<OwnRow>) =>
  db
    .selectFrom(rows.as('i'))
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .leftJoin('memberships as m', (join) =>
      join.onRef('m.user_id', '=', 'i.assignee_id').on('m.org_id', '=', actor.orgId).on('m.disabled_at', 'is', null),
    )
    .leftJoin('users as u', (join) => join.onRef('u.id', '=', 'm.user_id').on('u.disabled_at', 'is', null))
    .select(issueColumns)

/** Issues whose project is not deleted: only these change. */
const changeable = (tx: Tx, actor: Pick<OrgActor, 'orgId'>) =>
  ofOrganisation(tx, actor).innerJoin('projects as p', 'p.id', 'i.project_id')

/** The merge target of an issue, or the issue itself. */
const mergeTargetOf = (issueId: string) => sql<string>`(select issue_id from issue_groups where id = ${issueId})`

/** Returns one issue of the actor's organisation, or its merge target. */
export function selectIssue(db: Connection, actor: Pick<OrgActor, 'orgId'>, issueId: string) {
  const rows = ofOrganisation(db, actor).select(ownColumns).where('i.id', '=', mergeTargetOf(issueId))
  return issueRows(db, actor, rows).executeTakeFirst()
}

/**
 * The merge target is read before the lock is awaited. If the issue was merged meanwhile, no row is left to lock, and the
 * second attempt locks its merge target.
 */
async function retryAfterMerge<Row>(lock: () => Promise<Row | undefined>): Promise<Row | undefined> {
  return (await lock()) ?? (await lock())
}

/** Columns that a change of an issue needs. */
const decidedColumns = [
  'i.id',
  'i.org_id',
  'i.project_id',
  'i.assignee_id',
  'i.severity',
  'i.severity_pinned',
  'i.event_severity',
  'i.high_impact_day',
  ...LIFE_COLUMNS.map((column) => `i.${column}` as const),
] as const

/** Locks an issue, or its merge target, until the transaction ends. */
export function lockIssue(tx: Tx, actor: Pick<OrgActor, 'orgId'>, issueId: string) {
  return retryAfterMerge(() =>
    changeable(tx, actor)
      .select(decidedColumns)
      .where('i.id', '=', mergeTargetOf(issueId))
      .forUpdate('i')
      .executeTakeFirst(),
  )
}

/** Returns those of the locked issues that are not merged into another. */
export const selectLocked = (tx: Tx, actor: OrgActor, issueIds: readonly string[]) =>
  changeable(tx, actor)
    .select(decidedColumns)
    .where('i.id', '=', sql<string>`any(${[...issueIds]}::uuid[])`)
    .orderBy('i.id')
    .execute()

/** Sets the assignees of locked issues; null unassigns. */
export async function writeAssignees(
  tx: Tx,
  rows: readonly { readonly id: string; readonly to: string | null }[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`update issues i set assignee_id = k.user_id
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ to }) => to)}::uuid[]) k (id, user_id)
    where i.id = k.id`.execute(tx)
}

/** Sets the severities of locked issues. */
export async function writeSeverities(
  tx: Tx,
  rows: readonly { readonly id: string; readonly rank: number; readonly isPinned: boolean }[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`update issues i set severity = k.rank, severity_pinned = k.pinned
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ rank }) => rank)}::smallint[],
      ${rows.map(({ isPinned }) => isPinned)}::boolean[]) k (id, rank, pinned)
    where i.id = k.id`.execute(tx)
}

/**
 * Prevents the deletion of an issue until the transaction ends. Call it before inserting rows that refer to the issue:
 * otherwise their foreign keys may deadlock with a transaction that locked the issue.
 */
export function holdIssue(tx: Tx, actor: OrgActor, issueId: string) {
  return retryAfterMerge(() =>
    changeable(tx, actor)
      .select(['i.id', 'i.project_id'])
      .where('i.id', '=', mergeTargetOf(issueId))
      .forKeyShare('i')
      .executeTakeFirst(),
  )
}

/** Ids of an issue and its merged issues, whose activity and comments are shown together. */
export const withMergedIssues = (issueId: string) =>
  sql<string>`any(array(select id from issue_groups where issue_id = ${issueId}))`

/** Newest activity first. */
export function selectActivity(db: Connection, issueId: string, limit: number) {
  return (
    db
      .selectFrom('issue_activity as a')
      .leftJoin('users as u', 'u.id', 'a.actor_id')
      .select([
        'a.id',
        'a.kind',
        'a.sentence',
        'a.data',
        'a.created_at',
        'a.actor_id',
        'u.name as actor_name',
        'u.email as actor_email',
      ])
      .where('a.issue_id', '=', withMergedIssues(issueId))
      // The merge target has an entry for the same merge.
      .where((row) => row.or([row('a.issue_id', '=', issueId), row('a.kind', '<>', 'merged_into')]))
      .orderBy('a.created_at', 'desc')
      .orderBy('a.id', 'desc')
      .limit(limit)
      .execute()
  )
}

/** Returns the fingerprints of an issue, oldest first, each with its group and the number of the issue created with it. */
export function selectFingerprints(db: Connection, issueId: string, limit: number) {
  return db
    .selectFrom('issue_fingerprints as f')
    .innerJoin('issue_groups as g', 'g.id', 'f.group_id')
    .innerJoin('issues as i', 'i.id', 'g.id')
    .select(['f.hash', 'f.grouping_version', 'f.parts', 'f.created_at', 'f.group_id', 'i.number'])
    .where('g.issue_id', '=', issueId)
    .orderBy('f.created_at')
    .orderBy('f.hash')
    .limit(limit)
    .execute()
}
