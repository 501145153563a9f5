import { SECURITY_KINDS, type SecurityKind } from '#shared/alert-rules.ts'
import type { IssueStatusName } from '#shared/issue-values.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** SQL of past facts about issues of a project, for dry runs. */

type Range = { readonly from: Date; readonly to: Date }

export type PastFact = {
  readonly issueId: string
  readonly at: Date
  /** The event that made it happen; null where none is known. */
  readonly eventId: string | null
  /** The issue's severity now. */
  readonly severity: number
}

type Row = { issue_id: string; at: Date; event_id: string | null; severity: number }

const factsOf = (rows: readonly Row[]): PastFact[] =>
  rows.map(({ issue_id: issueId, event_id: eventId, ...row }) => ({ ...row, issueId, eventId }))

/** Newest first: very many must not fill the memory. */
const MAX_FACTS = 20_000

/** Issues that were created in a range. */
export async function pastNewIssues(db: Connection, projectId: string, { from, to }: Range): Promise<PastFact[]> {
  const { rows } = await db.query<Row>({
    name: 'dry-run-new-issues',
    text: `select i.id as issue_id, i.created_at as at, i.severity,
             (select a.data ->> 'event_id' from issue_activity a where a.issue_id = i.id and a.kind = 'created'
              order by a.created_at, a.id limit 1) as event_id
           from issues i where i.project_id = $1 and i.merged_into is null and i.created_at >= $2 and i.created_at <= $3
           order by i.created_at desc limit ${MAX_FACTS}`,
    values: [projectId, from, to],
  })
  return factsOf(rows)
}

/** Issues that moved to a status by themselves. */
export async function pastTransitions(
  db: Connection,
  projectId: string,
  status: 'regressed' | 'escalated',
  { from, to }: Range,
): Promise<PastFact[]> {
  const { rows } = await db.query<Row>({
    name: 'dry-run-transitions',
    text: `select i.id as issue_id, a.created_at as at, i.severity, a.data ->> 'event_id' as event_id
           from issues i join issue_activity a on a.issue_id = i.id
           where i.project_id = $1 and i.merged_into is null and i.last_seen >= $2 and a.kind = 'status_changed'
             and a.actor_id is null and a.data ->> 'to' = $4 and a.created_at >= $2 and a.created_at <= $3
           order by a.created_at desc limit ${MAX_FACTS}`,
    values: [projectId, from, to, status],
  })
  return factsOf(rows)
}

/** Security events: the first of a kind, issue and hour. */
export async function pastSecurityEvents(
  db: Connection,
  projectId: string,
  kinds: readonly SecurityKind[],
  { from, to }: Range,
): Promise<PastFact[]> {
  const { rows } = await db.query<Row>({
    name: 'dry-run-security-events',
    text: `select i.id as issue_id, s.at, i.severity, null as event_id
           from security_hours s join issue_groups g on g.id = s.group_id join issues i on i.id = g.issue_id
           where s.project_id = $1 and s.hour >= date_trunc('hour', $2::timestamptz) and s.at >= $2 and s.at <= $3
             and s.kind = any($4::smallint[])
           order by s.at desc limit ${MAX_FACTS}`,
    values: [projectId, from, to, kinds.map((kind) => SECURITY_KINDS.indexOf(kind))],
  })
  return factsOf(rows)
}

/** When issues were resolved or ignored, from their activity. */
export async function readStatuses(db: Connection, issueIds: readonly string[], since: Date): Promise<StatusRow[]> {
  if (issueIds.length === 0) return []
  const { rows } = await db.query<StatusRow>({
    name: 'dry-run-statuses',
    text: `select i.id as issue_id, i.status, coalesce(c.changes, '[]') as changes
           from issues i left join lateral (
             select json_agg(json_build_array(extract(epoch from a.created_at) * 1000, a.data ->> 'from')
                             order by a.created_at, a.id) as changes
             from issue_activity a where a.issue_id = i.id and a.kind = 'status_changed' and a.created_at >= $2
           ) c on true
           where i.id = any($1::uuid[])`,
    values: [issueIds, since],
  })
  return rows
}

/** An issue's status now, and its changes since a time: `[when, ms, the status before]`, oldest first. */
type StatusRow = {
  readonly issue_id: string
  readonly status: IssueStatusName
  readonly changes: readonly (readonly [atMs: number, from: IssueStatusName])[]
}

export type IssueOfMoment = {
  readonly id: string
  readonly number: number
  readonly slug: string
  readonly title: string
}

/** Issues by id; those deleted meanwhile are missing. */
export async function issuesById(db: Connection, ids: readonly string[]): Promise<Map<string, IssueOfMoment>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<IssueOfMoment>({
    name: 'dry-run-issues',
    text: `select i.id, i.number, p.slug, i.title from issues i join projects p on p.id = i.project_id
           where i.id = any($1::uuid[]) and i.merged_into is null`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Whether a project received events since a time. */
export async function hasEventsSince(db: Connection, projectId: string, since: Date): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>({
    name: 'dry-run-has-events',
    text: 'select coalesce(last_event_at >= $2, false) as has from projects where id = $1',
    values: [projectId, since],
  })
  return rows[0]?.has === true
}
