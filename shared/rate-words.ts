/** The words for rates and other figures, by the limits between them. Pure. */

/** From `watch` on a figure needs attention, from `poor` on it is bad. */
export type Bands = { readonly watch: number; readonly poor: number }
export type Word = 'good' | 'watch' | 'poor'

/** Null for an unknown figure. */
export const figureWord = (value: number | null, { watch, poor }: Bands): Word | null =>
  value === null ? null : value >= poor ? 'poor' : value >= watch ? 'watch' : 'good'

/** Fewer values have no percentiles, and failures among fewer requests are no rate. */
export const MIN_VALUES = 20

/** With fewer sessions or users a rate has no word, unless it is clearly poor: one crash would decide it. */
const MIN_FOR_WORD = 100

export const rateWord = (rate: number | null, of: number, bands: Bands): Word | null =>
  rate !== null && of < MIN_FOR_WORD ? (isClearlyPoor(rate, of, bands) ? 'poor' : null) : figureWord(rate, bands)

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
