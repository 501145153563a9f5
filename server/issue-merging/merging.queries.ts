import { sql, type RawBuilder } from 'kysely'
import type { OrgActor } from '../context/actor.ts'
import { shortId } from '../issue-rules/issue.ts'
import { LIFE_COLUMNS } from '../issue-rules/life-columns.ts'
import { restoreOwnDocument, mergeDocuments } from '../issue-search/search.queries.ts'
import type { Connection, Tx } from '../storage/database.ts'

/**
 * SQL of merging. The row, hours and users of a merge target are those of all its issues together. `merged_issues` has
 * the own facts of each issue, including the target, with own hours and users under its `own_id`. The lock of the
 * target's row covers the rows of all issues merged into it: digestion takes no other lock.
 */

export type LockedIssue = Awaited<ReturnType<typeof lockForMerging>>[number]

/** Issues of the actor's organisation, including merged ones, locked in the order of their ids, as digestion does. */
export function lockForMerging(tx: Tx, actor: OrgActor, issueIds: readonly string[]) {
  return selectForMerging(tx, actor, issueIds, true)
}

/** The same, with or without a lock. */
export function selectForMerging(tx: Tx, actor: OrgActor, issueIds: readonly string[], isLocked: boolean) {
  return tx
    .selectFrom('issues as i')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .select([
      'i.id',
      'i.project_id',
      'i.number',
      'i.merged_into',
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
    .$if(isLocked, (query) => query.forUpdate('i'))
    .execute()
}

export type MergedIssue = { readonly issueId: string; readonly parentId: string | null; readonly mergedAt: Date }

export async function mergedIssuesOf(tx: Tx, targetId: string): Promise<MergedIssue[]> {
  const rows = await tx
    .selectFrom('merged_issues')
    .select(['issue_id', 'parent_id', 'merged_at'])
    .where('target_id', '=', targetId)
    .execute()
  return rows.map((row) => ({ issueId: row.issue_id, parentId: row.parent_id, mergedAt: row.merged_at }))
}

export type NewMergedIssue = {
  readonly issueId: string
  readonly ownId: string
  readonly targetId: string
  readonly parentId: string | null
  readonly mergedBy: string | null
  readonly now: Date
}

/** Inserts the own facts of an issue; returns false when they exist already. */
export async function insertMergedIssue(tx: Tx, issue: NewMergedIssue): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into merged_issues (issue_id, own_id, target_id, parent_id, merged_at, merged_by, events_at_merge, event_count,
      first_seen, last_seen, title, culprit, error_type, error_value, level, first_release, last_release, is_unhandled,
      event_severity, severity, last_event_id, users_day, high_impact_day)
    select id, ${issue.ownId}, ${issue.targetId}, ${issue.parentId}, ${issue.now}, ${issue.mergedBy}, event_count, event_count,
      first_seen, last_seen, title, culprit, error_type, error_value, level, first_release, last_release, is_unhandled,
      event_severity, severity, last_event_id, users_day, high_impact_day
    from issues where id = ${issue.issueId} on conflict do nothing`.execute(tx)
  return (numAffectedRows ?? 0n) > 0n
}

/** Bounds the time of a statement, so that the connection does not count as dead. */
const MAX_USERS_PER_STATEMENT = 100_000
const BEFORE_FIRST_HASH = -1
const MAX_HASH = 2 ** 52
/** With more users the planner must not use nested loops, see `inRanges`. */
const MAX_USERS_FOR_NESTED_LOOPS = 1_000

/** Adds the hours and users of issues to those of another issue. */
export async function addCounts(tx: Tx, fromIds: readonly string[], toId: string): Promise<void> {
  await addHours(tx, fromIds, toId)
  for (const fromId of fromIds) await addUsers(tx, fromId, toId)
}

/** Copies the users of an issue to an unused id. */
export async function copyUsers(tx: Tx, fromId: string, newId: string): Promise<void> {
  await inRanges(tx, fromId, (range) =>
    sql`
      insert into issue_users (issue_id, user_hash, seen_day)
      select ${newId}::uuid, user_hash, seen_day from issue_users
      where issue_id = ${fromId} and ${range} order by user_hash`.execute(tx),
  )
}

/**
 * Updates a copy of users: since it was made, users were added, seen again or erased.
 * @param users their approximate number; hashes are distributed evenly
 */
export async function catchUpUsers(tx: Tx, fromId: string, copyId: string, users: number): Promise<void> {
  const ranges = Math.max(Math.ceil(users / MAX_USERS_PER_STATEMENT), 1)
  if (users > MAX_USERS_FOR_NESTED_LOOPS) await sql`set local enable_nestloop = off`.execute(tx)
  for (let index = 0; index < ranges; index++) {
    const from = index === 0 ? BEFORE_FIRST_HASH : Math.floor((MAX_HASH / ranges) * index)
    const to = index === ranges - 1 ? MAX_HASH : Math.floor((MAX_HASH / ranges) * (index + 1))
    const range = sql`user_hash > ${from} and user_hash <= ${to}`
    await sql`
      with changed as (
        select user_hash, p.user_hash is null as is_gone, p.seen_day
        from (select user_hash, seen_day from issue_users where issue_id = ${fromId} and ${range}) p
        full join (select user_hash, seen_day from issue_users where issue_id = ${copyId} and ${range}) k using (user_hash)
        where p.user_hash is null or k.user_hash is null or p.seen_day is distinct from k.seen_day
      ), gone as (
        delete from issue_users u using changed c where u.issue_id = ${copyId} and u.user_hash = c.user_hash and c.is_gone
      )
      insert into issue_users as u (issue_id, user_hash, seen_day)
      select ${copyId}::uuid, user_hash, seen_day from changed where not is_gone order by user_hash
      on conflict (issue_id, user_hash) do update set seen_day = excluded.seen_day`.execute(tx)
  }
  if (users > MAX_USERS_FOR_NESTED_LOOPS) await sql`set local enable_nestloop to default`.execute(tx)
}

export async function addHours(tx: Tx, fromIds: readonly string[], toId: string): Promise<void> {
  await sql`
    insert into issue_hours as h (issue_id, hour, events)
    select ${toId}::uuid, hour, sum(events)::int from issue_hours where issue_id = any(${[...fromIds]}::uuid[])
    group by hour order by hour
    on conflict (issue_id, hour) do update set events = h.events + excluded.events`.execute(tx)
}

/** Users already counted on that day are skipped first, because a conflict locks, and so writes, the row. */
async function addUsers(tx: Tx, fromId: string, toId: string): Promise<void> {
  await inRanges(tx, fromId, (range) =>
    sql`
      insert into issue_users as u (issue_id, user_hash, seen_day)
      select ${toId}::uuid, p.user_hash, p.seen_day
      from (select user_hash, seen_day from issue_users where issue_id = ${fromId} and ${range}) p
      left join (select user_hash, seen_day from issue_users where issue_id = ${toId} and ${range}) k using (user_hash)
      where k.user_hash is null or (p.seen_day is not null and (k.seen_day is null or k.seen_day < p.seen_day))
      order by p.user_hash
      on conflict (issue_id, user_hash) do update set seen_day = excluded.seen_day
        where u.seen_day is null or u.seen_day < excluded.seen_day`.execute(tx),
  )
}

/** Deletes the users of an issue that none of these others has; the last day of the rest is that of these others. */
async function keepUsersOf(tx: Tx, issueId: string, otherIds: readonly string[]): Promise<void> {
  await inRanges(tx, issueId, (range) =>
    sql`
      with kept as (
        select p.user_hash, p.seen_day, o.seen_day as other_day, o.user_hash is not null as is_kept
        from (select user_hash, seen_day from issue_users where issue_id = ${issueId} and ${range}) p
        left join (
          select user_hash, max(seen_day) as seen_day from issue_users
          where issue_id = any(${[...otherIds]}::uuid[]) and ${range} group by user_hash
        ) o using (user_hash)
        where o.user_hash is null or p.seen_day is distinct from o.seen_day
      ), gone as (
        delete from issue_users u using kept k
        where u.issue_id = ${issueId} and u.user_hash = k.user_hash and not k.is_kept
      )
      update issue_users u set seen_day = k.other_day from kept k
      where u.issue_id = ${issueId} and u.user_hash = k.user_hash and k.is_kept`.execute(tx),
  )
}

/**
 * Runs a statement for each range of the hashes of an issue's users. The planner has no statistics of rows that were
 * written a moment ago and estimates one row: a nested loop would compare each of a hundred thousand with each other.
 */
async function inRanges(
  tx: Tx,
  issueId: string,
  write: (range: RawBuilder<unknown>) => Promise<unknown>,
): Promise<void> {
  let isNestloopOff = false
  for (let after = BEFORE_FIRST_HASH; ;) {
    const { rows } = await sql<{ last: number | null; users: number }>`
      select max(user_hash) as last, count(*)::int as users from (
        select user_hash from issue_users where issue_id = ${issueId} and user_hash > ${after}
        order by user_hash limit ${MAX_USERS_PER_STATEMENT}) next_users`.execute(tx)
    const [next] = rows
    if (next === undefined || next.last === null) break
    if (next.users > MAX_USERS_FOR_NESTED_LOOPS && !isNestloopOff) {
      isNestloopOff = true
      await sql`set local enable_nestloop = off`.execute(tx)
    }
    await write(sql`user_hash > ${after} and user_hash <= ${next.last}`)
    if (next.users < MAX_USERS_PER_STATEMENT) break
    after = next.last
  }
  if (isNestloopOff) await sql`set local enable_nestloop to default`.execute(tx)
}

/** Merges issues, and those merged into them, into a target, which gets their fingerprints. */
export async function mergeInto(tx: Tx, issueIds: readonly string[], targetId: string, now: Date): Promise<void> {
  const ids = sql`any(${[...issueIds]}::uuid[])`
  await sql`update merged_issues set parent_id = ${targetId}, merged_at = ${now} where issue_id = ${ids}`.execute(tx)
  await sql`update merged_issues set target_id = ${targetId} where target_id = ${ids}`.execute(tx)
  await sql`update issue_fingerprints set issue_id = ${targetId} where issue_id = ${ids}`.execute(tx)
  await sql`update issues set merged_into = ${targetId}, merged_count = 0 where id = ${ids} or merged_into = ${ids}`.execute(
    tx,
  )
  await countMergedIssues(tx, targetId)
}

const countMergedIssues = (tx: Tx, targetId: string) =>
  sql`update issues set merged_count = (select count(*) from issues m where m.merged_into = ${targetId}) where id = ${targetId}`.execute(
    tx,
  )

/**
 * Unmerges an issue from its target.
 * @param groupIds the issue, and those that stay merged into it
 */
export async function unmerge(tx: Tx, targetId: string, issueId: string, groupIds: readonly string[]): Promise<void> {
  const group = sql`any(${[...groupIds]}::uuid[])`
  await sql`update merged_issues set target_id = ${issueId} where issue_id = ${group}`.execute(tx)
  await sql`update merged_issues set parent_id = null where issue_id = ${issueId}`.execute(tx)
  await sql`update issue_fingerprints set issue_id = ${issueId} where issue_id = ${targetId} and source_id = ${group}`.execute(
    tx,
  )
  await sql`update issues set merged_into = case when id = ${issueId} then null else ${issueId}::uuid end where id = ${group}`.execute(
    tx,
  )
  await countMergedIssues(tx, issueId)
  await countMergedIssues(tx, targetId)
}

/**
 * Rebuilds the hours, users and facts of a merge target from those of its issues. An issue without merged ones loses its
 * row in `merged_issues`.
 * @param isWhole whether its users include those of all its issues; false for an issue that was merged itself, because
 * digestion did not update it meanwhile
 */
export async function rebuildTarget(tx: Tx, targetId: string, isWhole: boolean): Promise<void> {
  const merged = await tx
    .selectFrom('merged_issues')
    .select(['issue_id', 'own_id'])
    .where('target_id', '=', targetId)
    .execute()
  const ownIds = merged.map((row) => row.own_id)
  if (!ownIds.includes(targetId)) {
    await sql`delete from issue_hours where issue_id = ${targetId}`.execute(tx)
    await keepUsersOf(tx, targetId, ownIds)
    await addHours(tx, ownIds, targetId)
    if (!isWhole) for (const id of ownIds) await addUsers(tx, id, targetId)
  }
  await restoreOwnDocument(tx, targetId)
  await summarise(tx, targetId, 'left')
  if (merged.length > 1) return
  const leftOver = ownIds.filter((id) => id !== targetId)
  await dropCounts(tx, leftOver)
  await tx.deleteFrom('merged_issues').where('target_id', '=', targetId).execute()
}

/** Deletes the hours and users of these ids. */
export async function dropCounts(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .deleteFrom('issue_hours')
    .where('issue_id', 'in', [...ids])
    .execute()
  await tx
    .deleteFrom('issue_users')
    .where('issue_id', 'in', [...ids])
    .execute()
}

/**
 * Computes the facts of a merge target from those of its issues, by the rules of digestion; its title is its own.
 * {@link rateIssues} then rates its severity.
 * @param how `left` ends a high-impact day that no single issue has: all of them had reached that many users together
 */
export async function summarise(tx: Tx, targetId: string, how: 'joined' | 'left' = 'joined'): Promise<void> {
  const ownHighImpactDay = how === 'joined' ? sql`i.high_impact_day` : sql`null::date`
  await sql`
    with days as (select seen_day, count(*) as users from issue_users where issue_id = ${targetId} group by seen_day)
    update issues i set
      event_count = f.event_count, first_seen = f.first_seen, last_seen = f.last_seen, is_unhandled = f.is_unhandled,
      event_severity = f.event_severity, severity = case when i.severity_pinned then i.severity else f.severity end,
      first_release = f.first_release, last_release = f.last_release,
      title = o.title, culprit = o.culprit, error_type = o.error_type, error_value = o.error_value,
      level = n.level, last_event_id = n.last_event_id,
      user_count = coalesce(u.users, 0), users_day = u.day, users_today = u.today,
      high_impact_day = greatest(f.high_impact_day, ${ownHighImpactDay}),
      -- Computed for the former events.
      hourly_limit = null, limit_hour = null
    from (
      select sum(event_count)::bigint as event_count, min(first_seen) as first_seen, max(last_seen) as last_seen,
        bool_or(is_unhandled) as is_unhandled, max(event_severity) as event_severity, max(severity) as severity, max(high_impact_day) as high_impact_day,
        (array_agg(first_release order by first_seen, issue_id))[1] as first_release,
        (array_agg(last_release order by last_seen desc, issue_id desc) filter (where last_release is not null))[1] as last_release
      from merged_issues where target_id = ${targetId}
    ) f, (
      select * from merged_issues where target_id = ${targetId} order by last_seen desc, issue_id desc limit 1
    ) n, (
      select title, culprit, error_type, error_value from merged_issues where issue_id = ${targetId}
    ) o, (
      select sum(c.users)::int as users, d.day, coalesce(sum(c.users) filter (where c.seen_day = d.day), 0)::int as today
      from days c
      right join (
        select greatest(max(m.users_day), (select max(seen_day) from days)) as day
        from merged_issues m where m.target_id = ${targetId}
      ) d on true group by d.day
    ) u where i.id = ${targetId}`.execute(tx)
  await mergeDocuments(tx, targetId)
}

/** The ids of the own hours and users of a target's issues, including its own; empty for an issue without merged ones. */
export async function ownIdsOf(tx: Tx, targetId: string): Promise<string[]> {
  const rows = await tx.selectFrom('merged_issues').select('own_id').where('target_id', '=', targetId).execute()
  return rows.map((row) => row.own_id)
}

/** Own facts of a target's issues, including the target, for its page. */
export async function selectMergedIssues(db: Connection, targetId: string) {
  return db
    .selectFrom('merged_issues as m')
    .innerJoin('issues as i', 'i.id', 'm.issue_id')
    .leftJoin('users as u', 'u.id', 'm.merged_by')
    .select([
      'm.issue_id',
      'i.number',
      'm.title',
      'm.event_count',
      'm.parent_id',
      'm.merged_at',
      'm.merged_by',
      'u.name as merged_by_name',
      'u.email as merged_by_email',
    ])
    .where('m.target_id', '=', targetId)
    .orderBy('m.merged_at')
    .orderBy('m.issue_id')
    .execute()
}

/** Names of issues; a merged issue has the name of its target. */
export async function selectNames(
  db: Connection,
  issueIds: readonly string[],
): Promise<Map<string, { id: string; targetId: string; short_id: string; title: string }>> {
  const { rows } = await sql<{ id: string; target_id: string; number: number; title: string; slug: string }>`
    select i.id, r.id as target_id, r.number, r.title, p.slug
    from issues m join issues i on i.id = m.id or i.id = m.merged_into
    join issues r on r.id = coalesce(i.merged_into, i.id) join projects p on p.id = r.project_id
    where m.id = any(${[...issueIds]}::uuid[])`.execute(db)
  return new Map(
    rows.map((row) => [
      row.id,
      { id: row.id, targetId: row.target_id, short_id: shortId(row.slug, row.number), title: row.title },
    ]),
  )
}
