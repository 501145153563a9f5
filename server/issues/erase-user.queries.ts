import { sql } from 'kysely'
import type { Database, Tx } from '../storage/pool.ts'
import { restartDocument } from './search/restart-document.ts'
import type { Fact } from './search/facts.ts'

/** SQL of taking a person out of issues. */

/**
 * Some issues of a project in which one of these people was seen. Asks every issue of the project for them, by key: an
 * index from people to issues would be paid for with every new user of every issue, and this is asked once in a while.
 */
export async function issuesOfUser(
  db: Database,
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
  readonly searchText: string
  /** What the search document begins with anew. */
  readonly texts: readonly (string | null)[]
  readonly facts: readonly Fact[]
  /** Event the texts come from; null when none is left. */
  readonly eventId: string | null
}

/** Locks an issue against digestion; its error type, null when it is gone. */
export async function lockIssueForErasure(tx: Tx, issueId: string): Promise<{ errorType: string | null } | null> {
  const row = await tx
    .selectFrom('issues')
    .select('error_type')
    .where('id', '=', issueId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row === undefined ? null : { errorType: row.error_type }
}

/** Takes people off an issue's list and gives it texts that are not theirs. Counts stay: they name nobody. */
export async function forgetIssueUsers(
  tx: Tx,
  issueId: string,
  userHashes: readonly number[],
  texts: IssueTexts,
): Promise<void> {
  await sql`delete from issue_users where issue_id = ${issueId} and user_hash = any(${[...userHashes]}::bigint[])`.execute(
    tx,
  )
  await tx
    .updateTable('issues')
    .set({
      title: texts.title,
      culprit: texts.culprit,
      error_type: texts.errorType,
      error_value: texts.errorValue,
      search_text: texts.searchText,
      last_event_id: texts.eventId,
    })
    .where('id', '=', issueId)
    .execute()
  await restartDocument(tx, issueId, texts)
  // With other people's events left the parts are theirs as well: the same fingerprint has the same parts.
  if (texts.eventId === null)
    await tx.updateTable('issue_fingerprints').set({ parts: '[]' }).where('issue_id', '=', issueId).execute()
}
