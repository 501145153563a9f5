import { dayOf, dayPlus } from '../kernel/day.ts'
import { severityName, severityRank } from './issue.ts'
import type { IssueStatus } from './issue.api.ts'
import { type EventSeverity, eventSeverityFrom, hasHighImpact, isHighImpact, severityOf } from './severity.ts'

/** How severe an issue is and whom it reached, as its row holds it. Pure. */
export type IssueImpact = {
  /** Rank, as shown. */
  readonly severity: number
  /** A person chose it: nothing else changes it. */
  readonly isPinned: boolean
  readonly eventSeverity: EventSeverity
  /** Distinct users of one UTC day, and which day. */
  readonly usersDay: string | null
  readonly usersToday: number
  /** Newest UTC day on which it reached many. */
  readonly highImpactDay: string | null
}

/** The columns of an issue that hold it. */
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
  severity: severityRank(severityOf(eventSeverity, false, false)),
  isPinned: false,
  eventSeverity,
  usersDay: null,
  usersToday: 0,
  highImpactDay: null,
})

/** Rank by the rules, whoever pinned what. */
export const rankOf = (
  impact: Pick<IssueImpact, 'eventSeverity' | 'highImpactDay'>,
  status: IssueStatus,
  now: Date,
): number =>
  severityRank(
    severityOf(
      impact.eventSeverity,
      hasHighImpact(impact.highImpactDay, dayPlus(dayOf(now), -1)),
      status === 'escalated',
    ),
  )

/** The same impact with the severity the rules give it now. */
export const rated = (impact: IssueImpact, status: IssueStatus, now: Date): IssueImpact =>
  impact.isPinned ? impact : { ...impact, severity: rankOf(impact, status, now) }

/** Events came: the worst of them, how many users were not yet counted today, and from how many on a crash is critical. */
export type Reached = { readonly eventSeverity: EventSeverity; readonly users: number; readonly manyUsers: number }

export function reach(impact: IssueImpact, reached: Reached, status: IssueStatus, now: Date): IssueImpact {
  const today = dayOf(now)
  const eventSeverity = reached.eventSeverity > impact.eventSeverity ? reached.eventSeverity : impact.eventSeverity
  const usersToday = (impact.usersDay === today ? impact.usersToday : 0) + reached.users
  const wide = isHighImpact(
    eventSeverity,
    { affectedUsers: usersToday, activeUsers: null },
    { users: reached.manyUsers, user_share: 1 },
  )
  const next = {
    ...impact,
    eventSeverity,
    usersDay: today,
    usersToday,
    highImpactDay: wide ? today : impact.highImpactDay,
  }
  return rated(next, status, now)
}

/** For the activity, when an issue began to reach many. */
export const impactSentence = (impact: IssueImpact, users: string): string =>
  `Severity rose to ${severityName(impact.severity)}: ${users} on ${impact.highImpactDay ?? 'one day'}.`

const KINDS = ['harmless', 'a warning', 'an error', 'a crash'] as const

/** For the activity, when an event is worse than all before. */
export const eventSeveritySentence = (impact: IssueImpact, eventId: string): string =>
  `Severity rose to ${severityName(impact.severity)}: event ${eventId.slice(0, 8)} is ${KINDS[impact.eventSeverity]}.`
