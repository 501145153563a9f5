import { ISSUE_RULE_BOUNDS, MAX_AUTO_RESOLVE_DAYS } from '#shared/limits.ts'
import { z } from 'zod'

/** Settings of a project for escalation, severity and automatic resolution. */

const inBounds = (number: z.ZodNumber, name: string, { min, max }: { min: number; max: number }) =>
  number
    .min(min, { error: `${name} must be at least ${min}.` })
    .max(max, { error: `${name} must be at most ${max.toLocaleString('en')}.` })
const factor = (name: string) =>
  inBounds(z.number({ error: `${name} must be a number.` }), name, ISSUE_RULE_BOUNDS.factor)
const hourlyLimit = (name: string) =>
  inBounds(z.int({ error: `${name} must be a whole number.` }), name, ISSUE_RULE_BOUNDS.hourlyLimit)

export const EscalatingRules = z.strictObject({
  deviations: factor('deviations').describe('Standard deviations above the hourly mean.'),
  busy_factor: factor('busy_factor').describe('Multiple of the median of the hours with events.'),
  min_limit: hourlyLimit('min_limit').describe('Minimum hourly limit.'),
  new_issue_factor: factor('new_issue_factor').describe(
    'Multiple of the largest hour, for issues younger than 7 days.',
  ),
  new_issue_min_limit: hourlyLimit('new_issue_min_limit').describe(
    'Minimum hourly limit of issues younger than 7 days.',
  ),
})
export type EscalatingRules = z.output<typeof EscalatingRules>

export const DEFAULT_ESCALATING: EscalatingRules = {
  deviations: 5,
  busy_factor: 5,
  min_limit: 10,
  new_issue_factor: 10,
  new_issue_min_limit: 50,
}

export const SeverityRules = z.strictObject({
  users: inBounds(z.int({ error: 'users must be a whole number.' }), 'users', ISSUE_RULE_BOUNDS.users).describe(
    'A crash that affects this many users in one day is critical.',
  ),
  user_share: inBounds(
    z.number({ error: 'user_share must be a number.' }),
    'user_share',
    ISSUE_RULE_BOUNDS.userShare,
  ).describe('At this share (0 to 1) of the day’s active users, a crash is critical and a handled error is high.'),
})
export type SeverityRules = z.output<typeof SeverityRules>

export const DEFAULT_SEVERITY_RULES: SeverityRules = { users: 25, user_share: 0.01 }

export const issueFields = {
  auto_resolve_days: z.number().int().min(0).max(MAX_AUTO_RESOLVE_DAYS).describe('0 disables it.'),
}
