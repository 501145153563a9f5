import { countedWord } from '../../platform/kernel/value-text.ts'

/** Numbers in the titles and explanations of alerts. Pure. */

const number = (value: number, digits: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: digits, useGrouping: true })

/** `1,204` */
export const countText = (count: number): string => number(count, 0)

/** `312 ms`, `5.31 s` */
export const durationText = (ms: number): string =>
  ms < 1_000 ? `${number(ms, ms < 10 ? 1 : 0)} ms` : `${number(ms / 1_000, 2)} s`

/** `0.47 %` of a percent number. */
export const percentText = (percent: number): string => `${number(percent, 2)} %`

export const scoreText = (score: number): string => number(score, 2)

/** `60 minutes`, `24 hours`, `7 days` */
export function windowText(minutes: number): string {
  if (minutes % 1_440 === 0 && minutes > 1_440) return `${minutes / 1_440} days`
  if (minutes % 60 === 0 && minutes > 60) return `${minutes / 60} hours`
  return countedWord(minutes, 'minute')
}
