import { sql } from 'kysely'
import { summarise } from '../issue-merging/merging.queries.ts'
import { rateIssues } from '../issue-merging/rate-issues.ts'
import { resetDocument } from '../issue-search/reset-document.ts'
import type { Fact } from '../issue-search/facts.ts'
import type { Connection, Tx } from '../storage/database.ts'

/** SQL that erases a user's data from issues. */

/**
 * At most `max` issues of a project that affected one of these users. Looks each issue of the project up by key: an
 * index by user would slow down every new user of every issue, and erasures are rare.
 */
export async function issuesOfUser(
  db: Connection,
  projectId: string,
  userHashes: readonly number[],
  max: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select i.id from issues i where i.project_id = ${projectId} and exists (
      select from issue_users u where u.issue_id = i.id and u.user_hash = any(${[...userHashes]}::bigint[])
    ) limit ${max}`.execute(db)
  return rows.map((row) => row.id)
}

export type IssueTexts = {
  readonly title: string
  readonly culprit: string
  readonly errorType: string | null
  readonly errorValue: string | null
  /** Texts of the new search document. */
  readonly texts: readonly (string | null)[]
  readonly facts: readonly Fact[]
  /** The event of the texts; null when none is left. */
  readonly eventId: string | null
}

/** Locks an issue against digestion. Returns its error type, or null when the issue is deleted. */
export async function lockIssueForErasure(tx: Tx, issueId: string): Promise<{ errorType: string | null } | null> {
  for (let targetId = issueId; ;) {
    const rows = await tx
      .selectFrom('issues')
      .select(['id', 'error_type', 'merged_into'])
      .where('id', 'in', [issueId, targetId])
      .orderBy('id')
      .forNoKeyUpdate()
      .execute()
    const row = rows.find(({ id }) => id === issueId)
    if (row === undefined) return null
    // The merge target must be locked as well: its lock covers all merged issues.
    if ((row.merged_into ?? issueId) === targetId) return { errorType: row.error_type }
    targetId = row.merged_into ?? issueId
  }
}

/** Erases users from an issue and replaces its texts. Counts stay: they identify no user. */
export async function eraseUsersFromIssue(
  tx: Tx,
  issueId: string,
  userHashes: readonly number[],
  texts: IssueTexts,
  now: Date,
): Promise<void> {
  const merged = await tx
    .selectFrom('merged_issues')
    .select(['own_id', 'target_id'])
    .where('issue_id', '=', issueId)
    .executeTakeFirst()
  const ids = [...new Set([issueId, merged?.own_id ?? issueId])]
  await sql`delete from issue_users where issue_id = any(${ids}::uuid[]) and user_hash = any(${[...userHashes]}::bigint[])`.execute(
    tx,
  )
  await tx
    .updateTable('issues')
    .set({
      title: texts.title,
      culprit: texts.culprit,
      error_type: texts.errorType,
      error_value: texts.errorValue,
      last_event_id: texts.eventId,
    })
    .where('id', '=', issueId)
    .execute()
  await resetDocument(tx, issueId, texts)
  if (merged !== undefined) await replaceMergedTexts(tx, issueId, merged.target_id, texts, now)
  // Events of other users with the same fingerprint have the same parts: then the parts may stay.
  if (texts.eventId === null)
    await tx.updateTable('issue_fingerprints').set({ parts: '[]' }).where('source_id', '=', issueId).execute()
}

/** Replaces the own texts of a merged issue and updates its merge target. */
async function replaceMergedTexts(
  tx: Tx,
  issueId: string,
  targetId: string,
  texts: IssueTexts,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('merged_issues')
    .set({
      title: texts.title,
      culprit: texts.culprit,
      error_type: texts.errorType,
      error_value: texts.errorValue,
      last_event_id: texts.eventId,
    })
    .where('issue_id', '=', issueId)
    .execute()
  const { users } = await tx
    .selectFrom('issues')
    .select('user_count as users')
    .where('id', '=', targetId)
    .executeTakeFirstOrThrow()
  await summarise(tx, targetId)
  // Counts stay: they identify no user.
  await tx.updateTable('issues').set({ user_count: users }).where('id', '=', targetId).execute()
  await rateIssues(tx, [targetId], now)
  const mergedIssues = await tx
    .selectFrom('merged_issues')
    .select(['title', 'culprit', 'error_value'])
    .where('target_id', '=', targetId)
    .execute()
  await resetDocument(tx, targetId, {
    texts: mergedIssues.flatMap((one) => [one.title, one.culprit, one.error_value]),
    facts: [],
  })
}
