/** Bounds and defaults of a project's rules for escalation and severity; the server refuses what the form marks. */

export type NumberBounds = { readonly min: number; readonly max: number; readonly isWhole: boolean }

const FACTOR: NumberBounds = { min: 1, max: 100, isWhole: false }
const EVENTS: NumberBounds = { min: 10, max: 1_000_000, isWhole: true }

/** Escalating: the hourly limit of an issue. `young_…` apply to issues with less than 7 days of history. */
export const ESCALATING_BOUNDS = {
  deviations: FACTOR,
  busy_factor: FACTOR,
  min_limit: EVENTS,
  young_factor: FACTOR,
  young_min_limit: EVENTS,
} as const satisfies Record<string, NumberBounds>

export const DEFAULT_ESCALATING = {
  deviations: 5,
  busy_factor: 5,
  min_limit: 10,
  young_factor: 10,
  young_min_limit: 50,
}

/** Users of a day from which on a crash is critical. */
export const MANY_USERS_BOUNDS: NumberBounds = { min: 1, max: 1_000_000_000, isWhole: true }
/** The same as a share of the day's active users, in percent. */
export const USER_SHARE_PERCENT_BOUNDS: NumberBounds = { min: 0.000_1, max: 100, isWhole: false }

export const DEFAULT_SEVERITY_RULES = { users: 25, user_share: 0.01 }
