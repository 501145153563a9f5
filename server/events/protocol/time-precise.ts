import { parseTime } from './time.ts'

/**
 * Like {@link parseTime}, with the fractions of a millisecond that durations of spans need. Numbers in seconds are
 * exact to about a quarter of a microsecond. Null when it is no time.
 */
export function parseTimePrecise(value: unknown): number | null {
  const wholeMs = parseTime(value)
  if (wholeMs === null) return null
  if (typeof value === 'number') return nearTo(wholeMs, value)
  if (typeof value !== 'string') return wholeMs
  const number = Number(value)
  if (!Number.isNaN(number)) return nearTo(wholeMs, number)
  const fraction = /[.,](\d{1,9})/.exec(value)?.[1]
  // parseTime cuts the fraction in text after three digits.
  return fraction === undefined || fraction.length <= 3 ? wholeMs : wholeMs + Number(`0.${fraction.slice(3)}`)
}

/** The number in milliseconds, with the unit that `parseTime` chose. */
function nearTo(wholeMs: number, value: number): number {
  for (const scale of [1_000, 1, 1e-3, 1e-6]) {
    const exactMs = value * scale
    if (Math.abs(exactMs - wholeMs) <= 1) return exactMs
  }
  return wholeMs
}
