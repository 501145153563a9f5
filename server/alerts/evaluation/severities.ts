import { selectIssuesOfFacts } from '../rules/fired.queries.ts'
import { severityName, type SeverityName } from '#shared/issue-values.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** Severities of issues, by id. */
export async function readIssueSeverities(
  db: Connection,
  issueIds: readonly string[],
): Promise<Map<string, SeverityName>> {
  const issues = await selectIssuesOfFacts(db, [...new Set(issueIds)])
  return new Map(issues.map(({ id, severity }) => [id, severityName(severity)]))
}
