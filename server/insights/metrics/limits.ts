import type { RangeName } from '#shared/issue-values.ts'
import { isOfOneDay } from '#shared/daily-limits.ts'

/** Limits of app stores, and the words for rates that follow from them (docs/metrics.md has the sources). */

export const LIMITS = {
  crash: { watch: 0.005, poor: 0.0109 },
  anr: { watch: 0.004, poor: 0.0047 },
  /** Crash and ANR rate of one device model. */
  device: { watch: 0.0109, poor: 0.08 },
} as const

export type Bands = { readonly watch: number; readonly poor: number }
export type Word = 'good' | 'watch' | 'poor'

/** With fewer sessions or users a rate has no word, unless it is clearly poor: one crash would decide it. */
const MIN_FOR_WORD = 100

export function rateWord(rate: number | null, of: number, bands: Bands): Word | null {
  if (rate === null) return null
  if (of < MIN_FOR_WORD) return isClearlyPoor(rate, of, bands) ? 'poor' : null
  if (rate >= bands.poor) return 'poor'
  return rate >= bands.watch ? 'watch' : 'good'
}

/** One-sided 2.5 %: fewer would be above the limit by chance. */
const SIGNIFICANT = 1.96
const MIN_AFFECTED = 5

/** Whether a rate of few is over its limit beyond chance: the lower bound of its interval is (Wilson). */
export function isClearlyPoor(rate: number, of: number, { poor }: Bands): boolean {
  if (rate * of < MIN_AFFECTED) return false
  const square = SIGNIFICANT ** 2
  const middle = rate + square / (2 * of)
  const spread = SIGNIFICANT * Math.sqrt((rate * (1 - rate)) / of + square / (4 * of * of))
  return (middle - spread) / (1 + square / of) >= poor
}

/** The word for a share of users; null over more than a day, which the store guard judges. */
export const userRateWord = (rate: number | null, users: number, bands: Bands, range: RangeName): Word | null =>
  isOfOneDay(range) ? rateWord(rate, users, bands) : null

const ORDER: readonly (Word | null)[] = [null, 'good', 'watch', 'poor']

export const worstWord = (a: Word | null, b: Word | null): Word | null => (ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b)
