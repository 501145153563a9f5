import type { Dimension, Count, Source } from './dimensions.ts'

/** Values of a dimension, any of which is wanted. Empty text is unknown. */
export type HealthFilter = Readonly<Partial<Record<Dimension, readonly string[]>>>

export type HealthQuery = {
  readonly projectIds: readonly string[]
  readonly source: Source
  /** Rounded down to the minute; of past days to longer buckets, because minutes are kept for two days. */
  readonly from: Date
  /** Excluded. Rounded in the same way. */
  readonly to: Date
  readonly now: Date
  readonly filter: HealthFilter
  /** Counts to read; all by default. Other counts are 0. Reading by value needs `total`. */
  readonly counts?: readonly Count[]
}
