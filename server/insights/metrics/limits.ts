import type { RangeName } from '#shared/issue-values.ts'
import { isOfOneDay } from '#shared/daily-limits.ts'
import { rateWord, type Bands, type Word } from '#shared/rate-words.ts'

/** Limits of app stores, and the words for rates that follow from them (docs/metrics.md has the sources). */

export const LIMITS = {
  crash: { watch: 0.005, poor: 0.0109 },
  anr: { watch: 0.004, poor: 0.0047 },
  /** Crash and ANR rate of one device model. */
  device: { watch: 0.0109, poor: 0.08 },
} as const

/** The word for a share of users; null over more than a day, which the store guard judges. */
export const userRateWord = (rate: number | null, users: number, bands: Bands, range: RangeName): Word | null =>
  isOfOneDay(range) ? rateWord(rate, users, bands) : null

const ORDER: readonly (Word | null)[] = [null, 'good', 'watch', 'poor']

export const worstWord = (a: Word | null, b: Word | null): Word | null => (ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b)
