/** Measured values in messages to users (pure). */

export const numberText = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 2 })

export const counted = (count: number, thing: string): string =>
  `${numberText(count)} ${thing}${count === 1 ? '' : 's'}`

/** @param unit of the threshold and value of an alert */
export function withUnit(value: number, unit: string | null): string {
  if (unit === 'events') return counted(value, 'event')
  if (unit === 'percent') return `${numberText(value)} %`
  if (unit === 'percent_per_hour') return `${numberText(value)} % per hour`
  return unit === 'ms' ? `${numberText(value)} ms` : numberText(value)
}

const DAY_MINUTES = 1_440

export function durationOf(minutes: number): string {
  if (minutes % DAY_MINUTES === 0) return counted(minutes / DAY_MINUTES, 'day')
  return minutes % 60 === 0 ? counted(minutes / 60, 'hour') : counted(minutes, 'minute')
}
