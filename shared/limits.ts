/** Limits that the server enforces and the dashboard shows before it sends. */

/** Characters of an issue query. */
export const MAX_QUERY_CHARACTERS = 10_000
/** Characters of a regular expression in a rule. */
export const MAX_PATTERN_CHARACTERS = 300
/** API keys of one user, in all organisations. */
export const MAX_API_KEYS = 50
/** Addresses of one request that invites. */
export const MAX_INVITED_EMAILS = 100
/** Characters of a comment. */
export const MAX_COMMENT_CHARACTERS = 10_000
/** Characters of the name of a saved view. */
export const MAX_VIEW_NAME_CHARACTERS = 60
/** Issues that one bulk operation may change. */
export const MAX_BULK_ISSUES = 10_000
/** Days without an event after which an issue may be resolved automatically. */
export const MAX_AUTO_RESOLVE_DAYS = 365
/** Bounds of the numbers in a project's rules for escalation and severity. */
export const ISSUE_RULE_BOUNDS = {
  factor: { min: 1, max: 100 },
  hourlyLimit: { min: 10, max: 1_000_000 },
  users: { min: 1, max: 1_000_000_000 },
  userShare: { min: 0.000_001, max: 1 },
} as const
/** The highest P95 that a project may set as the limit of its requests. */
export const MAX_REQUEST_LIMIT_MS = 600_000
/** Journeys that a project may name as critical. */
export const MAX_CRITICAL_PATHS = 50
/** Events per minute that the rate limit of a project key may allow. */
export const MAX_EVENTS_PER_MINUTE = 1_000_000
/** Events per day that the quota of an organisation may allow. */
export const MAX_EVENTS_PER_DAY = 1_000_000_000

/** Days for which a project may keep its events. */
export const MAX_RETENTION_DAYS = 400
/** Keys of a project that its apps may use at the same time. */
export const MAX_PROJECT_KEYS = 20
/** Issues that events of a project may create per hour or day, as a setting. */
export const MAX_NEW_ISSUES = 1_000_000
