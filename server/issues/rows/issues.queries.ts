import { sql, type AliasableExpression, type Selectable, type RawBuilder, type SqlBool } from 'kysely'
import type { OrgActor } from '../../platform/context/actor.ts'
import { LIFE_COLUMNS, lifeColumns } from '../rules/life-columns.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import type { Life } from '../rules/life-cycle.ts'
import type { ReleaseFacts } from '../../projects/releases/order.ts'
import type { ReleasesByVersion } from '../rules/resolution.ts'

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
  't.key as ticket_key',
  't.url as ticket_url',
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
    .leftJoin('tracker_tickets as t', (join) => join.onRef('t.issue_id', '=', 'i.id').on('t.state', '=', 'linked'))
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

/** Coarse sort keys, as migrations/0005_issues.sql computes them (docs/decisions/issue-ranges.md). */

/** Key of a count: the count itself below 8, then four steps per doubling. */
export const toCountKey = (value: RawBuilder<unknown>) =>
  sql`(case when ${value} < 8 then ${value} else floor(ln((${value})::double precision) * 5.7707801635558535 - 4) end)::smallint`

/** Key of a time: its slot of five seconds. */
export const toTimeKey = (value: RawBuilder<unknown>) =>
  sql`date_bin(interval '5 seconds', ${value}, timestamptz '1970-01-01 00:00:00+00')`

/** `i.last_seen >= since`, with the coarse key that the index holds. */
export const lastSeenSince = (since: Date): RawBuilder<SqlBool> =>
  sql<SqlBool>`(i.seen_slot >= ${toTimeKey(sql`${since}::timestamptz`)} and i.last_seen >= ${since})`

/** The values that determine the severity of issues, in the order of their ids. */
export const selectForRating = (tx: Tx, issueIds: readonly string[]) =>
  tx
    .selectFrom('issues as i')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .select([
      'i.id',
      'i.status',
      'i.severity',
      'i.severity_pinned',
      'i.event_severity',
      'i.users_day',
      'i.users_today',
      'i.high_impact_day',
      'p.settings',
    ])
    .where('i.id', '=', sql<string>`any(${[...issueIds]}::uuid[])`)
    .orderBy('i.id')
    .execute()

/** The high-impact day of an issue, and its severity. */
type RatedIssue = { readonly id: string; readonly highImpactDay: string | null; readonly severity: number }

export async function writeRatings(tx: Tx, issues: readonly RatedIssue[]): Promise<void> {
  await sql`update issues i set high_impact_day = k.high_impact_day, severity = k.severity
    from unnest(${issues.map((one) => one.id)}::uuid[], ${issues.map((one) => one.highImpactDay)}::date[], ${issues.map((one) => one.severity)}::smallint[]) k (id, high_impact_day, severity)
    where i.id = k.id`.execute(tx)
}

/** Numbers of events and users of an issue. */
export const selectCounts = (tx: Tx, issueId: string) =>
  tx
    .selectFrom('issues')
    .select(['event_count as events', 'user_count as users'])
    .where('id', '=', issueId)
    .executeTakeFirstOrThrow()

/** Writes life-cycle states, for digestion, jobs and members. */

const WRITE_LIVES = `
  update issues i set status = k.status, status_reason = k.status_reason, status_changed_at = k.status_changed_at,
    open_since = k.open_since, resolved_at = k.resolved_at, resolved_in_release = k.resolved_in_release,
    resolution = k.resolution, pending_commit = k.pending_commit, ignore_until = k.ignore_until,
    ignore_progress = k.ignore_progress, unignore_at = k.unignore_at, escalated_at = k.escalated_at, over_limit_at = k.over_limit_at,
    severity = coalesce(k.severity, i.severity)
  from jsonb_to_recordset($1::jsonb) k (id uuid, status text, status_reason text, status_changed_at timestamptz,
    open_since timestamptz, resolved_at timestamptz, resolved_in_release text, resolution jsonb, pending_commit text,
    ignore_until jsonb, ignore_progress jsonb, unignore_at timestamptz, escalated_at timestamptz, over_limit_at timestamptz,
    severity smallint)
  where i.id = k.id`

export type MovedIssue = {
  readonly id: string
  readonly life: Life
  /** Rank; null does not change it. */
  readonly severity: number | null
}

/** Writes the life-cycle states of locked issues. */
export async function writeLives(tx: Tx, issues: readonly MovedIssue[]): Promise<void> {
  if (issues.length === 0) return
  const rows = issues.map(({ id, life, severity }) => ({ id, severity, ...lifeColumns(life) }))
  await tx.query(WRITE_LIVES, [JSON.stringify(rows)])
}

/** Sets the assignees of new issues. */
export async function setAssignees(
  tx: Tx,
  issues: readonly { readonly issueId: string; readonly userId: string | null; readonly team: string | null }[],
): Promise<void> {
  await tx.query(
    `update issues i set assignee_id = k.user_id, assignee_team = k.team
     from jsonb_to_recordset($1::jsonb) k (id uuid, user_id uuid, team text) where i.id = k.id`,
    [JSON.stringify(issues.map(({ issueId, userId, team }) => ({ id: issueId, user_id: userId, team })))],
  )
}

/** Writes columns of issues, as they were before a change. */
export async function restoreColumns(
  tx: Tx,
  columns: readonly string[],
  issues: readonly { readonly id: string }[],
): Promise<void> {
  const set = columns.map((column) => `${column} = r.${column}`).join(', ')
  await tx.query(
    `update issues i set ${set} from jsonb_populate_recordset(null::issues, $1::jsonb) r where i.id = r.id`,
    [JSON.stringify(issues)],
  )
}

/** Reads of releases for resolutions. */

type FactsRow = { version: string; released_at: Date | null; created_at: Date; first_seen_at: Date | null }

const factsOf = (row: FactsRow): ReleaseFacts => ({
  version: row.version,
  releasedAt: row.released_at,
  createdAt: row.created_at,
  firstSeenAt: row.first_seen_at,
})

/** Enough to contain the newest release of every package. */
const MAX_RELEASES = 1_000

/** Returns existing releases, newest first: created or seen, but not only planned. */
export async function knownReleases(db: Connection, projectId: string): Promise<ReleaseFacts[]> {
  const { rows } = await sql<FactsRow>`
    select version, released_at, created_at, first_seen_at from releases
    where project_id = ${projectId} and state <> 'planned' order by dated_at desc, id desc limit ${MAX_RELEASES}`.execute(
    db,
  )
  return rows.map(factsOf)
}

/** Maximum of releases for one commit. */
const MAX_OF_COMMIT = 20

/** Minimum length of an abbreviated hash. */
const SHORTEST_SHA = 7

/**
 * SQL of the versions with a commit, first seen first. Either hash may be an abbreviation of the other. All matches are in
 * one range of the index, because hex digits sort before "g".
 */
export const versionsOfCommit = (projectId: string, sha: string): string => `
  select r.version from releases r where r.project_id = ${projectId} and r.id in (
    select c.release_id from release_commits c
    where c.project_id = ${projectId} and c.sha >= left(${sha}, ${SHORTEST_SHA}) collate "C" and c.sha < (${sha} || 'g') collate "C"
      and (starts_with(c.sha, ${sha}) or starts_with(${sha}, c.sha))
  ) order by r.first_seen_at nulls last, r.version limit ${MAX_OF_COMMIT}`

export async function releasesOfCommit(db: Connection, projectId: string, sha: string): Promise<string[]> {
  const { rows } = await db.query<{ version: string }>(versionsOfCommit('$1::uuid', '$2::text'), [projectId, sha])
  return rows.map((row) => row.version)
}

/** Returns the known releases among the given versions of a project. */
export async function releasesByVersion(
  tx: Tx,
  projectId: string,
  versions: readonly string[],
): Promise<ReleasesByVersion> {
  const { rows } = await sql<FactsRow>`
    select version, released_at, created_at, first_seen_at from releases
    where project_id = ${projectId} and version = any(${[...versions]}::text[])`.execute(tx)
  return new Map(rows.map((row) => [row.version, factsOf(row)]))
}

/** Conditions on the assignee of issues (`issues as i`). An issue of a disabled member counts as unassigned. */

/** Only a member can be assigned, so these are all whose issues count as unassigned. */
const aDisabledMember = (orgId: string) =>
  sql`any(array(
    select m.user_id from memberships m join users u on u.id = m.user_id
    where m.org_id = ${orgId} and (m.disabled_at is not null or u.disabled_at is not null)))`

/** No active member is assigned. A team of an ownership rule is not a member. */
export const isUnassigned = (orgId: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`(i.assignee_id is null or i.assignee_id = ${aDisabledMember(orgId)})`

/** One of these members is assigned, and active. */
export const isAssignedTo = (orgId: string, userIds: readonly string[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`(i.assignee_id = any(${[...userIds]}::uuid[]) and not i.assignee_id = ${aDisabledMember(orgId)})`

/** An ownership rule named one of these teams; in any case, with or without a leading #. */
export const isOfTeam = (words: readonly string[]): RawBuilder<SqlBool> =>
  sql<SqlBool>`lower(ltrim(i.assignee_team, '#')) = any(${words.map((word) => word.toLowerCase())}::text[])`

/** Returns each issue's merge target, or the issue itself if it is not merged. Omits unknown ids. */
export async function selectMergeTargets(tx: Connection, issueIds: readonly string[]): Promise<Map<string, string>> {
  if (issueIds.length === 0) return new Map()
  const { rows } = await tx.query<{ id: string; target: string }>({
    name: 'issues-merge-targets',
    text: `select id, issue_id as target from issue_groups where id = any($1::uuid[])`,
    values: [issueIds],
  })
  return new Map(rows.map((row) => [row.id, row.target]))
}

/** Ids of events that the activity of issues names: their first ones, and those that changed a status. In hexadecimal digits. */
export async function selectNamedEvents(on: Connection, issueIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await on.query<{ id: string }>(
    `select distinct data->>'event_id' as id from issue_activity
     where issue_id = any($1::uuid[]) and data->>'event_id' is not null`,
    [issueIds],
  )
  return new Set(rows.map(({ id }) => id.replaceAll('-', '')))
}
