import type { Tx } from '../../platform/storage/database.ts'
import type { GroupingPart } from '../grouping/grouping.api.ts'
import { partsText } from '../grouping/parts-text.ts'
import type { FingerprintKey } from '../merging/discards.queries.ts'
import type { IssueImpact } from '../rules/impact.ts'
import type { KnownGroup, GroupSums } from './occurrence.ts'
import { SECURITY_KINDS, type SecurityKind } from '#shared/alert-rules.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** SQL of recording events: one prepared statement per batch and kind of fact, with arrays as parameters. */

/** Groups of fingerprints, by project id and base64 of the hash. */
export async function groupsByFingerprint(tx: Tx, keys: readonly FingerprintKey[]): Promise<Map<string, KnownGroup>> {
  const { rows } = await tx.query<{
    project_id: string
    hash: Buffer
    group_id: string
    issue_id: string
    merged_count: number
  }>({
    name: 'record-find-groups',
    text: `select f.project_id, f.hash, f.group_id, g.issue_id, i.merged_count
           from unnest($1::uuid[], $2::text[]) k (project_id, hash)
           join issue_fingerprints f on f.project_id = k.project_id and f.hash = decode(k.hash, 'base64')
           join issue_groups g on g.id = f.group_id join issues i on i.id = g.issue_id`,
    values: [keys.map((key) => key.projectId), keys.map((key) => key.hash.toString('base64'))],
  })
  return new Map(
    rows.map((row) => [
      row.project_id + row.hash.toString('base64'),
      { groupId: row.group_id, issueId: row.issue_id, isMerged: row.merged_count > 0 },
    ]),
  )
}

type NewIssue = {
  readonly id: string
  readonly number: number
  readonly platform: string
  /** Its first events. */
  readonly sums: GroupSums
  readonly users: number
  readonly impact: IssueImpact
}

/** Inserts issues and their groups with the counts of their first events: updating them would write every index again. */
export function insertIssues(tx: Tx, now: Date, issues: readonly NewIssue[]): void {
  const of = <T>(pick: (issue: NewIssue) => T): T[] => issues.map(pick)
  tx.sendReferring({
    name: 'record-insert-issues',
    text: `with created as (
             insert into issues (id, org_id, project_id, number, title, culprit, error_type, error_value, level, platform, status, status_changed_at, open_since,
               first_seen, last_seen, first_release, last_release, last_event_id, is_unhandled, event_count, user_count,
               severity, event_severity, users_day, users_today, high_impact_day, created_at)
             select k.id, k.org_id, k.project_id, k.number, k.title, k.culprit, k.error_type, k.error_value, k.level, k.platform, 'unresolved', $24::timestamptz, $24::timestamptz,
               k.first_seen, k.last_seen, k.first_release, k.last_release, k.event_id, k.is_unhandled, k.events, k.users,
               k.severity, k.event_severity, k.users_day, k.users_today, k.high_impact_day, $24::timestamptz
             from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
               $11::timestamptz[], $12::timestamptz[], $13::text[], $14::text[], $15::uuid[], $16::bool[], $17::int[], $18::int[],
               $19::smallint[], $20::smallint[], $21::date[], $22::int[], $23::date[])
               k (id, org_id, project_id, number, title, culprit, error_type, error_value, level, platform,
               first_seen, last_seen, first_release, last_release, event_id, is_unhandled, events, users,
               severity, event_severity, users_day, users_today, high_impact_day)
             returning *)
           insert into issue_groups (id, issue_id, event_count, user_count, first_seen, last_seen, first_release, last_release, title, culprit, error_type, error_value,
             level, last_event_id, is_unhandled, event_severity)
           select id, id, event_count, user_count, first_seen, last_seen, first_release, last_release, title, culprit, error_type, error_value,
             level, last_event_id, is_unhandled, event_severity
           from created order by id`,
    values: [
      of((i) => i.id),
      of((i) => i.sums.orgId),
      of((i) => i.sums.projectId),
      of((i) => i.number),
      of((i) => i.sums.newest.title),
      of((i) => i.sums.newest.culprit),
      of((i) => i.sums.newest.errorType),
      of((i) => i.sums.newest.errorValue),
      of((i) => i.sums.newest.level),
      of((i) => i.platform),
      of((i) => new Date(i.sums.oldest.at)),
      of((i) => new Date(i.sums.newest.at)),
      of((i) => i.sums.oldest.release),
      of((i) => i.sums.newest.release),
      of((i) => i.sums.newest.eventId),
      of((i) => i.sums.isUnhandled),
      of((i) => i.sums.events.length),
      of((i) => i.users),
      of((i) => i.impact.severity),
      of((i) => i.impact.eventSeverity),
      of((i) => i.impact.usersDay),
      of((i) => i.impact.usersToday),
      of((i) => i.impact.highImpactDay),
      now,
    ],
  })
}

export type NewFingerprint = {
  readonly projectId: string
  readonly groupId: string
  readonly version: number
  readonly hash: Buffer
  readonly parts: readonly GroupingPart[]
}

/** The transaction fails when a fingerprint exists already, because another digester inserted it: the entries are recorded one by one. */
export function insertFingerprints(tx: Tx, now: Date, rows: readonly NewFingerprint[]): void {
  if (rows.length === 0) return
  tx.sendReferring({
    name: 'record-insert-fingerprints',
    text: `insert into issue_fingerprints (project_id, hash, group_id, grouping_version, parts, created_at)
           select k.project_id, decode(k.hash, 'base64'), k.group_id, k.version, k.parts::jsonb, $6::timestamptz
           from unnest($1::uuid[], $2::text[], $3::uuid[], $4::smallint[], $5::text[]) k (project_id, hash, group_id, version, parts)`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.hash.toString('base64')),
      rows.map((row) => row.groupId),
      rows.map((row) => row.version),
      rows.map((row) => partsText(row.parts)),
      now,
    ],
  })
}

/** Names of the active members among these users, by organisation. Locks the memberships until the transaction ends. */
export async function lockMembers(
  tx: Tx,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  if (userIds.length === 0) return new Map()
  const { rows } = await tx.query<{ id: string; org_id: string; name: string }>(
    `select u.id, m.org_id, u.name from memberships m join users u on u.id = m.user_id
     where m.user_id = any($1::uuid[]) and m.disabled_at is null and u.disabled_at is null
     order by m.user_id, m.org_id for key share of m`,
    [[...userIds]],
  )
  const orgs = Map.groupBy(rows, (row) => row.org_id)
  return new Map([...orgs].map(([orgId, members]) => [orgId, new Map(members.map(({ id, name }) => [id, name]))]))
}

/** The first security event of a kind and group in an hour. */
export type SecurityHour = {
  readonly projectId: string
  readonly groupId: string
  readonly kind: SecurityKind
  readonly hour: Date
  readonly at: Date
}

/** Adds rows that are not there yet, in the given order. */
export function insertHours(tx: Tx, rows: readonly SecurityHour[]): void {
  tx.send({
    name: 'security-events-insert',
    text: `insert into security_hours (project_id, hour, group_id, kind, at)
           select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::smallint[], $5::timestamptz[])
           on conflict do nothing`,
    values: [
      rows.map(({ projectId }) => projectId),
      rows.map(({ hour }) => hour),
      rows.map(({ groupId }) => groupId),
      rows.map(({ kind }) => SECURITY_KINDS.indexOf(kind)),
      rows.map(({ at }) => at),
    ],
  })
}

export const SECURITY_ROWS = ownRows('security_hours')
export const SECURITY_PART = projectPart(5_000, [SECURITY_ROWS])
