import { type Insertable, sql } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { severityRank } from '#shared/issue-values.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

/** SQL of analyses, what members said of them, and the issues that wait for one. */

/** Older ones of an issue are deleted. */
const KEPT_PER_ISSUE = 10
const CRITICAL = severityRank('critical')
/** Issues of an organisation that may wait: a flood of new ones is no reason for a flood of analyses. */
const MAX_WAITING = 200

export const REQUESTS = ownRows('issue_analysis_requests', 'issue_id')

/** The newest analysis of an issue, with what the user said of it. */
export const selectNewest = (on: Connection, issueId: string, userId: string | null) =>
  on
    .selectFrom('issue_analyses as a')
    .leftJoin('issue_analysis_feedback as f', (join) =>
      join.onRef('f.analysis_id', '=', 'a.id').on('f.user_id', '=', userId),
    )
    .selectAll('a')
    .select('f.is_helpful')
    .where('a.issue_id', '=', issueId)
    .orderBy('a.created_at', 'desc')
    .orderBy('a.id', 'desc')
    .limit(1)
    .executeTakeFirst()
export type AnalysisRow = NonNullable<Awaited<ReturnType<typeof selectNewest>>>

/** The issue, or the issue that it was merged into; undefined when the organisation has none. */
export async function findIssue(on: Connection, orgId: string, issueId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select i.id from issue_groups g join issues i on i.id = g.issue_id
    where g.id = ${issueId} and i.org_id = ${orgId}`.execute(on)
  return rows[0]?.id
}

/**
 * Locks an issue against deletion, merging and the erasure of a user, which writes what is in the analysis.
 * @returns the project of an issue that is not merged into another; null when it is gone
 */
export async function lockIssue(tx: Tx, orgId: string, issueId: string): Promise<string | null> {
  const { rows } = await sql<{ project_id: string }>`
    select project_id from issues where id = ${issueId} and org_id = ${orgId} and merged_into is null for share`.execute(
    tx,
  )
  return rows[0]?.project_id ?? null
}

/** Stores an analysis, and deletes the oldest beyond the kept ones. */
export async function insertAnalysis(tx: Tx, row: Insertable<Tables['issue_analyses']>): Promise<void> {
  await tx.insertInto('issue_analyses').values(row).execute()
  await sql`
    delete from issue_analyses where id in (
      select id from issue_analyses where issue_id = ${row.issue_id}
      order by created_at desc, id desc offset ${KEPT_PER_ISSUE})`.execute(tx)
  await tx.deleteFrom('issue_analysis_requests').where('issue_id', '=', row.issue_id).execute()
}

export const deleteAnalysis = (on: Connection, id: string) =>
  on.deleteFrom('issue_analyses').where('id', '=', id).execute()

/** Deletes the analyses of issues, and of the issues that they were merged into. */
export async function deleteIssueAnalyses(tx: Tx, issueIds: readonly string[]): Promise<void> {
  await sql`
    delete from issue_analyses where issue_id = any(${[...issueIds]}::uuid[])
      or issue_id in (select issue_id from issue_groups where id = any(${[...issueIds]}::uuid[]))`.execute(tx)
}

/** Marks the analyses of issues that regressed. @returns the issues that have one */
export async function outdateAnalyses(tx: Tx, issueIds: readonly string[], now: Date): Promise<string[]> {
  const { rows } = await sql<{ issue_id: string }>`
    update issue_analyses set outdated_at = ${now}
    where issue_id = any(${[...issueIds]}::uuid[]) and outdated_at is null returning issue_id`.execute(tx)
  return [...new Set(rows.map(({ issue_id }) => issue_id))]
}

type FeedbackInput = {
  readonly analysisId: string
  readonly issueId: string
  readonly orgId: string
  readonly userId: string
}

/** The analysis that is rated: one of the issue, or of the issue that it was merged into. */
const rated = ({ analysisId, issueId, orgId }: FeedbackInput) => sql`
  select id from issue_analyses where id = ${analysisId} and org_id = ${orgId}
    and issue_id = (select issue_id from issue_groups where id = ${issueId})`

/** @returns whether the issue has such an analysis */
export async function upsertFeedback(
  on: Connection,
  input: FeedbackInput & { readonly isHelpful: boolean; readonly now: Date },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into issue_analysis_feedback (analysis_id, user_id, is_helpful, at)
    select r.id, ${input.userId}::uuid, ${input.isHelpful}::boolean, ${input.now}::timestamptz from (${rated(input)}) as r
    on conflict (analysis_id, user_id) do update set is_helpful = excluded.is_helpful, at = excluded.at`.execute(on)
  return Number(numAffectedRows ?? 0) > 0
}

/** @returns whether the issue has such an analysis */
export async function deleteFeedback(on: Connection, input: FeedbackInput): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    with found as (${rated(input)}),
      gone as (delete from issue_analysis_feedback
        where analysis_id in (select id from found) and user_id = ${input.userId})
    select id from found`.execute(on)
  return rows.length > 0
}

// Issues that wait for an analysis by itself

export type AnalysisRequest = { readonly issueId: string; readonly orgId: string; readonly reason: 'new' | 'regressed' }

/** Adds issues that are not waiting yet; new ones only when they are critical. */
export async function insertRequests(tx: Tx, requests: readonly AnalysisRequest[], now: Date): Promise<void> {
  await sql`
    insert into issue_analysis_requests (issue_id, org_id, reason, asked_at)
    select r.issue_id, r.org_id, r.reason, ${now}::timestamptz
    from unnest(${requests.map(({ issueId }) => issueId)}::uuid[], ${requests.map(({ orgId }) => orgId)}::uuid[],
      ${requests.map(({ reason }) => reason)}::text[]) as r (issue_id, org_id, reason)
    where (select count(*) from (
      select 1 from issue_analysis_requests w where w.org_id = r.org_id limit ${MAX_WAITING}) as waiting) < ${MAX_WAITING}
      and (r.reason = 'regressed' or exists (select 1 from issues i where i.id = r.issue_id and i.severity = ${CRITICAL}))
    on conflict (issue_id) do nothing`.execute(tx)
}

/** Requests of organisations that have not used up their bound of this hour, the oldest first, a few of each. */
export async function dueRequests(
  on: Connection,
  { since, perOrg, max }: { readonly since: Date; readonly perOrg: number; readonly max: number },
): Promise<AnalysisRequest[]> {
  const { rows } = await sql<{ issue_id: string; org_id: string; reason: 'new' | 'regressed' }>`
    select issue_id, org_id, reason from (
      select r.*, row_number() over (partition by r.org_id order by r.asked_at, r.issue_id) as place,
        (select count(*) from issue_analyses a
          where a.org_id = r.org_id and a.created_by is null and a.created_at > ${since}) as used
      from issue_analysis_requests r) as waiting
    where place + used <= ${perOrg} order by place, asked_at limit ${max}`.execute(on)
  return rows.map((row) => ({ issueId: row.issue_id, orgId: row.org_id, reason: row.reason }))
}

export const deleteRequest = (on: Connection, issueId: string) =>
  on.deleteFrom('issue_analysis_requests').where('issue_id', '=', issueId).execute()
