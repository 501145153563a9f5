import type { Fact } from '../../history/facts/kinds.ts'
import { aboutIssue } from '../rows/view-issue.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { computeSeverityRank, eventSeverityFrom } from '../rules/impact.ts'
import { untilPhrase } from '../rules/ignoring.ts'
import { minuteText, statusSentence } from '../rules/issue.ts'
import type { IssueStatus } from '../rules/issue.api.ts'
import type { lockIssue, MovedIssue } from '../rows/issues.queries.ts'
import { lifeFrom } from '../rules/life-columns.ts'
import type { IgnoreUntilInput, ResolutionInput } from '../rules/life-cycle.api.ts'
import { decide, decisionSentence } from '../rules/life-cycle.ts'
import { fixPhrase, type Fix } from '../rules/resolution.ts'

export type StatusChange = {
  readonly status: IssueStatus
  /** With `resolved`: the request, and what it means now ({@link fixOf}). */
  readonly resolution?: { readonly asked: ResolutionInput; readonly fix: Fix } | undefined
  /** With `ignored`: null ignores it without a condition, absent keeps the condition of an ignored issue. */
  readonly ignore_until?: IgnoreUntilInput | null | undefined
}

export type LockedIssue = NonNullable<Awaited<ReturnType<typeof lockIssue>>>

/**
 * The transition that a member's change of status causes; null when the issue has that status already.
 * @param name the actor's name, for the sentences
 * @throws AppError invalid (ignore_until.time has passed)
 */
export function decideStatus(
  issue: LockedIssue,
  change: StatusChange,
  name: string,
  now: Date,
): (MovedIssue & { readonly facts: readonly Fact[] }) | null {
  const { status, ignore_until: until } = change
  if (until?.time !== undefined && new Date(until.time) <= now)
    throw invalid('ignore_until.time must be in the future.')
  const life = lifeFrom(issue)
  const { resolution } = change
  const how = status === 'resolved' ? howPhrase(resolution) : untilPhrase(until ?? null, minuteText)
  const step = decide(
    life,
    { status, fix: resolution?.fix, until },
    decisionSentence(statusSentence(name, life.status, status), how),
    now,
  )
  if (step.life === life) return null
  const severity = issue.severity_pinned
    ? null
    : computeSeverityRank(
        { eventSeverity: eventSeverityFrom(issue.event_severity), highImpactDay: issue.high_impact_day },
        status,
        now,
      )
  const facts = step.facts.map((fact) => ({ ...aboutIssue(issue), ...fact }))
  return { id: issue.id, life: step.life, severity, facts }
}

function howPhrase(resolution: StatusChange['resolution']): string {
  if (resolution === undefined) return ''
  const { asked, fix } = resolution
  return asked.in_commit !== undefined && fix.kind === 'release'
    ? ` in commit ${asked.in_commit.slice(0, 12)},${fixPhrase(fix)}`
    : fixPhrase(fix)
}
