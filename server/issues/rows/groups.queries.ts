import { sql } from 'kysely'
import { SLOTS_PER_DAY } from '../rules/count-window.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/**
 * Groups own the counts, and an issue shows the sum of its groups (`issue_groups`). The relation of fingerprints, groups
 * and issues changes only under the lock of its project's generation. Digestion records and folds under it too, one transaction of a project at a time.
 */

/**
 * Locks the relation of fingerprints, groups and issues of projects, in the order of their ids, so that it does not change
 * until the transaction ends, and no other transaction records their events. Call it once, with all projects, before locking issues:
 * then no two transactions wait for each other.
 * @returns by project id, the generation of the relation
 */
export async function lockRelation(tx: Tx, projectIds: readonly string[]): Promise<Map<string, string>> {
  const select = async () => {
    const { rows } = await tx.query<{ project_id: string; generation: string }>({
      name: 'groups-lock-relation',
      text: `select project_id, generation::text from issue_generations where project_id = any($1::uuid[])
             order by project_id for no key update`,
      values: [projectIds],
    })
    return new Map(rows.map((row) => [row.project_id, row.generation]))
  }
  if (projectIds.length === 0) return new Map()
  const found = await select()
  if (found.size === new Set(projectIds).size) return found
  await tx.query({
    name: 'groups-insert-generations',
    text: `insert into issue_generations (project_id) select id from projects where id = any($1::uuid[]) order by id
           on conflict do nothing`,
    values: [projectIds],
  })
  return select()
}

/**
 * Locks the relation of a project for a change: waits for digestion, and makes it read the relation again. Call it before
 * locking issues.
 */
export async function changeRelation(tx: Tx, projectId: string): Promise<void> {
  await tx.query(
    `insert into issue_generations (project_id, generation) values ($1, 1)
     on conflict (project_id) do update set generation = issue_generations.generation + 1`,
    [projectId],
  )
}

/** Ids of the groups that issues show: their events are stored under these. */
export async function selectGroupIds(on: Connection, issueIds: readonly string[]): Promise<string[]> {
  const rows = await on
    .selectFrom('issue_groups')
    .select('id')
    .where('issue_id', '=', sql<string>`any(${[...issueIds]}::uuid[])`)
    .execute()
  return rows.map(({ id }) => id)
}

/** The issues that show groups, by group id. */
export async function issuesOfGroups(on: Connection, groupIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await on
    .selectFrom('issue_groups')
    .select(['id', 'issue_id'])
    .where('id', '=', sql<string>`any(${[...groupIds]}::uuid[])`)
    .execute()
  return new Map(rows.map((row) => [row.id, row.issue_id]))
}

/**
 * Ids of events of groups that are recorded and not counted yet: the next fold counts them. The caller holds the lock of
 * the relation for a change, so that none is recorded or counted meanwhile.
 */
export async function uncountedEvents(tx: Tx, groupIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select event ->> 0 as id
     from issue_journal j, json_array_elements(j.body::json) sums, json_array_elements(sums -> 'events') event
     where sums ->> 'groupId' = any($1::text[])`,
    [groupIds],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Locks issues in the order of their ids, merged ones too, before they are deleted. */
export async function lockIssues(tx: Tx, issueIds: readonly string[]): Promise<void> {
  await tx.query('select from issues where id = any($1::uuid[]) order by id for update', [issueIds])
}

/**
 * Sets the facts of issues to those of their groups: the sum of their events, the title of the own group, level and release
 * of the newest event. Users and severity are not changed: see `recountGroupUsers` and `rateIssues`.
 */
export async function sumGroups(tx: Tx, issueIds: readonly string[]): Promise<void> {
  if (issueIds.length === 0) return
  await tx.query({
    name: 'groups-sum',
    text: `update issues i set
             event_count = s.event_count, first_seen = s.first_seen, last_seen = s.last_seen, is_unhandled = s.is_unhandled,
             event_severity = s.event_severity, first_release = s.first_release, last_release = s.last_release,
             level = s.level, last_event_id = s.last_event_id,
             title = o.title, culprit = o.culprit, error_type = o.error_type, error_value = o.error_value,
             merged_count = s.groups - 1
           from (
             select issue_id, count(*)::int as groups, sum(event_count)::bigint as event_count, min(first_seen) as first_seen, max(last_seen) as last_seen,
               bool_or(is_unhandled) as is_unhandled, max(event_severity) as event_severity,
               (array_agg(first_release order by first_seen, id))[1] as first_release,
               (array_agg(last_release order by last_seen desc, id desc) filter (where last_release is not null))[1] as last_release,
               (array_agg(level order by last_seen desc, id desc))[1] as level,
               (array_agg(last_event_id order by last_seen desc, id desc))[1] as last_event_id
             from issue_groups where issue_id = any($1::uuid[]) group by issue_id
           ) s join issue_groups o on o.id = s.issue_id
           where i.id = s.issue_id`,
    values: [issueIds],
  })
}

export type AdoptedCounts = {
  readonly groupId: string
  readonly issueId: string
  readonly events: number
  readonly users: number
  readonly firstSeen: Date
  readonly lastSeen: Date
}

/** Adds what another service counted to a group of a locked issue. Users there and here may be the same: the larger number stays. */
export async function adoptCounts(tx: Tx, adopted: AdoptedCounts): Promise<void> {
  const { groupId, issueId, events, users, firstSeen, lastSeen } = adopted
  await tx.query(
    `update issue_groups set event_count = event_count + $2, user_count = greatest(user_count, $3),
       first_seen = least(first_seen, $4), last_seen = greatest(last_seen, $5) where id = $1`,
    [groupId, events, users, firstSeen, lastSeen],
  )
  await sumGroups(tx, [issueId])
  await tx.query('update issues set user_count = greatest(user_count, $2) where id = $1', [issueId, users])
}

/**
 * Counts the users of the groups of locked issues, each user once: sets `user_count`, and `users_today` for the newest day
 * on which one was seen. Erased users stay in the counts of their groups, and no issue has fewer users than one of these.
 */
export async function recountGroupUsers(tx: Tx, issueIds: readonly string[]): Promise<void> {
  await tx.query(
    `with users as (
       select g.issue_id, u.user_hash, date '1970-01-01' + nullif(max(u.seen_slot), 0) / ${SLOTS_PER_DAY} as day
       from issue_groups g join issue_users u on u.group_id = g.id
       where g.issue_id = any($1::uuid[]) group by g.issue_id, u.user_hash
     ), days as (
       select issue_id, day, count(*)::int as users from users group by issue_id, day
     ), counted as (
       select i.id, greatest(i.users_day, (select max(d.day) from days d where d.issue_id = i.id)) as day,
         greatest((select sum(d.users) from days d where d.issue_id = i.id),
           (select max(g.user_count) from issue_groups g where g.issue_id = i.id)) as users
       from issues i where i.id = any($1::uuid[])
     )
     update issues i set user_count = c.users, users_day = c.day, users_today = coalesce(d.users, 0)
     from counted c left join days d on d.issue_id = c.id and d.day = c.day
     where i.id = c.id`,
    [issueIds],
  )
}

/**
 * Sets the users of locked issues to those of their largest group, and none of today: until {@link recountGroupUsers} runs, the
 * numbers are never above the truth.
 */
export async function estimateUsers(tx: Tx, issueIds: readonly string[]): Promise<void> {
  await tx.query(
    `update issues i set user_count = g.users, users_today = 0
     from (select issue_id, max(user_count) as users from issue_groups where issue_id = any($1::uuid[]) group by issue_id) g
     where i.id = g.issue_id`,
    [issueIds],
  )
}
