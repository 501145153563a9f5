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

/** The high-impact day of an issue, and its severity. */
export type RatedIssue = { readonly id: string; readonly highImpactDay: string | null; readonly severity: number }

export async function writeRatings(tx: Tx, issues: readonly RatedIssue[]): Promise<void> {
  await sql`update issues i set high_impact_day = k.high_impact_day, severity = k.severity
    from unnest(${issues.map((one) => one.id)}::uuid[], ${issues.map((one) => one.highImpactDay)}::date[], ${issues.map((one) => one.severity)}::smallint[]) k (id, high_impact_day, severity)
    where i.id = k.id`.execute(tx)
}

/** Numbers of events and users of an issue. */
export const selectCounts = (tx: Tx, issueId: string) =>
  tx
    .selectFrom('issues')
    .select(['event_count as events', 'user_count as users'])
    .where('id', '=', issueId)
    .executeTakeFirstOrThrow()
