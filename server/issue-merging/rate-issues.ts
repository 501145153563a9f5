import { sql } from 'kysely'
import { issueSettings } from '../issue-rules/issue-settings.ts'
import { impactFrom, reach } from '../issue-rules/impact.ts'
import type { Tx } from '../storage/database.ts'

/**
 * Severity of issues whose events are suddenly others: merged with those of another one, or parted from them. As if
 * their next event came now.
 */
export async function rateIssues(tx: Tx, issueIds: readonly string[], now: Date): Promise<void> {
  const rows = await tx
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
  for (const row of rows) {
    const impact = impactFrom(row)
    const manyUsers = issueSettings(row.settings).severity_rules.users
    const rated = reach(impact, { eventSeverity: impact.eventSeverity, users: 0, manyUsers }, row.status, now)
    if (rated.severity === row.severity && rated.highImpactDay === row.high_impact_day) continue
    await tx
      .updateTable('issues')
      .set({ severity: rated.severity, high_impact_day: rated.highImpactDay })
      .where('id', '=', row.id)
      .execute()
  }
}
