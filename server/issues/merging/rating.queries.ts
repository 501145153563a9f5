import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'

/** The values that determine the severity of issues, in the order of their ids. */
export const selectForRating = (tx: Tx, issueIds: readonly string[]) =>
  tx
    .selectFrom('issues as i')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .select([
      'i.id',
      'i.status',
      'i.severity',
      'i.severity_pinned',
      'i.event_severity',
      'i.users_day',
      'i.users_today',
      'i.high_impact_day',
      'p.settings',
    ])
    .where('i.id', '=', sql<string>`any(${[...issueIds]}::uuid[])`)
    .orderBy('i.id')
    .execute()

export async function setRating(
  tx: Tx,
  issueId: string,
  rating: { readonly severity: number; readonly highImpactDay: string | null },
): Promise<void> {
  await tx
    .updateTable('issues')
    .set({ severity: rating.severity, high_impact_day: rating.highImpactDay })
    .where('id', '=', issueId)
    .execute()
}

/** Numbers of events and users of an issue. */
export const selectCounts = (tx: Tx, issueId: string) =>
  tx
    .selectFrom('issues')
    .select(['event_count as events', 'user_count as users'])
    .where('id', '=', issueId)
    .executeTakeFirstOrThrow()

/** Deletes an issue. Fingerprints, activity and comments are deleted with the row, and so are issues merged into it. */
export async function deleteIssueRow(tx: Tx, issueId: string): Promise<void> {
  await tx.deleteFrom('issues').where('id', '=', issueId).execute()
}
