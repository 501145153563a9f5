import type { Tx } from '../storage/database.ts'
import type { Occurrence } from './occurrence.ts'

/** SQL of digestion that keeps the own facts of each merged issue (`merged_issues`). */

export type MergedIssueAddition = {
  readonly id: string
  readonly events: number
  readonly firstSeen: Date
  /** Of the oldest event. */
  readonly firstRelease: string | null
  readonly newest: Occurrence
  readonly isUnhandled: boolean
  readonly eventSeverity: number
}

/**
 * `addToIssues` for merged issues. The title of a merge target follows its own events only.
 * @returns by issue id, the id under which its own hours and users are stored
 */
export async function addToMergedIssues(
  tx: Tx,
  additions: readonly MergedIssueAddition[],
): Promise<Map<string, string>> {
  const of = <T>(pick: (addition: MergedIssueAddition) => T): T[] => additions.map(pick)
  const { rows } = await tx.query<{ issue_id: string; own_id: string }>({
    name: 'merged-issues-add',
    text: `with added as (
           update merged_issues m set
             event_count = m.event_count + k.events,
             first_release = case when k.first_seen < m.first_seen then coalesce(k.first_release, m.first_release) else m.first_release end,
             first_seen = least(m.first_seen, k.first_seen),
             last_seen = greatest(m.last_seen, k.last_seen),
             title = case when k.last_seen >= m.last_seen then k.title else m.title end,
             culprit = case when k.last_seen >= m.last_seen then k.culprit else m.culprit end,
             error_type = case when k.last_seen >= m.last_seen then k.error_type else m.error_type end,
             error_value = case when k.last_seen >= m.last_seen then k.error_value else m.error_value end,
             level = case when k.last_seen >= m.last_seen then k.level else m.level end,
             last_release = case when k.last_seen >= m.last_seen then coalesce(k.release, m.last_release) else m.last_release end,
             last_event_id = case when k.last_seen >= m.last_seen then k.event_id else m.last_event_id end,
             is_unhandled = m.is_unhandled or k.is_unhandled,
             event_severity = greatest(m.event_severity, k.event_severity)
           from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
             $10::text[], $11::bool[], $12::smallint[], $13::uuid[], $14::text[])
             k (id, events, first_seen, last_seen, title, culprit, error_type, error_value, level, release, is_unhandled, event_severity, event_id, first_release)
           where m.issue_id = k.id
           returning m.issue_id, m.own_id, m.target_id, m.title, m.culprit, m.error_type, m.error_value
         ), named as (
           update issues i set title = a.title, culprit = a.culprit, error_type = a.error_type, error_value = a.error_value
           from added a
           where i.id = a.issue_id and a.target_id = a.issue_id
             and (i.title, i.culprit, i.error_type, i.error_value) is distinct from (a.title, a.culprit, a.error_type, a.error_value)
         )
         select issue_id, own_id from added`,
    values: [
      of((a) => a.id),
      of((a) => a.events),
      of((a) => a.firstSeen),
      of((a) => a.newest.event.occurredAt),
      of((a) => a.newest.title),
      of((a) => a.newest.culprit),
      of((a) => a.newest.errorType),
      of((a) => a.newest.errorValue),
      of((a) => a.newest.level),
      of((a) => a.newest.event.release),
      of((a) => a.isUnhandled),
      of((a) => a.eventSeverity),
      of((a) => a.newest.event.eventId),
      of((a) => a.firstRelease),
    ],
  })
  return new Map(rows.map((row) => [row.issue_id, row.own_id]))
}

export async function addMergedIssueHours(
  tx: Tx,
  rows: readonly { id: string; at: number; events: number }[],
): Promise<void> {
  await tx.query({
    name: 'merged-issues-add-hours',
    text: `insert into issue_hours (issue_id, hour, events)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::int[])
           on conflict (issue_id, hour) do update set events = issue_hours.events + excluded.events`,
    values: [rows.map((row) => row.id), rows.map((row) => new Date(row.at)), rows.map((row) => row.events)],
  })
}

export async function addMergedIssueUsers(
  tx: Tx,
  rows: readonly { id: string; userHash: number; day: string }[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
    name: 'merged-issues-add-users',
    // As `record-insert-users`: users already counted on that day are skipped before they would be locked.
    text: `with due as (
             select k.* from unnest($1::uuid[], $2::bigint[], $3::date[]) k (issue_id, user_hash, day)
             left join issue_users u on u.issue_id = k.issue_id and u.user_hash = k.user_hash
             where u.issue_id is null or u.seen_day is null or u.seen_day < k.day
           )
           insert into issue_users as u (issue_id, user_hash, seen_day) select * from due
           on conflict (issue_id, user_hash) do update set seen_day = excluded.seen_day
             where u.seen_day is null or u.seen_day < excluded.seen_day`,
    values: [rows.map((row) => row.id), rows.map((row) => row.userHash), rows.map((row) => row.day)],
  })
}
