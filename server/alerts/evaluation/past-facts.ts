import { SECURITY_KINDS } from '#shared/alert-rules.ts'
import { isClosed, SEVERITIES, type SeverityName, severityName } from '#shared/issue-values.ts'
import type { App } from '../../platform/context/app.ts'
import { findEventEnvironments } from '../../events/store/store.queries.ts'
import type { RateRule } from './evaluator.ts'
import * as sql from './past-facts.queries.ts'

/**
 * Facts of the past that a rule would have fired on, oldest first. What an issue was at that time is not stored: its
 * present severity decides.
 */
export async function pastFacts(
  app: App,
  rule: RateRule,
  range: { readonly from: Date; readonly to: Date },
): Promise<readonly sql.PastFact[]> {
  const { severity: min, environment } = rule.conditions
  const facts = (await readFacts(app, rule, range)).filter(
    (fact) => min === undefined || SEVERITIES.indexOf(severityOf(rule, fact)) <= SEVERITIES.indexOf(min),
  )
  const inOrder = facts.toSorted((a, b) => a.at.getTime() - b.at.getTime())
  if (environment === undefined) return inOrder
  const keys = inOrder.flatMap(({ eventId }) => (eventId === null ? [] : [{ projectId: rule.projectId, eventId }]))
  const environments = await findEventEnvironments(app.db, keys, app.clock.now())
  return inOrder.filter(({ eventId }) => environments.get(`${rule.projectId}/${eventId}`) === environment)
}

function readFacts(
  { db }: App,
  { trigger, projectId, conditions }: RateRule,
  range: { readonly from: Date; readonly to: Date },
): Promise<sql.PastFact[]> {
  switch (trigger) {
    case 'new_issue':
      return sql.pastNewIssues(db, projectId, range)
    case 'issue_regression':
      return sql.pastTransitions(db, projectId, 'regressed', range)
    case 'issue_spike':
      return sql.pastTransitions(db, projectId, 'escalated', range)
    case 'security_event':
      return sql.pastSecurityEvents(db, projectId, conditions.kinds ?? SECURITY_KINDS, range)
    case 'pre_crash_state':
    case 'battery_drain_threshold':
    case 'performance_threshold':
    case 'critical_path':
      return Promise.resolve([])
  }
}

/** Returns whether an issue was resolved or ignored at a time since `from`: its events fired nothing then. */
export async function pastClosed(
  app: App,
  issueIds: Iterable<string>,
  from: Date,
): Promise<(issueId: string, at: Date) => boolean> {
  const rows = await sql.readStatuses(app.db, [...new Set(issueIds)], from)
  const issues = new Map(rows.map((row) => [row.issue_id, row]))
  return (issueId, at) => {
    const issue = issues.get(issueId)
    if (issue === undefined) return false
    const next = issue.changes.find(([changedMs]) => changedMs > at.getTime())
    return isClosed(next === undefined ? issue.status : next[1])
  }
}

/** As in alerts: security events are high at least. */
function severityOf({ trigger }: RateRule, { severity }: sql.PastFact): SeverityName {
  const name = severityName(severity)
  return trigger === 'security_event' && name !== 'critical' ? 'high' : name
}
