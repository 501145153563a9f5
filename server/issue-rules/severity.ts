import type { EventLevel } from '../protocol/event.api.ts'
import { DEFAULT_SEVERITY_RULES, type SeverityRules } from '../projects/issue-rules.api.ts'
import { severityName } from './issue.ts'
import type { Severity } from './issue.api.ts'

/** How urgent an issue is as long as no person pins it. Pure. */

/** The kind of an event as far as severity goes; an issue keeps the worst it met. */
export const GRAVITY = { note: 0, warning: 1, error: 2, crash: 3 } as const
export type Gravity = (typeof GRAVITY)[keyof typeof GRAVITY]

/** A number of the table as gravity. */
export const gravityFrom = (stored: number): Gravity => (stored === 3 || stored === 2 || stored === 1 ? stored : 0)

export type SeverityFacts = {
  level: EventLevel
  isUnhandled: boolean
  isAnr: boolean
  isNativeCrash: boolean
}

export function gravityOf(facts: SeverityFacts): Gravity {
  const isError = facts.level === 'fatal' || facts.level === 'error'
  if (facts.isAnr || facts.isNativeCrash || (facts.isUnhandled && isError)) return GRAVITY.crash
  if (isError) return GRAVITY.error
  return facts.level === 'warning' ? GRAVITY.warning : GRAVITY.note
}

export type UserImpact = {
  /** Distinct users the issue reached today. */
  readonly affectedUsers: number
  /** Distinct users active today; null where nobody reports sessions. */
  readonly activeUsers: number | null
}

/** Whether an issue of that gravity reaches many: crashes by number or share of users, handled errors by share. */
export function isWide(gravity: Gravity, impact: UserImpact, rules: SeverityRules = DEFAULT_SEVERITY_RULES): boolean {
  if (gravity < GRAVITY.error || impact.affectedUsers === 0) return false
  if (gravity === GRAVITY.crash && impact.affectedUsers >= rules.users) return true
  return (
    impact.activeUsers !== null &&
    impact.activeUsers > 0 &&
    impact.affectedUsers / impact.activeUsers >= rules.user_share
  )
}

/** Crashes are critical for many, else high; handled errors high for many, else medium; +1 step while escalated. */
export function severityOf(gravity: Gravity, wide: boolean, isEscalated: boolean): Severity {
  const base = gravity === GRAVITY.note ? 0 : gravity === GRAVITY.warning ? 1 : gravity - 1 + (wide ? 1 : 0)
  return severityName(Math.min(3, base + (isEscalated ? 1 : 0)))
}

/**
 * Whether a day on which an issue reached many still counts: that day and the next. Users of a day grow from nothing
 * at midnight; judged by themselves they would make every severity fall then and rise again.
 * @param wideDay newest such day, `2026-11-20`; null for none
 * @param yesterday the UTC day before now
 */
export const isStillWide = (wideDay: string | null, yesterday: string): boolean =>
  wideDay !== null && wideDay >= yesterday
