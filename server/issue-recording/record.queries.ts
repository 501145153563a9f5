import type { Tx } from '../storage/database.ts'
import type { GroupingPart } from '../grouping/grouping.api.ts'
import { partsText } from '../grouping/parts-text.ts'
import type { FingerprintKey } from '../issue-merging/discards.queries.ts'
import type { KnownGroup, Occurrence } from './occurrence.ts'

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

export type NewIssue = {
  id: string
  number: number
  occurrence: Occurrence
  firstRelease: string | null
  severity: number
}

/** Inserts issues and their groups with counts of zero; `foldSums` follows in the same transaction. */
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
  await tx.query({
    name: 'record-insert-groups',
    text: `insert into issue_groups (id, issue_id, title, culprit, error_type, error_value, level, first_seen, last_seen, first_release, is_unhandled)
           select id, id, title, culprit, error_type, error_value, level, first_seen, last_seen, first_release, is_unhandled
           from issues where id = any($1::uuid[]) order by id`,
    values: [of((i) => i.id)],
  })
}

export type NewFingerprint = {
  readonly projectId: string
  readonly groupId: string
  readonly version: number
  readonly hash: Buffer
  readonly parts: readonly GroupingPart[]
}

/** @throws Error when a fingerprint exists already, because another digester inserted it: the entries are recorded one by one */
export async function insertFingerprints(tx: Tx, now: Date, rows: readonly NewFingerprint[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query({
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
