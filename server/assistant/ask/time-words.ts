import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/kernel/day.ts'
import type { RangeName } from '#shared/issue-values.ts'

/** A time that a question names. `to` is null for now. */
export type Period = { readonly from: Date; readonly to: Date | null; readonly label: string }

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october']
  .concat('november', 'december')
  .map((name) => name.slice(0, 3))
const NUMBERS = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
]
const UNITS: Readonly<Record<string, number>> = {
  minute: MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
}
const RANGE_MS: readonly (readonly [RangeName, number])[] = [
  ['1h', HOUR_MS],
  ['24h', DAY_MS],
  ['7d', 7 * DAY_MS],
  ['30d', 30 * DAY_MS],
]

const dayStart = (at: Date): Date => new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS)
const before = (at: Date, ms: number): Date => new Date(at.getTime() - ms)

/** `Tuesday 24 November 2026`, in UTC. */
export const dayText = (at: Date): string =>
  new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
    .format(at)
    .replace(',', '')

/** `2026-11-24 14:00 UTC`. */
export const timeText = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/**
 * The time that a text names, in UTC: a span ("last 3 days", "past week"), a start ("since Tuesday", "since 24 November"),
 * or a day ("today", "yesterday", "on Monday"). Null when it names none.
 * @param text in lower case
 */
export function readPeriod(text: string, now: Date): Period | null {
  const today = dayStart(now)
  const span =
    /\b(?:last|past|previous|in the|within|for the|over the)\s+(?:last\s+|past\s+)?(?:(\d{1,3}|a|an|couple of|few|[a-z]+)\s+)?(minute|hour|day|week|month)s?\b/.exec(
      text,
    ) ?? /\b(\d{1,3})\s?-?(minute|hour|day|week|month)s?\b(?! ago)/.exec(text)
  if (span !== null) {
    const amount = numberOf(span[1])
    const unit = span[2] ?? 'day'
    if (amount !== null) return spanOf(amount, unit, now)
  }
  const short = /\b(?:last\s+|past\s+)?(\d{1,3})(h|d|w)\b/.exec(text)
  if (short !== null) return spanOf(Number(short[1]), { h: 'hour', d: 'day', w: 'week' }[short[2] ?? 'd'] ?? 'day', now)
  const ago = /\b(?:since|from|after)\s+(\d{1,3}|[a-z]+)\s+(minute|hour|day|week|month)s?\s+ago\b/.exec(text)
  const agoAmount = ago === null ? null : numberOf(ago[1])
  if (ago !== null && agoAmount !== null) return spanOf(agoAmount, ago[2] ?? 'day', now)
  if (/\byesterday\b/.test(text)) {
    const from = before(today, DAY_MS)
    return /\bsince yesterday\b/.test(text)
      ? { from, to: null, label: `since ${dayText(from)}` }
      : { from, to: today, label: `on ${dayText(from)}` }
  }
  if (/\b(?:today|this morning|tonight|since midnight)\b/.test(text))
    return { from: today, to: null, label: `since ${dayText(today)}` }
  if (/\bthis week\b/.test(text)) {
    const from = before(today, ((today.getUTCDay() + 6) % 7) * DAY_MS)
    return { from, to: null, label: `since ${dayText(from)}` }
  }
  if (/\bthis month\b/.test(text)) {
    const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()))
    return { from, to: null, label: `since ${dayText(from)}` }
  }
  if (/\b(?:overnight|right now|at the moment|just now|this hour)\b/.test(text))
    return /overnight/.test(text) ? spanOf(12, 'hour', now) : spanOf(1, 'hour', now)
  return weekday(text, today) ?? date(text, today)
}

function spanOf(amount: number, unit: string, now: Date): Period {
  const ms = Math.max(1, amount) * (UNITS[unit] ?? DAY_MS)
  const label = amount === 1 ? `in the last ${unit}` : `in the last ${amount} ${unit}s`
  return { from: before(now, ms), to: null, label }
}

function numberOf(text: string | undefined): number | null {
  if (text === undefined || text === 'a' || text === 'an') return 1
  if (text === 'couple of') return 2
  if (text === 'few') return 3
  if (/^\d+$/.test(text)) return Number(text)
  const number = NUMBERS.indexOf(text)
  return number < 0 ? null : number
}

function weekday(text: string, today: Date): Period | null {
  const found = /\b(since|on|from|after|last|until)?\s*(sun|mon|tues|wednes|thurs|fri|satur)day\b/.exec(text)
  if (found === null) return null
  const back = (today.getUTCDay() - DAYS.indexOf(`${found[2]}day`) + 7) % 7
  // Today's own name means the one before, except in "since".
  const from = before(today, (back === 0 && found[1] !== 'since' ? 7 : back) * DAY_MS)
  return found[1] === 'on' || found[1] === 'last'
    ? { from, to: new Date(from.getTime() + DAY_MS), label: `on ${dayText(from)}` }
    : { from, to: null, label: `since ${dayText(from)}` }
}

/** "since 24 November", "since Nov 24", "since 2026-11-24", "on …". */
function date(text: string, today: Date): Period | null {
  const iso = /\b(20\d\d)-(\d\d)-(\d\d)\b/.exec(text)
  const month = `(${MONTHS.join('|')})[a-z]*`
  const dayFirst = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${month}\\b`).exec(text)
  const monthFirst = new RegExp(`\\b${month} (\\d{1,2})(?:st|nd|rd|th)?\\b`).exec(text)
  let from: Date | null = null
  if (iso !== null) from = new Date(`${iso[0]}T00:00:00Z`)
  else if (dayFirst !== null) from = dateOf(Number(dayFirst[1]), dayFirst[2], today)
  else if (monthFirst !== null) from = dateOf(Number(monthFirst[2]), monthFirst[1], today)
  if (from === null || Number.isNaN(from.getTime()) || from > today) return null
  return /\bon\s+(?:the\s+)?(?:\d|[a-z]{3,9} \d)/.test(text)
    ? { from, to: new Date(from.getTime() + DAY_MS), label: `on ${dayText(from)}` }
    : { from, to: null, label: `since ${dayText(from)}` }
}

/** The last such day up to today. */
function dateOf(day: number, monthName: string | undefined, today: Date): Date | null {
  const month = MONTHS.indexOf(monthName ?? '')
  if (month < 0 || day < 1 || day > 31) return null
  const inYear = (year: number): Date => new Date(Date.UTC(year, month, day))
  const this_ = inYear(today.getUTCFullYear())
  return this_ > today ? inYear(today.getUTCFullYear() - 1) : this_
}

/** The shortest range of figures, ending now, that has the whole period; the longest for an older one. */
export function coveringRange({ from }: Period, now: Date): RangeName {
  const length = now.getTime() - from.getTime()
  return RANGE_MS.find(([, ms]) => ms >= length)?.[0] ?? '30d'
}

/** Whether a range has the period, and nothing else of note: it starts within an interval of it and ends now. */
export const isWholeRange = (period: Period, now: Date): boolean =>
  period.to === null && RANGE_MS.some(([, ms]) => ms === now.getTime() - period.from.getTime())

const RANGE_LABELS: Readonly<Record<RangeName, string>> = {
  '1h': 'in the last hour',
  '24h': 'in the last 24 hours',
  '7d': 'in the last 7 days',
  '30d': 'in the last 30 days',
}
export const rangeLabel = (range: RangeName): string => RANGE_LABELS[range]

export const lastDays = (days: number, now: Date): Period => ({
  from: before(now, days * DAY_MS),
  to: null,
  label: days === 1 ? 'in the last 24 hours' : `in the last ${days} days`,
})
