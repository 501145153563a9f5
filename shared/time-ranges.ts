import type { RangeName } from './issue-values.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Length and bucket size of the ranges, the same for every chart. */
export const TIME_RANGES = {
  '1h': { lengthMs: HOUR_MS, stepSeconds: 60 },
  '24h': { lengthMs: DAY_MS, stepSeconds: 900 },
  '7d': { lengthMs: 7 * DAY_MS, stepSeconds: 3_600 },
  '30d': { lengthMs: 30 * DAY_MS, stepSeconds: 21_600 },
} as const satisfies Record<RangeName, { lengthMs: number; stepSeconds: number }>

/** The end of a range, excluded: the end of the current bucket, which is incomplete. */
export function rangeEnd(nowMs: number, range: RangeName): number {
  const stepMs = TIME_RANGES[range].stepSeconds * 1000
  return (Math.floor(nowMs / stepMs) + 1) * stepMs
}

const QUARTER_MS = 15 * MINUTE_MS

/** The start of the counts of issues in a range: a whole quarter of an hour. */
export function countsStart(nowMs: number, range: RangeName): number {
  const from = rangeEnd(nowMs, range) - TIME_RANGES[range].lengthMs
  return from - (from % QUARTER_MS)
}
