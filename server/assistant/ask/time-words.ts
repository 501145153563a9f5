import { DAY_MS, HOUR_MS } from '../../platform/kernel/day.ts'
import type { RangeName } from '#shared/issue-values.ts'
import { readTimeSpan, type TimeSpan } from '../query/translator/times.ts'
import { readWords } from '../query/translator/words.ts'

/** A time that a question names. `to` is null for now. */
export type Period = { readonly from: Date; readonly to: Date | null; readonly label: string }

const RANGE_MS: readonly (readonly [RangeName, number])[] = [
  ['1h', HOUR_MS],
  ['24h', DAY_MS],
  ['7d', 7 * DAY_MS],
  ['30d', 30 * DAY_MS],
]

const before = (at: Date, ms: number): Date => new Date(at.getTime() - ms)

/** `Tuesday 24 November 2026`, in UTC. */
const dayText = (at: Date): string =>
  new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
    .format(at)
    .replace(',', '')

/** `2026-11-24 14:00 UTC`. */
export const timeText = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** A time that a question compares with: "than last week", "vs yesterday". */
const COMPARED = /\b(?:than|versus|vs\.?|against|with|compared? to|and) (?:in |on |the one of )?$/

/**
 * The times that a text names, in UTC: a span ("last 3 days", "last week"), a start ("since Tuesday", "since 9am"), a day
 * ("yesterday", "on Monday") or a quarter; `against` is the one that it compares with.
 * @param text in lower case
 */
export function readPeriods(text: string, now: Date): { period: Period | null; against: Period | null } {
  const plain = inWordsOfSpans(text)
  const words = readWords(plain, new Set(), () => true)
  const found: { period: Period; isCompared: boolean }[] = []
  for (let at = 0; at < words.length;) {
    const read = isNoTime(words[at - 1]?.stem, words[at]?.stem) ? null : readTimeSpan(words, at, now)
    const period = read === null ? null : periodOf(read.span, now)
    if (period !== null) found.push({ period, isCompared: COMPARED.test(plain.slice(0, words[at]?.start)) })
    at += read?.length ?? 1
  }
  const [first, second] = found
  if (first === undefined) return { period: null, against: null }
  return first.isCompared
    ? { period: second?.period ?? null, against: first.period }
    : { period: first.period, against: second?.isCompared === true ? second.period : null }
}

/** Words of time that the reader of spans knows by others. */
const inWordsOfSpans = (text: string): string =>
  text
    .replaceAll(/\b(?:right now|at the moment|just now|this hour)\b/g, 'the last hour')
    .replaceAll(/\bsince (?=\d+h\b|\d+ hours? ago)/g, 'last ')
    .replaceAll(/(?<!last |past |previous )\b(\d{1,3}) ?(h|d|w)\b/g, 'last $1$2')
    .replaceAll(
      /\b(?:in|within|for|over) (?=(?:\d{1,3}|a few|a couple of) (?:minute|hour|day|week|month)s?\b)/g,
      'last ',
    )
    .replaceAll(/\b(last|past) a (?=few|couple)/g, '$1 ')

/** A year or a month stands alone only as a part of something else: "may it be", "user 2015". */
const isNoTime = (before: string | undefined, word = ''): boolean =>
  /^(?:may|march|mar|sun|sat|mon|20\d\d)$/.test(word) &&
  !/^(?:in|since|of|during|for|until|before|on|last)$/.test(before ?? '')

function periodOf({ from, to, name }: TimeSpan, now: Date): Period | null {
  // A time without a start is as long as the longest range.
  const start = from ?? (to === null ? null : before(to, 30 * DAY_MS))
  if (start === null || start > now || (to !== null && to <= start)) return null
  if (to === null && name.startsWith('the last ')) return { from: start, to, label: `in ${name}` }
  return spanFrom(start, to, now)
}

function spanFrom(from: Date, to: Date | null, now: Date): Period {
  const isDay = (at: Date): boolean => at.getTime() % DAY_MS === 0
  if (to === null || to > now) return { from, to: null, label: `since ${isDay(from) ? dayText(from) : timeText(from)}` }
  if (!isDay(from) || !isDay(to)) return { from, to, label: `from ${timeText(from)} to ${timeText(to)}` }
  const last = before(to, DAY_MS)
  const label = from.getTime() === last.getTime() ? `on ${dayText(from)}` : `from ${dayText(from)} to ${dayText(last)}`
  return { from, to, label }
}

/** The same period, or its last days when it has more. */
export function withinDays(period: Period, days: number, now: Date): Period {
  const from = before(period.to ?? now, days * DAY_MS)
  return period.from >= from ? period : spanFrom(from, period.to, now)
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
