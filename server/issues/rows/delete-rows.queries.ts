import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'

/** Rows of one issue that are deleted together: users, and hours. */
const MAX_COUNTS = 50_000

/**
 * Locks some issues of a project, with those merged into them, and deletes their users and hours.
 * @returns the ids of the groups; `isWhole` when no users and hours of them are left
 */
export async function emptyIssues(
  tx: Tx,
  projectId: string,
  max: number,
): Promise<{ readonly ids: string[]; readonly isWhole: boolean; readonly rows: number }> {
  // Issues that were merged into an issue are deleted with it.
  const { rows: found } = await sql<{ id: string }>`
    with chosen as (select id from issues where project_id = ${projectId} and merged_into is null limit ${max})
    select id from issues where id in (
      select id from chosen union select m.id from issues m join chosen on m.merged_into = chosen.id
    ) order by id for update`.execute(tx)
  const ids = found.map(({ id }) => id)
  const counted = [0, 0, 0]
  for (const [index, table] of (['issue_users', 'issue_user_slots', 'issue_hours'] as const).entries()) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where group_id = any(${ids}::uuid[]) limit ${MAX_COUNTS} for update))`.execute(
      tx,
    )
    counted[index] = Number(numAffectedRows ?? 0)
  }
  return {
    ids,
    isWhole: counted.every((n) => n < MAX_COUNTS),
    rows: counted.reduce((sum, n) => sum + n, 0),
  }
}

/** Deletes issues with everything that refers to them: groups, fingerprints, documents, activity, comments, inboxes. */
export async function deleteIssueRows(tx: Tx, issueIds: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`delete from issues where id = any(${[...issueIds]}::uuid[])`.execute(tx)
  return Number(numAffectedRows ?? 0)
}

export async function deleteGeneration(tx: Tx, projectId: string): Promise<number> {
  const { numAffectedRows } = await sql`delete from issue_generations where project_id = ${projectId}`.execute(tx)
  return Number(numAffectedRows ?? 0)
}

/**
 * Deletes at most `max` rows of users, their slots and hours of groups each, except rows that digestion has locked.
 * @returns whether more may be left
 */
export async function deleteCounts(tx: Tx, groupIds: readonly string[], max: number): Promise<boolean> {
  const ofGroups = sql`group_id = any(${[...groupIds]}::uuid[]) limit ${max} for update skip locked`
  const users = await sql`delete from issue_users where ctid = any(array(
    select ctid from issue_users where ${ofGroups}))`.execute(tx)
  const slots = await sql`delete from issue_user_slots where ctid = any(array(
    select ctid from issue_user_slots where ${ofGroups}))`.execute(tx)
  const hours = await sql`delete from issue_hours where ctid = any(array(
    select ctid from issue_hours where ${ofGroups}))`.execute(tx)
  return [users, slots, hours].some(({ numAffectedRows }) => Number(numAffectedRows ?? 0n) === max)
}

/** Texts of an issue, and the event that they come from. */
export type RowTexts = {
  readonly title: string
  readonly culprit: string
  readonly errorType: string | null
  readonly errorValue: string | null
  /** Null when no event of the issue is left. */
  readonly eventId: string | null
}

/** Deletes users of an issue and replaces its texts. Counts stay: they identify no user. */
export async function eraseUsersAndTexts(
  tx: Tx,
  issueId: string,
  userHashes: readonly number[],
  { title, culprit, errorType, errorValue, eventId }: RowTexts,
): Promise<void> {
  await sql`delete from issue_users where group_id = ${issueId} and user_hash = any(${[...userHashes]}::bigint[])`.execute(
    tx,
  )
  const texts = sql`title = ${title}, culprit = ${culprit}, error_type = ${errorType}, error_value = ${errorValue}, last_event_id = ${eventId}`
  await sql`update issue_groups set ${texts} where id = ${issueId}`.execute(tx)
  await sql`update issues set ${texts} where id = ${issueId}`.execute(tx)
  // Events of other users with the same fingerprint have the same parts: then the parts may stay.
  if (eventId === null) await sql`update issue_fingerprints set parts = '[]' where group_id = ${issueId}`.execute(tx)
}
