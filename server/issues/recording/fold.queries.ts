import { impactFrom, type ImpactRow, type IssueImpact } from '../rules/impact.ts'
import { LIFE_COLUMNS, lifeFrom, type LifeRow } from '../rules/life-columns.ts'
import { type Life, HISTORY_MS, type HourHistory } from '../rules/life-cycle.ts'
import { beforeSlot, toSlot } from '../rules/count-window.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { ReleaseFacts } from '../../projects/releases/order.ts'
import type { EscalatingRules } from '../rules/issue-settings.api.ts'
import { StoredEscalating } from '../rules/issue-settings.ts'

/** SQL of folding: groups count, and issues show the sum of their groups. Rows are written in a fixed order. */

/** The maximum number of events in this hour; an issue with more of them escalates. */
export type HourlyLimit = { readonly hour: Date; readonly events: number }

/** The locked issue that shows a group. */
export type LockedIssue = {
  readonly issueId: string
  /** Whether it shows other groups too. */
  readonly isMerged: boolean
  readonly life: Life
  readonly impact: IssueImpact
  /** Null when none was computed yet. */
  readonly limit: HourlyLimit | null
}

/**
 * Locks the issues that show groups, in the order of their ids. The caller holds the lock of the relation.
 * @returns by group id; a deleted group is missing
 */
export async function lockIssuesOfGroups(tx: Tx, groupIds: readonly string[]): Promise<Map<string, LockedIssue>> {
  if (groupIds.length === 0) return new Map()
  const { rows } = await tx.query<
    LifeRow &
      ImpactRow & {
        group_id: string
        id: string
        merged_count: number
        hourly_limit: number | null
        limit_hour: Date | null
      }
  >({
    name: 'fold-lock-issues',
    text: `select g.id as group_id, i.id, i.merged_count, i.severity, i.severity_pinned, i.event_severity, i.users_day, i.users_today, i.high_impact_day,
             i.hourly_limit, i.limit_hour, ${LIFE_COLUMNS.map((column) => `i.${column}`).join(', ')}
           from issue_groups g join issues i on i.id = g.issue_id
           where g.id = any($1::uuid[]) order by i.id for no key update of i`,
    values: [groupIds],
  })
  return new Map(
    rows.map((row) => [
      row.group_id,
      {
        issueId: row.id,
        isMerged: row.merged_count > 0,
        life: lifeFrom(row),
        impact: impactFrom(row),
        limit:
          row.hourly_limit === null || row.limit_hour === null
            ? null
            : { hour: row.limit_hour, events: row.hourly_limit },
      },
    ]),
  )
}

export type NewUsers = {
  readonly groupId: string
  /** Number of users that are new to the group. */
  readonly added: number
  /** Number of users that are counted today for the first time. */
  readonly today: number
  /** The hashes of both; empty for groups that are not in `named`. */
  readonly addedHashes: readonly number[]
  readonly todayHashes: readonly number[]
}

/** A user of a group in a slot. */
export type SeenUser = {
  readonly groupId: string
  readonly userHash: number
  readonly slot: number
  /** The slot before, in the same fold. */
  readonly previous: number | null
  /** Whether no later slot of the same user follows. */
  readonly isLast: boolean
}

/**
 * Adds users to groups, and to the slots in which they were seen. Slots up to the last known one of a user add nothing.
 * @param startOfToday first slot of the day
 * @param named groups whose new users are returned
 */
export async function addUsers(
  tx: Tx,
  seen: readonly SeenUser[],
  startOfToday: number,
  named: readonly string[],
): Promise<NewUsers[]> {
  if (seen.length === 0) return []
  const { rows } = await tx.query<{
    group_id: string
    added: number
    today: number
    added_hashes: number[] | null
    today_hashes: number[] | null
  }>({
    name: 'fold-add-users',
    // Users counted already are skipped first, because a conflict locks, and so writes, the row. The subquery is always a
    // look-up; a join may read the whole table. The issue of the group is locked, so that no other fold changes the rows.
    text: `with arrived as materialized (
             select k.*, (select u.seen_slot from issue_users u where u.group_id = k.group_id and u.user_hash = k.user_hash) as seen
             from unnest($1::uuid[], $2::bigint[], $3::int[], $4::int[], $5::bool[]) k (group_id, user_hash, slot, previous, is_last)
           ), due as materialized (
             select *, greatest(previous, seen, 0) as before from arrived where seen is null or seen < slot
           ), stored as (
             insert into issue_users (group_id, user_hash, seen_slot) select group_id, user_hash, slot from due where is_last
             on conflict (group_id, user_hash) do update set seen_slot = excluded.seen_slot
           ), counted as (
             insert into issue_user_slots as s (group_id, slot, before_slot, users)
             select group_id, slot, ${beforeSlot('slot', 'before')}, count(*) from due group by 1, 2, 3
             on conflict (group_id, slot, before_slot) do update set users = s.users + excluded.users
           ), gained as (
             select group_id, user_hash, seen is null as is_new, slot >= $6 and coalesce(seen, 0) < $6 as is_today
             from due where is_last)
           select group_id, count(*) filter (where is_new)::int as added, count(*) filter (where is_today)::int as today,
             array_agg(user_hash::float8) filter (where is_new and group_id = any($7::uuid[])) as added_hashes,
             array_agg(user_hash::float8) filter (where is_today and group_id = any($7::uuid[])) as today_hashes
           from gained where is_new or is_today group by group_id`,
    values: [
      seen.map((one) => one.groupId),
      seen.map((one) => one.userHash),
      seen.map((one) => one.slot),
      seen.map((one) => one.previous),
      seen.map((one) => one.isLast),
      startOfToday,
      named,
    ],
  })
  return rows.map((row) => ({
    groupId: row.group_id,
    added: row.added,
    today: row.today,
    addedHashes: row.added_hashes ?? [],
    todayHashes: row.today_hashes ?? [],
  }))
}

/** In how many groups of an issue users are counted, and in how many today. */
export async function groupsOfUsers(
  tx: Tx,
  users: readonly { issueId: string; userHash: number }[],
  startOfToday: number,
): Promise<{ readonly issueId: string; readonly userHash: number; readonly groups: number; readonly today: number }[]> {
  const { rows } = await tx.query<{ issue_id: string; user_hash: number; groups: number; today: number }>({
    name: 'fold-groups-of-users',
    text: `select k.issue_id, k.user_hash::float8 as user_hash, count(*)::int as groups, count(*) filter (where u.seen_slot >= $3)::int as today
           from unnest($1::uuid[], $2::bigint[]) k (issue_id, user_hash)
           -- From the user: an issue may have many groups.
           cross join lateral (
             select u.group_id, u.seen_slot from issue_users u where u.user_hash = k.user_hash offset 0
           ) u
           join issue_groups g on g.id = u.group_id and g.issue_id = k.issue_id
           group by k.issue_id, k.user_hash`,
    values: [users.map((one) => one.issueId), users.map((one) => one.userHash), startOfToday],
  })
  return rows.map((row) => ({
    issueId: row.issue_id,
    userHash: row.user_hash,
    groups: row.groups,
    today: row.today,
  }))
}

type GroupAddition = {
  readonly groupId: string
  readonly events: number
  readonly newUsers: number
  readonly firstSeen: Date
  /** Release of the oldest event. */
  readonly firstRelease: string | null
  readonly isUnhandled: boolean
  readonly eventSeverity: number
  readonly lastSeen: Date
  /** Values of the newest event. */
  readonly newest: {
    readonly eventId: string
    readonly release: string | null
    readonly title: string
    readonly culprit: string
    readonly errorType: string | null
    readonly errorValue: string | null
    readonly level: string
  }
  /** Impact of the issue that shows the group. */
  readonly impact: IssueImpact
}

/**
 * Adds to groups, and sets the issues that show only their own group to the same facts. Title, culprit, level and release
 * come from the newest event by time of occurrence, the first release from the oldest.
 */
export function addToGroups(tx: Tx, additions: readonly GroupAddition[]): void {
  if (additions.length === 0) return
  const of = <T>(pick: (addition: GroupAddition) => T): T[] => additions.map(pick)
  tx.send({
    name: 'fold-add-to-groups',
    text: `with counted as (
             update issue_groups g set
               event_count = g.event_count + k.events,
               user_count = g.user_count + k.new_users,
               first_release = case when k.first_seen < g.first_seen then coalesce(k.first_release, g.first_release) else g.first_release end,
               first_seen = least(g.first_seen, k.first_seen),
               last_seen = greatest(g.last_seen, k.last_seen),
               title = case when k.last_seen >= g.last_seen then k.title else g.title end,
               culprit = case when k.last_seen >= g.last_seen then k.culprit else g.culprit end,
               error_type = case when k.last_seen >= g.last_seen then k.error_type else g.error_type end,
               error_value = case when k.last_seen >= g.last_seen then k.error_value else g.error_value end,
               level = case when k.last_seen >= g.last_seen then k.level else g.level end,
               last_release = case when k.last_seen >= g.last_seen then coalesce(k.release, g.last_release) else g.last_release end,
               last_event_id = case when k.last_seen >= g.last_seen then k.event_id else g.last_event_id end,
               is_unhandled = g.is_unhandled or k.is_unhandled,
               event_severity = greatest(g.event_severity, k.event_severity)
             from unnest($1::uuid[], $2::int[], $3::int[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
               $11::text[], $12::bool[], $13::smallint[], $14::uuid[], $15::text[])
               k (id, events, new_users, first_seen, last_seen, title, culprit, error_type, error_value, level, release, is_unhandled, event_severity, event_id, first_release)
             where g.id = k.id
             returning g.*)
           update issues i set
             event_count = g.event_count, user_count = g.user_count, first_seen = g.first_seen, last_seen = g.last_seen,
             first_release = g.first_release, last_release = g.last_release, title = g.title, culprit = g.culprit,
             error_type = g.error_type, error_value = g.error_value, level = g.level, last_event_id = g.last_event_id,
             is_unhandled = g.is_unhandled,
             severity = k.severity, event_severity = k.event_severity, users_day = k.users_day, users_today = k.users_today, high_impact_day = k.high_impact_day
           from counted g
           join unnest($1::uuid[], $16::smallint[], $17::smallint[], $18::date[], $19::int[], $20::date[])
             k (id, severity, event_severity, users_day, users_today, high_impact_day) on k.id = g.id
           where i.id = g.issue_id and i.merged_count = 0`,
    values: [
      of((a) => a.groupId),
      of((a) => a.events),
      of((a) => a.newUsers),
      of((a) => a.firstSeen),
      of((a) => a.lastSeen),
      of((a) => a.newest.title),
      of((a) => a.newest.culprit),
      of((a) => a.newest.errorType),
      of((a) => a.newest.errorValue),
      of((a) => a.newest.level),
      of((a) => a.newest.release),
      of((a) => a.isUnhandled),
      of((a) => a.eventSeverity),
      of((a) => a.newest.eventId),
      of((a) => a.firstRelease),
      of((a) => a.impact.severity),
      of((a) => a.impact.eventSeverity),
      of((a) => a.impact.usersDay),
      of((a) => a.impact.usersToday),
      of((a) => a.impact.highImpactDay),
    ],
  })
}

type AddedImpact = { readonly issueId: string; readonly newUsers: number; readonly impact: IssueImpact }

/** Adds users to issues, and sets their impact; of issues that show several groups, `sumGroups` sets the other facts. */
export function addToImpacts(tx: Tx, issues: readonly AddedImpact[]): void {
  if (issues.length === 0) return
  const of = <T>(pick: (issue: AddedImpact) => T): T[] => issues.map(pick)
  tx.send({
    name: 'fold-add-to-impacts',
    text: `update issues i set user_count = i.user_count + k.new_users,
             severity = k.severity, event_severity = k.event_severity, users_day = k.users_day, users_today = k.users_today, high_impact_day = k.high_impact_day
           from unnest($1::uuid[], $2::int[], $3::smallint[], $4::smallint[], $5::date[], $6::int[], $7::date[])
             k (id, new_users, severity, event_severity, users_day, users_today, high_impact_day)
           where i.id = k.id`,
    values: [
      of((i) => i.issueId),
      of((i) => i.newUsers),
      of((i) => i.impact.severity),
      of((i) => i.impact.eventSeverity),
      of((i) => i.impact.usersDay),
      of((i) => i.impact.usersToday),
      of((i) => i.impact.highImpactDay),
    ],
  })
}

type HourKey = { readonly id: string; readonly at: Date }
export type CountedHour = HourKey & { readonly events: number }

/** Events of an hour and of its quarters. */
export type HourSums = {
  readonly id: string
  readonly at: number
  events: number
  readonly quarters: number[]
  fatal: number
  readonly fatalQuarters: number[]
}

/**
 * Adds events to hours of groups.
 * @param merged groups whose issue shows other groups too
 * @returns the hours since `since` that have at least `minEvents` now, or belong to `merged`; ids are of groups
 */
export async function addHours(
  tx: Tx,
  rows: readonly HourSums[],
  since: Date,
  minEvents: number,
  merged: readonly string[],
): Promise<CountedHour[]> {
  const { rows: counted } = await tx.query<{ group_id: string; hour: Date; events: number }>({
    name: 'fold-add-hours',
    text: `with counted as (
             insert into issue_hours as h (group_id, hour, events, events_1, events_2, events_3, fatal, fatal_1, fatal_2, fatal_3)
             select * from unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::int[], $9::int[], $10::int[])
             on conflict (group_id, hour) do update set events = h.events + excluded.events,
               events_1 = h.events_1 + excluded.events_1, events_2 = h.events_2 + excluded.events_2, events_3 = h.events_3 + excluded.events_3,
               fatal = h.fatal + excluded.fatal,
               fatal_1 = h.fatal_1 + excluded.fatal_1, fatal_2 = h.fatal_2 + excluded.fatal_2, fatal_3 = h.fatal_3 + excluded.fatal_3
             returning group_id, hour, events)
           select * from counted where hour >= $11 and (events >= $12 or group_id = any($13::uuid[]))`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => new Date(row.at)),
      rows.map((row) => row.events),
      rows.map((row) => row.quarters[0] ?? 0),
      rows.map((row) => row.quarters[1] ?? 0),
      rows.map((row) => row.quarters[2] ?? 0),
      rows.map((row) => row.fatal),
      rows.map((row) => row.fatalQuarters[0] ?? 0),
      rows.map((row) => row.fatalQuarters[1] ?? 0),
      rows.map((row) => row.fatalQuarters[2] ?? 0),
      since,
      minEvents,
      merged,
    ],
  })
  return counted.map((row) => ({ id: row.group_id, at: row.hour, events: row.events }))
}

/** The events in hours of issues, over all their groups; ids are of issues. */
export async function sumHours(tx: Tx, hours: readonly HourKey[]): Promise<CountedHour[]> {
  const { rows } = await tx.query<{ issue_id: string; hour: Date; events: number }>({
    name: 'fold-sum-hours',
    text: `select k.issue_id, k.hour, sum(h.events)::int as events
           from (select distinct * from unnest($1::uuid[], $2::timestamptz[]) k (issue_id, hour)) k
           join issue_groups g on g.issue_id = k.issue_id join issue_hours h on h.group_id = g.id and h.hour = k.hour
           group by k.issue_id, k.hour`,
    values: [hours.map((one) => one.id), hours.map((one) => one.at)],
  })
  return rows.map((row) => ({ id: row.issue_id, at: row.hour, events: row.events }))
}

/** Deletes at most `max` users of slots before a time. Concurrent callers skip each other's rows. */
export async function deleteUserSlotsBefore(on: Connection, before: Date, max: number): Promise<number> {
  const { rowCount } = await on.query(
    `delete from issue_user_slots where ctid = any(array(
       select ctid from issue_user_slots where slot < $1 limit $2 for update skip locked))`,
    [toSlot(before.getTime()), max],
  )
  return rowCount ?? 0
}

/** SQL of transitions by events: at most one statement of each kind per batch, only when one of its issues needs it. */

type FoundHistory = HourKey & { readonly history: HourHistory; readonly rules: EscalatingRules }

/** Statistics of the hours before, and the project's rules. Reads at most 336 rows for each issue, once an hour. */
export async function hourHistories(tx: Tx, hours: readonly HourKey[]): Promise<FoundHistory[]> {
  const { rows } = await tx.query<{
    id: string
    hour: Date
    first_seen: Date
    rules: unknown
    busy: number
    sum: number
    squares: number
    largest: number
    median: number
  }>({
    name: 'record-hour-histories',
    text: `select k.id, k.hour, i.first_seen, p.settings -> 'escalating' as rules, count(h.hour)::int as busy,
             coalesce(sum(h.events), 0)::float8 as sum, coalesce(sum(h.events::float8 * h.events), 0) as squares,
             coalesce(max(h.events), 0) as largest,
             coalesce(percentile_cont(0.5) within group (order by h.events), 0) as median
           from unnest($1::uuid[], $2::timestamptz[]) k (id, hour)
           join issues i on i.id = k.id join projects p on p.id = i.project_id
           left join lateral (
             select h.hour, sum(h.events)::int as events from issue_groups g join issue_hours h on h.group_id = g.id
             where g.issue_id = k.id and h.hour < k.hour and h.hour >= k.hour - make_interval(secs => $3) group by h.hour
           ) h on true
           group by k.id, k.hour, i.id, p.id`,
    values: [hours.map((hour) => hour.id), hours.map((hour) => hour.at), HISTORY_MS / 1000],
  })
  return rows.map((row) => ({
    id: row.id,
    at: row.hour,
    rules: StoredEscalating.parse(row.rules),
    history: {
      hour: row.hour,
      firstSeen: row.first_seen,
      busyHours: row.busy,
      sum: row.sum,
      sumOfSquares: row.squares,
      largest: row.largest,
      busyMedian: row.median,
    },
  }))
}

/** Stores limits with the issues, for the rest of their hour. */
export async function storeLimits(tx: Tx, limits: readonly (HourKey & { readonly limit: number })[]): Promise<void> {
  await tx.query({
    name: 'record-store-limits',
    text: `update issues i set hourly_limit = k.hourly_limit, limit_hour = k.hour
           from unnest($1::uuid[], $2::timestamptz[], $3::int[]) k (id, hour, hourly_limit) where i.id = k.id`,
    values: [limits.map((one) => one.id), limits.map((one) => one.at), limits.map((one) => one.limit)],
  })
}

export type ReleaseKey = { readonly projectId: string; readonly version: string }

/** Facts of existing releases, by project and version. */
export async function releaseFacts(
  tx: Tx,
  keys: readonly ReleaseKey[],
): Promise<Map<string, Map<string, ReleaseFacts>>> {
  const { rows } = await tx.query<{
    project_id: string
    version: string
    released_at: Date | null
    created_at: Date
    first_seen_at: Date | null
  }>({
    name: 'record-release-facts',
    text: `select r.project_id, r.version, r.released_at, r.created_at, r.first_seen_at
           from unnest($1::uuid[], $2::text[]) k (project_id, version)
           join releases r on r.project_id = k.project_id and r.version = k.version`,
    values: [keys.map((key) => key.projectId), keys.map((key) => key.version)],
  })
  const byProject = new Map<string, Map<string, ReleaseFacts>>()
  for (const row of rows) {
    const byVersion = byProject.get(row.project_id) ?? new Map<string, ReleaseFacts>()
    byProject.set(row.project_id, byVersion)
    byVersion.set(row.version, {
      version: row.version,
      releasedAt: row.released_at,
      createdAt: row.created_at,
      firstSeenAt: row.first_seen_at,
    })
  }
  return byProject
}
