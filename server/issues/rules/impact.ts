import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { severityName, severityRank } from '#shared/issue-values.ts'
import type { IssueStatus } from './issue.api.ts'
import { type EventSeverity, eventSeverityFrom, hasHighImpact, isHighImpact, rateSeverity } from './severity.ts'

/** Severity of an issue and its affected users of a day. Pure. */
export type IssueImpact = {
  /** Rank of the severity that is shown. */
  readonly severity: number
  /** A member set the severity, so the rules do not change it. */
  readonly isPinned: boolean
  readonly eventSeverity: EventSeverity
  /** The UTC day of `usersToday`. */
  readonly usersDay: string | null
  /** Distinct affected users of that day. */
  readonly usersToday: number
  /** Newest high-impact day (UTC). */
  readonly highImpactDay: string | null
}

export type ImpactRow = {
  readonly severity: number
  readonly severity_pinned: boolean
  readonly event_severity: number
  readonly users_day: string | null
  readonly users_today: number
  readonly high_impact_day: string | null
}

export const impactFrom = (row: ImpactRow): IssueImpact => ({
  severity: row.severity,
  isPinned: row.severity_pinned,
  eventSeverity: eventSeverityFrom(row.event_severity),
  usersDay: row.users_day,
  usersToday: row.users_today,
  highImpactDay: row.high_impact_day,
})

export const newImpact = (eventSeverity: EventSeverity): IssueImpact => ({
  severity: severityRank(rateSeverity(eventSeverity, false, false)),
  isPinned: false,
  eventSeverity,
  usersDay: null,
  usersToday: 0,
  highImpactDay: null,
})

/** Returns the rank by the rules, even if the severity is pinned. */
export const computeSeverityRank = (
  impact: Pick<IssueImpact, 'eventSeverity' | 'highImpactDay'>,
  status: IssueStatus,
  now: Date,
): number =>
  severityRank(
    rateSeverity(
      impact.eventSeverity,
      hasHighImpact(impact.highImpactDay, dayPlus(utcDay(now), -1)),
      status === 'escalated',
    ),
  )

/** Returns the impact with the severity by the rules, unless it is pinned. */
export const rated = (impact: IssueImpact, status: IssueStatus, now: Date): IssueImpact =>
  impact.isPinned ? impact : { ...impact, severity: computeSeverityRank(impact, status, now) }

/**
 * The values that new events add: the worst event severity, and the users not yet counted today. `manyUsers` is the
 * project's limit for critical crashes.
 */
export type Reached = { readonly eventSeverity: EventSeverity; readonly users: number; readonly manyUsers: number }

export function reach(impact: IssueImpact, reached: Reached, status: IssueStatus, now: Date): IssueImpact {
  const today = utcDay(now)
  const eventSeverity = reached.eventSeverity > impact.eventSeverity ? reached.eventSeverity : impact.eventSeverity
  const usersToday = (impact.usersDay === today ? impact.usersToday : 0) + reached.users
  const isHigh = isHighImpact(
    eventSeverity,
    { affectedUsers: usersToday, activeUsers: null },
    { users: reached.manyUsers, user_share: 1 },
  )
  const next = {
    ...impact,
    eventSeverity,
    usersDay: today,
    usersToday,
    highImpactDay: isHigh ? today : impact.highImpactDay,
  }
  return rated(next, status, now)
}

/** Activity entry of the first event of a high-impact day. */
export const impactSentence = (impact: IssueImpact, users: string): string =>
  `Severity rose to ${severityName(impact.severity)}: ${users} on ${impact.highImpactDay ?? 'one day'}.`

const KINDS = ['harmless', 'a warning', 'an error', 'a crash'] as const

/** Activity entry of an event that is worse than all before. */
export const eventSeveritySentence = (impact: IssueImpact, eventId: string): string =>
  `Severity rose to ${severityName(impact.severity)}: event ${eventId.slice(0, 8)} is ${KINDS[impact.eventSeverity]}.`
