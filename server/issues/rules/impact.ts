import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { severityName, severityRank } from '#shared/issue-values.ts'
import type { IssueStatus, Severity } from './issue.api.ts'
import type { EventLevel } from '../../events/protocol/event.api.ts'
import { DEFAULT_SEVERITY_RULES, type SeverityRules } from './issue-settings.api.ts'

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
type Reached = { readonly eventSeverity: EventSeverity; readonly users: number; readonly manyUsers: number }

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

/** How urgent an issue is unless a member pins its severity. Pure. */

/** The severity that one event alone gives. An issue keeps the event severity of its worst event. */
export const EVENT_SEVERITY = { note: 0, warning: 1, error: 2, crash: 3 } as const
export type EventSeverity = (typeof EVENT_SEVERITY)[keyof typeof EVENT_SEVERITY]

/** The stored number, or 0 for an unknown one. */
export const eventSeverityFrom = (stored: number): EventSeverity =>
  stored === 3 || stored === 2 || stored === 1 ? stored : 0

export type SeverityFacts = {
  level: EventLevel
  isUnhandled: boolean
  isAnr: boolean
  isNativeCrash: boolean
}

export function rateEventSeverity(facts: SeverityFacts): EventSeverity {
  const isError = facts.level === 'fatal' || facts.level === 'error'
  if (facts.isAnr || facts.isNativeCrash || (facts.isUnhandled && isError)) return EVENT_SEVERITY.crash
  if (isError) return EVENT_SEVERITY.error
  return facts.level === 'warning' ? EVENT_SEVERITY.warning : EVENT_SEVERITY.note
}

export type UserImpact = {
  /** Distinct users the issue affected today. */
  readonly affectedUsers: number
  /** Distinct users active today; null when the project sends no sessions. */
  readonly activeUsers: number | null
}

/** Whether the issue affects many users today: crashes by number or share of users, handled errors by share only. */
export function isHighImpact(
  eventSeverity: EventSeverity,
  impact: UserImpact,
  rules: SeverityRules = DEFAULT_SEVERITY_RULES,
): boolean {
  if (eventSeverity < EVENT_SEVERITY.error || impact.affectedUsers === 0) return false
  if (eventSeverity === EVENT_SEVERITY.crash && impact.affectedUsers >= rules.users) return true
  return (
    impact.activeUsers !== null &&
    impact.activeUsers > 0 &&
    impact.affectedUsers / impact.activeUsers >= rules.user_share
  )
}

/** Crashes are critical with high impact, else high; handled errors high, else medium; one step more while escalated. */
export function rateSeverity(eventSeverity: EventSeverity, highImpact: boolean, isEscalated: boolean): Severity {
  const base =
    eventSeverity === EVENT_SEVERITY.note
      ? 0
      : eventSeverity === EVENT_SEVERITY.warning
        ? 1
        : eventSeverity - 1 + (highImpact ? 1 : 0)
  return severityName(Math.min(3, base + (isEscalated ? 1 : 0)))
}

/**
 * Whether a high-impact day still counts: that day and the next one. The users of a day are counted from zero at midnight;
 * without this, every severity would fall then and rise again.
 * @param highImpactDay the newest one, `2026-11-20`; null for none
 * @param yesterday the UTC day before now
 */
export const hasHighImpact = (highImpactDay: string | null, yesterday: string): boolean =>
  highImpactDay !== null && highImpactDay >= yesterday
