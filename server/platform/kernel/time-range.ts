import type { RangeName } from '#shared/issue-values.ts'
import { rangeEnd, TIME_RANGES } from '#shared/time-ranges.ts'

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
  const to = rangeEnd(now.getTime(), range)
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
