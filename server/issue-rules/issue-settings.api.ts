import { z } from 'zod'

/** When issues escalate, and when they reach many people. */

const factor = (name: string) =>
  z
    .number({ error: `${name} must be a number.` })
    .min(1, { error: `${name} must be at least 1.` })
    .max(100, { error: `${name} must be at most 100.` })
const events = (name: string) =>
  z
    .int({ error: `${name} must be a whole number.` })
    .min(10, { error: `${name} must be at least 10.` })
    .max(1_000_000, { error: `${name} must be at most 1,000,000.` })

export const EscalatingRules = z.strictObject({
  deviations: factor('deviations').describe('Standard deviations over the mean of an hour.'),
  busy_factor: factor('busy_factor').describe('Times the median of the hours with events.'),
  least: events('least').describe('No hourly limit is lower.'),
  young_factor: factor('young_factor').describe('Times the largest hour of an issue younger than 7 days.'),
  young_least: events('young_least').describe('No hourly limit of such an issue is lower.'),
})
export type EscalatingRules = z.output<typeof EscalatingRules>

export const DEFAULT_ESCALATING: EscalatingRules = {
  deviations: 5,
  busy_factor: 5,
  least: 10,
  young_factor: 10,
  young_least: 50,
}

export const SeverityRules = z.strictObject({
  users: z
    .int({ error: 'users must be a whole number.' })
    .min(1, { error: 'users must be at least 1.' })
    .max(1_000_000_000, { error: 'users must be at most 1,000,000,000.' })
    .describe('So many users of a day make a crash critical.'),
  user_share: z
    .number({ error: 'user_share must be a number.' })
    .gt(0, { error: 'user_share must be more than 0.' })
    .max(1, { error: 'user_share must be at most 1.' })
    .describe('Such a share of the day’s active users makes a crash critical and a handled error high.'),
})
export type SeverityRules = z.output<typeof SeverityRules>

export const DEFAULT_SEVERITY_RULES: SeverityRules = { users: 25, user_share: 0.01 }

export const issueFields = {
  auto_resolve_days: z.number().int().min(0).max(365).describe('0 switches it off.'),
}
