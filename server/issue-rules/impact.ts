import { dayOf, dayPlus } from '../kernel/day.ts'
import { severityName, severityRank } from './issue.ts'
import type { IssueStatus } from './issue.api.ts'
import { type Gravity, gravityFrom, isStillWide, isWide, severityOf } from './severity.ts'

/** How severe an issue is and whom it reached, as its row holds it. Pure. */
export type IssueImpact = {
  /** Rank, as shown. */
  readonly severity: number
  /** A person chose it: nothing else changes it. */
  readonly isPinned: boolean
  readonly gravity: Gravity
  /** Distinct users of one UTC day, and which day. */
  readonly usersDay: string | null
  readonly usersToday: number
  /** Newest UTC day on which it reached many. */
  readonly wideDay: string | null
}

/** The columns of an issue that hold it. */
export type ImpactRow = {
  readonly severity: number
  readonly severity_pinned: boolean
  readonly gravity: number
  readonly users_day: string | null
  readonly users_today: number
  readonly wide_day: string | null
}

export const impactFrom = (row: ImpactRow): IssueImpact => ({
  severity: row.severity,
  isPinned: row.severity_pinned,
  gravity: gravityFrom(row.gravity),
  usersDay: row.users_day,
  usersToday: row.users_today,
  wideDay: row.wide_day,
})

export const newImpact = (gravity: Gravity): IssueImpact => ({
  severity: severityRank(severityOf(gravity, false, false)),
  isPinned: false,
  gravity,
  usersDay: null,
  usersToday: 0,
  wideDay: null,
})

/** Rank by the rules, whoever pinned what. */
export const rankOf = (impact: Pick<IssueImpact, 'gravity' | 'wideDay'>, status: IssueStatus, now: Date): number =>
  severityRank(severityOf(impact.gravity, isStillWide(impact.wideDay, dayPlus(dayOf(now), -1)), status === 'escalated'))

/** The same impact with the severity the rules give it now. */
export const rated = (impact: IssueImpact, status: IssueStatus, now: Date): IssueImpact =>
  impact.isPinned ? impact : { ...impact, severity: rankOf(impact, status, now) }

/** Events came: the worst of them, how many users were not yet counted today, and from how many on a crash is critical. */
export type Reached = { readonly gravity: Gravity; readonly users: number; readonly manyUsers: number }

export function reach(impact: IssueImpact, reached: Reached, status: IssueStatus, now: Date): IssueImpact {
  const today = dayOf(now)
  const gravity = reached.gravity > impact.gravity ? reached.gravity : impact.gravity
  const usersToday = (impact.usersDay === today ? impact.usersToday : 0) + reached.users
  const wide = isWide(
    gravity,
    { affectedUsers: usersToday, activeUsers: null },
    { users: reached.manyUsers, user_share: 1 },
  )
  const next = { ...impact, gravity, usersDay: today, usersToday, wideDay: wide ? today : impact.wideDay }
  return rated(next, status, now)
}

/** For the activity, when an issue began to reach many. */
export const wideSentence = (impact: IssueImpact, users: string): string =>
  `Severity rose to ${severityName(impact.severity)}: ${users} on ${impact.wideDay ?? 'one day'}.`

const KINDS = ['harmless', 'a warning', 'an error', 'a crash'] as const

/** For the activity, when an event is worse than all before. */
export const graverSentence = (impact: IssueImpact, eventId: string): string =>
  `Severity rose to ${severityName(impact.severity)}: event ${eventId.slice(0, 8)} is ${KINDS[impact.gravity]}.`
