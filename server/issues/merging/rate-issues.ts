import { selectForRating, writeRatings } from '../rows/issues.queries.ts'
import { issueSettings } from '../rules/issue-settings.ts'
import { impactFrom, reach } from '../rules/impact.ts'
import type { Tx } from '../../platform/storage/database.ts'

/**
 * Rates the severity of issues again after they were merged or unmerged, as their next event would.
 */
export async function rateIssues(tx: Tx, issueIds: readonly string[], now: Date): Promise<void> {
  const rated = (await selectForRating(tx, issueIds)).flatMap((row) => {
    const impact = impactFrom(row)
    const manyUsers = issueSettings(row.settings).severity_rules.users
    const { severity, highImpactDay } = reach(
      impact,
      { eventSeverity: impact.eventSeverity, users: 0, manyUsers },
      row.status,
      now,
    )
    const isSame = severity === row.severity && highImpactDay === row.high_impact_day
    return isSame ? [] : [{ id: row.id, severity, highImpactDay }]
  })
  if (rated.length > 0) await writeRatings(tx, rated)
}
