/** Bounds and defaults of monitors of scheduled jobs, for check-ins, the API and the form. Pure. */

export const INTERVAL_UNITS = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const
export type IntervalUnit = (typeof INTERVAL_UNITS)[number]
export const MAX_INTERVAL = 10_000

/** 28 days, of grace and limit. */
export const MAX_MONITOR_MINUTES = 40_320
/** Runs in a row. */
export const MAX_MONITOR_THRESHOLD = 720

/** As SDKs document them where a check-in leaves them out. */
export const DEFAULT_GRACE_MINUTES = 1
export const DEFAULT_LIMIT_MINUTES = 30
