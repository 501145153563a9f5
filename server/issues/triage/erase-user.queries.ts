import { sql } from 'kysely'
import { lockRelation, sumGroups } from '../rows/groups.queries.ts'
import { resetDocument } from '../search/index-documents.ts'
import type { Fact } from '../search/facts.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { eraseUsersAndTexts, type RowTexts } from '../rows/delete-rows.queries.ts'

/** SQL that erases a user's data from issues. */

/** At most `max` issues of a project that affected one of these users. */
export async function issuesOfUser(
  db: Connection,
  projectId: string,
  userHashes: readonly number[],
  max: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct i.id from issue_users u join issues i on i.id = u.group_id
    where u.user_hash = any(${[...userHashes]}::bigint[]) and i.project_id = ${projectId} limit ${max}`.execute(db)
  return rows.map((row) => row.id)
}

export type IssueTexts = RowTexts & {
  /** Texts of the new search document. */
  readonly texts: readonly (string | null)[]
  readonly facts: readonly Fact[]
}

/** Locks an issue and its merge target against digestion and merging. Returns its error type, or null when it is deleted. */
export async function lockIssueForErasure(
  tx: Tx,
  projectId: string,
  issueId: string,
): Promise<{ errorType: string | null } | null> {
  await lockRelation(tx, [projectId])
  const { rows } = await sql<{ id: string; error_type: string | null }>`
    select i.id, i.error_type from issues i
    where i.id = ${issueId} or i.id = (select issue_id from issue_groups where id = ${issueId})
    order by i.id for no key update`.execute(tx)
  const row = rows.find(({ id }) => id === issueId)
  return row === undefined ? null : { errorType: row.error_type }
}

/** Erases users from an issue and replaces its texts. Counts stay: they identify no user. */
export async function eraseUsersFromIssue(
  tx: Tx,
  issueId: string,
  userHashes: readonly number[],
  texts: IssueTexts,
): Promise<void> {
  await eraseUsersAndTexts(tx, issueId, userHashes, texts)
  await resetDocument(tx, issueId, texts)
  await updateTarget(tx, issueId)
}

/** Updates the issue that shows this one's group along with others. */
async function updateTarget(tx: Tx, issueId: string): Promise<void> {
  const groups = await tx
    .selectFrom('issue_groups as g')
    .select(['g.issue_id', 'g.title', 'g.culprit', 'g.error_value'])
    .where('g.issue_id', '=', (row) => row.selectFrom('issue_groups').select('issue_id').where('id', '=', issueId))
    .execute()
  const [first] = groups
  if (first === undefined || groups.length === 1) return
  await sumGroups(tx, [first.issue_id])
  await resetDocument(tx, first.issue_id, {
    texts: groups.flatMap((one) => [one.title, one.culprit, one.error_value]),
    facts: [],
  })
}
