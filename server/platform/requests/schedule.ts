import { MINUTE_MS } from '../kernel/day.ts'

/** Delay before each attempt of the schedule, counted from the end of the one before: 14 h 36 min in all. */
export const DELAYS_MS = [0, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 720 * MINUTE_MS] as const

/** From the look-up of the name to the header line of the answer. */
export const ATTEMPT_TIMEOUT_MS = 10_000
