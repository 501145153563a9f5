import { HOUR_MS, DAY_MS } from '../../platform/kernel/day.ts'

/**
 * Bucket sizes of charts of an hour, a day, a week and 30 days, of whole days, and of four days for totals: without them
 * 30 days are up to 35 buckets instead of 15. Each is a multiple of those before.
 */
export const BUCKET_SECONDS = [60, 900, 3_600, 21_600, 86_400, 345_600] as const
export type BucketSeconds = (typeof BUCKET_SECONDS)[number]

/** How long buckets are kept, from their start. Short ones serve charts of up to a day and the day before. */
export const KEPT_MS: Readonly<Record<BucketSeconds, number>> = {
  60: 49 * HOUR_MS,
  900: 7 * DAY_MS,
  3_600: 400 * DAY_MS,
  21_600: 400 * DAY_MS,
  86_400: 400 * DAY_MS,
  345_600: 400 * DAY_MS,
}

/** Readers stop using buckets this long before they are deleted. */
const MARGIN_MS = HOUR_MS / 2

/** Start of the bucket a time lies in; buckets begin at whole multiples since 1970. */
export const floorToBucket = (at: number, bucketMs: number): number => Math.floor(at / bucketMs) * bucketMs

/** Whole buckets of one size, `to` excluded; times in milliseconds. */
export type Span = { readonly bucketSeconds: BucketSeconds; readonly from: number; readonly to: number }

/** Every bucket of spans. */
export const bucketsIn = (spans: readonly Span[]): { readonly seconds: BucketSeconds; readonly at: Date }[] =>
  spans.flatMap(({ bucketSeconds, from, to }) =>
    Array.from({ length: Math.ceil((to - from) / (bucketSeconds * 1000)) }, (_, index) => ({
      seconds: bucketSeconds,
      at: new Date(from + index * bucketSeconds * 1000),
    })),
  )

/**
 * Divides a range into the fewest spans of whole buckets: long ones inside, shorter ones at both ends. Rounds both ends
 * down to the shortest buckets that are still kept at that age.
 * @returns an empty list for an empty range
 */
export function bucketSpans(from: number, to: number, now: number): Span[] {
  return cover(roundDown(from, now), roundDown(to, now), BUCKET_SECONDS.length - 1)
}

function roundDown(at: number, now: number): number {
  const finest = BUCKET_SECONDS.find((seconds) => now - at < KEPT_MS[seconds] - MARGIN_MS) ?? 3_600
  return floorToBucket(at, finest * 1000)
}

function cover(from: number, to: number, size: number): Span[] {
  const bucketSeconds = BUCKET_SECONDS[size]
  if (from >= to || bucketSeconds === undefined) return []
  const bucketMs = bucketSeconds * 1000
  const inner = floorToBucket(from + bucketMs - 1, bucketMs)
  const end = floorToBucket(to, bucketMs)
  if (inner >= end) return cover(from, to, size - 1)
  return [...cover(from, inner, size - 1), { bucketSeconds, from: inner, to: end }, ...cover(end, to, size - 1)]
}
