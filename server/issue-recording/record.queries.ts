import type { Connection, Tx } from '../storage/database.ts'
import type { GroupingPart } from '../grouping/grouping.api.ts'
import { impactFrom, type ImpactRow, type IssueImpact } from '../issue-rules/impact.ts'
import { LIFE_COLUMNS, lifeFrom, type LifeRow } from '../issue-rules/life-columns.ts'
import type { Life } from '../issue-rules/life-cycle.ts'
import { partsText } from '../grouping/parts-text.ts'
import type { FingerprintKey } from '../issue-merging/discards.queries.ts'
import type { HourlyLimit, Occurrence } from './occurrence.ts'

/** SQL of digestion: one prepared statement per batch and kind of fact, with arrays as parameters and rows in a fixed order. */

export type { FingerprintKey }

/** An issue's row when this transaction locked it. */
export type FoundIssue = {
  readonly issueId: string
  /** The issue under which events of the fingerprint are stored; differs from `issueId` when that is its merge target. */
  readonly sourceId: string
  /** Whether it is a merge target. */
  readonly isMerged: boolean
  /** Whether it was merged into another issue after the fingerprint was looked up. */
  readonly isHidden: boolean
  readonly life: Life
  readonly impact: IssueImpact
  /** Null when none was computed yet. */
  readonly limit: HourlyLimit | null
}

type FoundRow = LifeRow &
  ImpactRow & {
    project_id: string
    hash: Buffer
    source_id: string
    merged_count: number
    merged_into: string | null
    id: string
    hourly_limit: number | null
    limit_hour: Date | null
  }

/** Issues of fingerprints, locked in the order of their ids; keyed by project id and base64 of the hash. */
export async function lockIssuesByFingerprint(
  tx: Tx,
  keys: readonly FingerprintKey[],
): Promise<Map<string, FoundIssue>> {
  const { rows } = await tx.query<FoundRow>({
    name: 'record-lock-issues',
    text: `select f.project_id, f.hash, f.source_id, i.merged_count, i.merged_into, i.id, i.severity, i.severity_pinned, i.event_severity, i.users_day, i.users_today, i.high_impact_day,
             i.hourly_limit, i.limit_hour, ${LIFE_COLUMNS.map((column) => `i.${column}`).join(', ')}
           from unnest($1::uuid[], $2::text[]) k (project_id, hash)
           join issue_fingerprints f on f.project_id = k.project_id and f.hash = decode(k.hash, 'base64')
           join issues i on i.id = f.issue_id
           order by i.id
           for no key update of i`,
    values: [keys.map((key) => key.projectId), keys.map((key) => key.hash.toString('base64'))],
  })
  return new Map(rows.map((row) => [row.project_id + row.hash.toString('base64'), foundIssue(row)]))
}

const foundIssue = (row: FoundRow): FoundIssue => ({
  issueId: row.id,
  sourceId: row.source_id,
  isMerged: row.merged_count > 0,
  isHidden: row.merged_into !== null,
  life: lifeFrom(row),
  impact: impactFrom(row),
  limit:
    row.hourly_limit === null || row.limit_hour === null ? null : { hour: row.limit_hour, events: row.hourly_limit },
})

export type NewIssue = {
  id: string
  number: number
  occurrence: Occurrence
  firstRelease: string | null
  severity: number
}

/** Inserts issues with counts of zero; {@link addToIssues} follows in the same transaction. */
export async function insertIssues(tx: Tx, now: Date, issues: readonly NewIssue[]): Promise<void> {
  const of = <T>(pick: (issue: NewIssue) => T): T[] => issues.map(pick)
  await tx.query({
    name: 'record-insert-issues',
    text: `insert into issues (id, org_id, project_id, number, title, culprit, error_type, error_value, level, platform, status, status_changed_at, open_since,
             severity, first_seen, last_seen, first_release, last_release, is_unhandled, created_at)
           select k.id, k.org_id, k.project_id, k.number, k.title, k.culprit, k.error_type, k.error_value, k.level, k.platform, 'unresolved', $16::timestamptz, $16::timestamptz,
             k.severity, k.seen, k.seen, k.first_release, k.last_release, k.is_unhandled, $16::timestamptz
           from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
             $11::smallint[], $12::timestamptz[], $13::text[], $14::text[], $15::bool[])
             k (id, org_id, project_id, number, title, culprit, error_type, error_value, level, platform, severity, seen, first_release, last_release, is_unhandled)`,
    values: [
      of((i) => i.id),
      of((i) => i.occurrence.orgId),
      of((i) => i.occurrence.event.projectId),
      of((i) => i.number),
      of((i) => i.occurrence.title),
      of((i) => i.occurrence.culprit),
      of((i) => i.occurrence.errorType),
      of((i) => i.occurrence.errorValue),
      of((i) => i.occurrence.level),
      of((i) => i.occurrence.platform),
      of((i) => i.severity),
      of((i) => i.occurrence.event.occurredAt),
      of((i) => i.firstRelease),
      of((i) => i.occurrence.event.release),
      of((i) => i.occurrence.isUnhandled),
      now,
    ],
  })
}

/** @throws Error when a fingerprint exists already, because another digester inserted it: roll back and retry */
export async function insertFingerprints(
  tx: Tx,
  now: Date,
  rows: readonly {
    projectId: string
    issueId: string
    sourceId: string
    version: number
    hash: Buffer
    parts: readonly GroupingPart[]
  }[],
): Promise<void> {
  await tx.query({
    name: 'record-insert-fingerprints',
    text: `insert into issue_fingerprints (project_id, hash, issue_id, source_id, grouping_version, parts, created_at)
           select k.project_id, decode(k.hash, 'base64'), k.issue_id, k.source_id, k.version, k.parts::jsonb, $6::timestamptz
           from unnest($1::uuid[], $2::text[], $3::uuid[], $4::smallint[], $5::text[], $7::uuid[]) k (project_id, hash, issue_id, version, parts, source_id)`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.hash.toString('base64')),
      rows.map((row) => row.issueId),
      rows.map((row) => row.version),
      rows.map((row) => partsText(row.parts)),
      now,
      rows.map((row) => row.sourceId),
    ],
  })
}

export type NewActivity = {
  id: string
  issueId: string
  kind: string
  sentence: string
  data: Record<string, unknown>
  createdAt: Date
}

/** Inserts activity entries without an actor. */
export async function insertActivity(tx: Tx, rows: readonly NewActivity[]): Promise<void> {
  await tx.query({
    name: 'record-insert-activity',
    text: `insert into issue_activity (id, issue_id, kind, sentence, data, created_at)
           select k.id, k.issue_id, k.kind, k.sentence, k.data::jsonb, k.created_at
           from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[]) k (id, issue_id, kind, sentence, data, created_at)`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.issueId),
      rows.map((row) => row.kind),
      rows.map((row) => row.sentence),
      rows.map((row) => JSON.stringify(row.data)),
      rows.map((row) => row.createdAt),
    ],
  })
}

/** By issue, the number of new pairs and of pairs that were not yet counted on `today`. */
export type CountedUsers = { readonly added: number; readonly today: number }

/**
 * @param pairs with the newest UTC day on which the user was affected
 * @param awaited issues whose new users are returned
 */
export async function insertUsers(
  tx: Tx,
  pairs: readonly { issueId: string; userHash: number; day: string }[],
  today: string,
  awaited: readonly string[],
): Promise<Map<string, CountedUsers & { readonly new_users: readonly number[] | null }>> {
  if (pairs.length === 0) return new Map()
  const { rows } = await tx.query<CountedUsers & { issue_id: string; new_users: number[] | null }>({
    name: 'record-insert-users',
    // Users counted already are skipped first, because a conflict locks, and so writes, the row. The xmax of an inserted
    // row is 0: it was never locked or updated.
    text: `with due as (
             select k.* from unnest($1::uuid[], $2::bigint[], $3::date[]) k (issue_id, user_hash, day)
             left join issue_users u on u.issue_id = k.issue_id and u.user_hash = k.user_hash
             where u.issue_id is null or u.seen_day is null or u.seen_day < k.day
           ), counted as (
             insert into issue_users as u (issue_id, user_hash, seen_day) select * from due
             on conflict (issue_id, user_hash) do update set seen_day = excluded.seen_day
               where u.seen_day is null or u.seen_day < excluded.seen_day
             returning issue_id, user_hash, xmax = 0 as is_new, seen_day)
           select issue_id, count(*) filter (where is_new) as added, count(*) filter (where seen_day = $4::date) as today,
             array_agg(user_hash::float8) filter (where is_new and issue_id = any($5::uuid[])) as new_users
           from counted group by issue_id`,
    values: [
      pairs.map((pair) => pair.issueId),
      pairs.map((pair) => pair.userHash),
      pairs.map((pair) => pair.day),
      today,
      awaited,
    ],
  })
  return new Map(rows.map((row) => [row.issue_id, row]))
}

export type IssueAddition = {
  id: string
  events: number
  newUsers: number
  firstSeen: Date
  /** Of the oldest event. */
  firstRelease: string | null
  lastSeen: Date
  title: string
  culprit: string
  errorType: string | null
  errorValue: string | null
  level: string
  release: string | null
  isUnhandled: boolean
  impact: IssueImpact
  eventId: string
  /** Whether it is a merge target. */
  isMerged: boolean
}

/**
 * Adds counts and extends first and last seen. Title, culprit, level and release come from the newest event by time of
 * occurrence, the first release from the oldest. `addToMergedIssues` sets the title of merge targets.
 */
export async function addToIssues(tx: Tx, additions: readonly IssueAddition[]): Promise<void> {
  const of = <T>(pick: (addition: IssueAddition) => T): T[] => additions.map(pick)
  await tx.query({
    name: 'record-add-to-issues',
    text: `update issues i set
             event_count = i.event_count + k.events,
             user_count = i.user_count + k.new_users,
             first_release = case when k.first_seen < i.first_seen then coalesce(k.first_release, i.first_release) else i.first_release end,
             first_seen = least(i.first_seen, k.first_seen),
             last_seen = greatest(i.last_seen, k.last_seen),
             title = case when k.last_seen >= i.last_seen and not k.is_merged then k.title else i.title end,
             culprit = case when k.last_seen >= i.last_seen and not k.is_merged then k.culprit else i.culprit end,
             error_type = case when k.last_seen >= i.last_seen and not k.is_merged then k.error_type else i.error_type end,
             error_value = case when k.last_seen >= i.last_seen and not k.is_merged then k.error_value else i.error_value end,
             level = case when k.last_seen >= i.last_seen then k.level else i.level end,
             last_release = case when k.last_seen >= i.last_seen then coalesce(k.release, i.last_release) else i.last_release end,
             last_event_id = case when k.last_seen >= i.last_seen then k.event_id else i.last_event_id end,
             is_unhandled = i.is_unhandled or k.is_unhandled,
             severity = k.severity, event_severity = k.event_severity, users_day = k.users_day, users_today = k.users_today, high_impact_day = k.high_impact_day
           from unnest($1::uuid[], $2::int[], $3::int[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
             $11::text[], $12::bool[], $13::smallint[], $14::uuid[], $15::smallint[], $16::date[], $17::int[], $18::date[], $19::text[], $20::bool[])
             k (id, events, new_users, first_seen, last_seen, title, culprit, error_type, error_value, level, release, is_unhandled, severity, event_id, event_severity, users_day, users_today, high_impact_day, first_release, is_merged)
           where i.id = k.id`,
    values: [
      of((a) => a.id),
      of((a) => a.events),
      of((a) => a.newUsers),
      of((a) => a.firstSeen),
      of((a) => a.lastSeen),
      of((a) => a.title),
      of((a) => a.culprit),
      of((a) => a.errorType),
      of((a) => a.errorValue),
      of((a) => a.level),
      of((a) => a.release),
      of((a) => a.isUnhandled),
      of((a) => a.impact.severity),
      of((a) => a.eventId),
      of((a) => a.impact.eventSeverity),
      of((a) => a.impact.usersDay),
      of((a) => a.impact.usersToday),
      of((a) => a.impact.highImpactDay),
      of((a) => a.firstRelease),
      of((a) => a.isMerged),
    ],
  })
}

export type BusyHour = { readonly id: string; readonly at: Date; readonly events: number }

/** Adds events to hours. Returns the hours since `since` that have at least `minEvents` now. */
export async function addHours(
  tx: Tx,
  rows: readonly { id: string; at: number; events: number }[],
  since: Date,
  minEvents: number,
): Promise<BusyHour[]> {
  const busy = await tx.query<{ issue_id: string; hour: Date; events: number }>({
    name: 'record-add-hours',
    text: `with counted as (
             insert into issue_hours (issue_id, hour, events)
             select * from unnest($1::uuid[], $2::timestamptz[], $3::int[])
             on conflict (issue_id, hour) do update set events = issue_hours.events + excluded.events
             returning issue_id, hour, events)
           select * from counted where hour >= $4 and events >= $5`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => new Date(row.at)),
      rows.map((row) => row.events),
      since,
      minEvents,
    ],
  })
  return busy.rows.map((row) => ({ id: row.issue_id, at: row.hour, events: row.events }))
}

/** Deletes at most `max` hours before a time. Concurrent callers skip each other's rows. */
export async function deleteHoursBefore(on: Connection, before: Date, max: number): Promise<number> {
  const { rowCount } = await on.query(
    `delete from issue_hours where ctid = any(array(
       select ctid from issue_hours where hour < $1 limit $2 for update skip locked))`,
    [before, max],
  )
  return rowCount ?? 0
}
