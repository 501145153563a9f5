import type { EventLevel } from '../protocol/event.api.ts'
import type { Severity } from './issues.api.ts'

/** How urgent an issue is, before a person pins it and before escalation adds a step. */

export type SeverityFacts = {
  level: EventLevel
  isUnhandled: boolean
  isAnr: boolean
  isNativeCrash: boolean
}

export type UserImpact = {
  /** Distinct users the issue reached today. */
  affectedUsers: number
  /** Distinct users active today; null where nobody reports sessions. */
  activeUsers: number | null
}

const WIDE_SHARE = 0.01
const WIDE_USERS = 25

/**
 * Crashes (unhandled errors, native crashes, ANRs) are critical for many, else high; handled errors high for many,
 * else medium; warnings medium; the rest low. Many crashes: 1 % of the day's active users, or 25 users. Many handled
 * errors: 1 %.
 */
export function initialSeverity(facts: SeverityFacts, impact: UserImpact): Severity {
  const share = impact.activeUsers === null || impact.activeUsers <= 0 ? 0 : impact.affectedUsers / impact.activeUsers
  const wide = share >= WIDE_SHARE
  const isError = facts.level === 'fatal' || facts.level === 'error'
  if (facts.isAnr || facts.isNativeCrash || (facts.isUnhandled && isError)) {
    return wide || impact.affectedUsers >= WIDE_USERS ? 'critical' : 'high'
  }
  if (isError) return wide ? 'high' : 'medium'
  return facts.level === 'warning' ? 'medium' : 'low'
}
