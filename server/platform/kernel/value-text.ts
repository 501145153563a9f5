/** Numbers, counts and lists in texts for users (pure). */

const upToTwoDigits = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })

export const numberText = (value: number): string => upToTwoDigits.format(value)

/** `1 event`, `1,204 events` */
export const countedWord = (count: number, one: string, many = `${one}s`): string =>
  `${numberText(count)} ${count === 1 ? one : many}`

/** `a, b and c` */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`

/** @param unit of the threshold and value of an alert */
export function withUnit(value: number, unit: string | null): string {
  if (unit === 'events') return countedWord(value, 'event')
  if (unit === 'runs') return countedWord(value, 'run')
  if (unit === 'percent') return `${numberText(value)} %`
  if (unit === 'percent_per_hour') return `${numberText(value)} % per hour`
  return unit === 'ms' ? `${numberText(value)} ms` : numberText(value)
}

const DAY_MINUTES = 1_440

export function minutesText(minutes: number): string {
  if (minutes % DAY_MINUTES === 0) return countedWord(minutes / DAY_MINUTES, 'day')
  return minutes % 60 === 0 ? countedWord(minutes / 60, 'hour') : countedWord(minutes, 'minute')
}

/** `4.8 MB`, `1.2 GB` */
export function bytesText(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${['bytes', 'kB', 'MB', 'GB'][power] ?? ''}`
}
