import { selectForRating, setRating } from './rating.queries.ts'
import { issueSettings } from '../rules/issue-settings.ts'
import { impactFrom, reach } from '../rules/impact.ts'
import type { Tx } from '../../platform/storage/database.ts'

/**
 * Rates the severity of issues again after they were merged or unmerged, as their next event would.
 */
export async function rateIssues(tx: Tx, issueIds: readonly string[], now: Date): Promise<void> {
  const rows = await selectForRating(tx, issueIds)
  for (const row of rows) {
    const impact = impactFrom(row)
    const manyUsers = issueSettings(row.settings).severity_rules.users
    const rated = reach(impact, { eventSeverity: impact.eventSeverity, users: 0, manyUsers }, row.status, now)
    if (rated.severity === row.severity && rated.highImpactDay === row.high_impact_day) continue
    await setRating(tx, row.id, rated)
  }
}
