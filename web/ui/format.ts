import { serviceNow } from './clock.ts'
/**
 * Formats of numbers and times. Pure, except for the chosen zone. A narrow no-break space precedes units and %, a minus
 * sign (−) negative numbers, `×` factors.
 */

const THIN = '\u202f'
const MINUS = '\u2212'

/** Unknown is never 0, a dash or "N/A". */
export const NO_DATA = 'no data'

const SECOND = 1000
export const MINUTE_MS = 60 * SECOND
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export type Zone = 'local' | 'utc'

let shownZone: Zone = 'local'

/** Sets the time zone of all formats; a preference of the user. */
export function setZone(zone: Zone): void {
  shownZone = zone
}

const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })
const signed = (text: string): string => text.replace('-', MINUS)
const unit = (figure: string, name: string): string => `${figure}${THIN}${name}`

/** At most `digits` decimals, none if all are 0. */
const decimals = (value: number, digits: number): string => String(Number(value.toFixed(digits)))
/** With all digits, unless it is whole. */
const fixed = (value: number, digits: number): string => value.toFixed(digits).replace(/\.0+$/u, '')

/** `1,284`, for tables. */
export const formatCount = (count: number | null): string => (count === null ? NO_DATA : signed(whole.format(count)))

export const plural = (count: number, one: string, many: string): string => (count === 1 ? one : many)

/** `1 event`, `1,284 events`. */
export const counted = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${plural(count, one, many)}`

/** `48.2 k`, `1.9 M`, for cards and axes; below 10,000 as in tables. */
export function formatShortCount(count: number | null): string {
  if (count === null) return NO_DATA
  const size = Math.abs(count)
  if (size < 10_000) return formatCount(count)
  // 999,950 would round to "1000 k".
  if (size < 999_950) return signed(unit(decimals(count / 1e3, 1), 'k'))
  if (size < 999_950_000) return signed(unit(decimals(count / 1e6, 1), 'M'))
  return signed(unit(decimals(count / 1e9, 1), 'G'))
}

/** A fraction 0…1 as `0.41 %`. */
export const formatRate = (fraction: number | null): string =>
  fraction === null ? NO_DATA : unit((fraction * 100).toFixed(2), '%')

/** A share without decimals: `34 %`; `<1 %` where it is small. */
export const formatShare = (share: number | null): string =>
  share === null ? NO_DATA : share > 0 && share < 0.01 ? unit('<1', '%') : unit(String(Math.round(share * 100)), '%')

const withSign = (value: number, text: string): string => (value > 0 ? `+${text}` : signed(text))

/** A difference of two fractions in points: `+0.05 pt`. */
export const formatPoints = (difference: number | null): string =>
  difference === null ? NO_DATA : unit(withSign(difference, (difference * 100).toFixed(2)), 'pt')

/** Change from an earlier number: `+18 %`; no data without an earlier number. */
export function formatChange(now: number | null, before: number | null): string {
  if (now === null || before === null || before === 0) return NO_DATA
  return formatGrowth((now - before) / before)
}

/** A relative change: 0.18 is `+18 %`. */
export function formatGrowth(growth: number): string {
  const percent = Math.round(growth * 100)
  return unit(withSign(percent, whole.format(percent)), '%')
}

/** `×6.2` */
export const formatFactor = (factor: number): string => `×${decimals(factor, factor < 10 ? 1 : 0)}`

/** `940 ms`, `1.18 s`, `3 min 12 s`, `2 h 5 min`. */
export function formatDuration(durationMs: number | null): string {
  if (durationMs === null) return NO_DATA
  const ms = Math.max(0, durationMs)
  if (ms < 999.5) return unit(String(Math.round(ms)), 'ms')
  // Figures beside each other have as many digits: `3.40 s` beside `3.33 s`.
  if (ms < 59_995) return unit(fixed(ms / SECOND, ms < 9_995 ? 2 : 1), 's')
  const seconds = Math.round(ms / SECOND)
  if (seconds < 3600) return twoUnits(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(ms / MINUTE_MS)
  if (minutes < 24 * 60) return twoUnits(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(ms / HOUR_MS)
  return twoUnits(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

const twoUnits = (large: number, largeName: string, small: number, smallName: string): string =>
  small === 0 ? unit(String(large), largeName) : `${unit(String(large), largeName)} ${unit(String(small), smallName)}`

/** `31.4 MB`, powers of ten. */
export function formatSize(sizeBytes: number | null): string {
  if (sizeBytes === null) return NO_DATA
  if (sizeBytes < 1000) return unit(String(sizeBytes), 'B')
  if (sizeBytes < 999_950) return unit(decimals(sizeBytes / 1e3, 1), 'kB')
  if (sizeBytes < 999_950_000) return unit(decimals(sizeBytes / 1e6, 1), 'MB')
  return unit(decimals(sizeBytes / 1e9, 1), 'GB')
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const
const two = (value: number): string => String(value).padStart(2, '0')

type Instant = Date | string | number
const dateOf = (at: Instant): Date => (at instanceof Date ? at : new Date(at))

/** The date and time fields in the chosen zone. */
function onTheWall(at: Instant, zone: Zone) {
  const date = dateOf(at)
  const utc = zone === 'utc'
  return {
    year: utc ? date.getUTCFullYear() : date.getFullYear(),
    month: MONTHS[utc ? date.getUTCMonth() : date.getMonth()] ?? '',
    day: utc ? date.getUTCDate() : date.getDate(),
    hour: utc ? date.getUTCHours() : date.getHours(),
    minute: utc ? date.getUTCMinutes() : date.getMinutes(),
    second: utc ? date.getUTCSeconds() : date.getSeconds(),
    offsetMinutes: utc ? 0 : -date.getTimezoneOffset(),
  }
}

/** `UTC`, `UTC+2`, `UTC−3:30`. */
export function zoneName(at: Instant, zone: Zone = shownZone): string {
  const { offsetMinutes } = onTheWall(at, zone)
  if (offsetMinutes === 0) return 'UTC'
  const size = Math.abs(offsetMinutes)
  const minutes = size % 60
  return `UTC${offsetMinutes > 0 ? '+' : MINUS}${Math.floor(size / 60)}${minutes === 0 ? '' : `:${two(minutes)}`}`
}

/** How far the wall clock is before UTC, in the chosen zone. */
export const offsetMinutes = (at: Instant, zone: Zone = shownZone): number => onTheWall(at, zone).offsetMinutes

/** `14:05` */
export function formatClock(at: Instant, zone: Zone = shownZone): string {
  const { hour, minute } = onTheWall(at, zone)
  return `${two(hour)}:${two(minute)}`
}

/** `14:05:04` today, for times that are seconds apart; else as {@link formatMoment}. */
export function formatMark(at: Instant, now: Instant = serviceNow(), zone: Zone = shownZone): string {
  if (formatDay(at, now, zone) !== formatDay(now, now, zone)) return formatMoment(at, now, zone)
  return `${formatClock(at, zone)}:${two(onTheWall(at, zone).second)}`
}

/** `9 Nov`, in other years `9 Nov 2025`. */
export function formatDay(at: Instant, now: Instant = serviceNow(), zone: Zone = shownZone): string {
  const { year, month, day } = onTheWall(at, zone)
  const text = `${day} ${month}`
  return year === onTheWall(now, zone).year ? text : `${text} ${year}`
}

/** `19 Nov 2026 14:07:22 UTC`, for hover and focus. */
export function formatExact(at: Instant, zone: Zone = shownZone): string {
  const { year, month, day, hour, minute, second } = onTheWall(at, zone)
  return `${day} ${month} ${year} ${two(hour)}:${two(minute)}:${two(second)} ${zoneName(at, zone)}`
}

/** Time passed, under a day: `40 s`, `3 min`, `7 h`; older: the day. A future instant counts as now. */
export function formatAgo(at: Instant, now: Instant = serviceNow(), zone: Zone = shownZone): string {
  const passed = Math.max(0, dateOf(now).getTime() - dateOf(at).getTime())
  if (passed < MINUTE_MS) return unit(String(Math.floor(passed / SECOND)), 's')
  if (passed < HOUR_MS) return unit(String(Math.floor(passed / MINUTE_MS)), 'min')
  if (passed < DAY_MS) return unit(String(Math.floor(passed / HOUR_MS)), 'h')
  return formatDay(at, now, zone)
}

/** The same in a sentence: `3 min ago`, then the day. */
export function formatSince(at: Instant, now: Instant = serviceNow(), zone: Zone = shownZone): string {
  const text = formatAgo(at, now, zone)
  return dateOf(now).getTime() - dateOf(at).getTime() < DAY_MS ? `${text} ago` : text
}

/** `9 Nov, 14:05` */
export const formatMoment = (at: Instant, now: Instant = serviceNow(), zone: Zone = shownZone): string =>
  `${formatDay(at, now, zone)}, ${formatClock(at, zone)}`

/** `9 Nov, 14:05 to 15:20`, with both days if they differ. */
export function formatWindow(from: Instant, to: Instant, now: Instant = serviceNow(), zone: Zone = shownZone): string {
  const isOneDay = formatDay(from, now, zone) === formatDay(to, now, zone)
  return `${formatMoment(from, now, zone)} to ${isOneDay ? formatClock(to, zone) : formatMoment(to, now, zone)}`
}

/** An age: `26 min`, `9 d`, `5 wk`, `3 mo`, `2 y`. */
export function formatAge(at: Instant, now: Instant = serviceNow()): string {
  const passed = Math.max(0, dateOf(now).getTime() - dateOf(at).getTime())
  if (passed < MINUTE_MS) return unit(String(Math.floor(passed / SECOND)), 's')
  if (passed < HOUR_MS) return unit(String(Math.floor(passed / MINUTE_MS)), 'min')
  if (passed < DAY_MS) return unit(String(Math.floor(passed / HOUR_MS)), 'h')
  const days = Math.floor(passed / DAY_MS)
  if (days < 14) return unit(String(days), 'd')
  if (days < 61) return unit(String(Math.floor(days / 7)), 'wk')
  if (days < 365) return unit(String(Math.floor(days / 30.44)), 'mo')
  return unit(String(Math.floor(days / 365)), 'y')
}

/** The time until an instant: `3 min 12 s`, `23 h 59 min`, `0 s` once reached. */
export function formatLeft(until: Instant, now: Instant = serviceNow()): string {
  const seconds = Math.max(0, Math.ceil((dateOf(until).getTime() - dateOf(now).getTime()) / SECOND))
  if (seconds < 60) return unit(String(seconds), 's')
  if (seconds >= 3600) return formatDuration(seconds * SECOND)
  return twoUnits(Math.floor(seconds / 60), 'min', seconds % 60, 's')
}
