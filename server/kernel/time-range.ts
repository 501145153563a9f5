import type { RangeName } from '#shared/issue-values.ts'

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

export type TimeRange = {
  readonly from: number
  /** Excluded. */
  readonly to: number
  readonly stepSeconds: (typeof TIME_RANGES)[RangeName]['stepSeconds']
  /** Starts of its buckets. */
  readonly times: readonly number[]
}

/** The range up to now in whole buckets of UTC. The newest bucket is incomplete: it ends in the future. */
export function timeRange(now: Date, range: RangeName): TimeRange {
  const { lengthMs, stepSeconds } = TIME_RANGES[range]
  const stepMs = stepSeconds * 1000
  const to = (Math.floor(now.getTime() / stepMs) + 1) * stepMs
  return rangeFrom(to - lengthMs, to, stepSeconds)
}

/** The range of the same length before it. */
export const previousRange = ({ from, to, stepSeconds }: TimeRange): TimeRange =>
  rangeFrom(2 * from - to, from, stepSeconds)

const rangeFrom = (from: number, to: number, stepSeconds: TimeRange['stepSeconds']): TimeRange => ({
  from,
  to,
  stepSeconds,
  times: Array.from({ length: (to - from) / (stepSeconds * 1000) }, (_, index) => from + index * stepSeconds * 1000),
})
