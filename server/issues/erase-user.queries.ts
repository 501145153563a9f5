import { sql } from 'kysely'
import { summarise } from '../issue-merging/merging.queries.ts'
import { rateIssues } from '../issue-merging/rate-issues.ts'
import { resetDocument } from '../issue-search/reset-document.ts'
import type { Fact } from '../issue-search/facts.ts'
import type { Connection, Tx } from '../storage/database.ts'

/** SQL of taking a person out of issues. */

/**
 * Some issues of a project in which one of these people was seen. Asks every issue of the project for them, by key: an
 * index from people to issues would be paid for with every new user of every issue, and this is asked once in a while.
 */
export async function issuesOfUser(
  db: Connection,
  projectId: string,
  userHashes: readonly number[],
  most: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select i.id from issues i where i.project_id = ${projectId} and exists (
      select from issue_users u where u.issue_id = i.id and u.user_hash = any(${[...userHashes]}::bigint[])
    ) limit ${most}`.execute(db)
  return rows.map((row) => row.id)
}

export type IssueTexts = {
  readonly title: string
  readonly culprit: string
  readonly errorType: string | null
  readonly errorValue: string | null
  /** What the search document begins with anew. */
  readonly texts: readonly (string | null)[]
  readonly facts: readonly Fact[]
  /** Event the texts come from; null when none is left. */
  readonly eventId: string | null
}

/** Locks an issue against digestion; its error type, null when it is gone. */
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
    // What it was merged into has to be locked as well: that lock stands for all members.
    if ((row.merged_into ?? issueId) === targetId) return { errorType: row.error_type }
    targetId = row.merged_into ?? issueId
  }
}

/** Takes people off an issue's list and gives it texts that are not theirs. Counts stay: they name nobody. */
export async function forgetIssueUsers(
  tx: Tx,
  issueId: string,
  userHashes: readonly number[],
  texts: IssueTexts,
  now: Date,
): Promise<void> {
  const member = await tx
    .selectFrom('merged_issues')
    .select(['own_id', 'target_id'])
    .where('issue_id', '=', issueId)
    .executeTakeFirst()
  const ids = [...new Set([issueId, member?.own_id ?? issueId])]
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
  if (member !== undefined) await forgetMemberTexts(tx, issueId, member.target_id, texts, now)
  // With other people's events left the parts are theirs as well: the same fingerprint has the same parts.
  if (texts.eventId === null)
    await tx.updateTable('issue_fingerprints').set({ parts: '[]' }).where('source_id', '=', issueId).execute()
}

/** What a merged issue would say alone, and what the one it leads to says for all of them. */
async function forgetMemberTexts(
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
  // Counts stay: they name nobody.
  await tx.updateTable('issues').set({ user_count: users }).where('id', '=', targetId).execute()
  await rateIssues(tx, [targetId], now)
  const members = await tx
    .selectFrom('merged_issues')
    .select(['title', 'culprit', 'error_value'])
    .where('target_id', '=', targetId)
    .execute()
  await resetDocument(tx, targetId, {
    texts: members.flatMap((member) => [member.title, member.culprit, member.error_value]),
    facts: [],
  })
}
