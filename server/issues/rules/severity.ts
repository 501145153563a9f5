import type { EventLevel } from '../../events/protocol/event.api.ts'
import { DEFAULT_SEVERITY_RULES, type SeverityRules } from './issue-settings.api.ts'
import { severityName } from '#shared/issue-values.ts'
import type { Severity } from './issue.api.ts'

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
