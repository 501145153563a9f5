import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../platform/kernel/day.ts'
import type { Word } from './words.ts'

/** Times in questions, in UTC. Pure. */

/** From `from` to before `to`; null is without end. `name` follows a preposition or stands alone: `yesterday`. */
export type TimeSpan = { readonly from: Date | null; readonly to: Date | null; readonly name: string }

/** A time that was read, and the number of its words. */
type Read = { readonly span: TimeSpan; readonly length: number }

const UNITS: Readonly<Record<string, number>> = {
  minute: MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  fortnight: 14 * DAY_MS,
  month: 30 * DAY_MS,
  year: 365 * DAY_MS,
}
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
/** Parts of a day: from an hour to before another. */
const DAY_PARTS: Readonly<Record<string, readonly [from: number, to: number]>> = {
  morning: [6, 12],
  afternoon: [12, 18],
  evening: [18, 24],
  tonight: [18, 24],
}
/** Hours from the start of today. */
const LAST_NIGHT = [-6, 6]
const TO_DATE: Readonly<Record<string, string>> = { wtd: 'week', mtd: 'month', qtd: 'quarter', ytd: 'year' }
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')

/** All words that times are written with. */
export const TIME_WORDS: readonly string[] = [
  ...Object.keys(UNITS),
  ...MONTHS,
  ...WEEKDAYS,
  ...NUMBERS,
  ...'today yesterday last past previous this current since until before after between from to and in during on ago the of'.split(
    ' ',
  ),
  ...Object.keys(DAY_PARTS),
  ...Object.keys(TO_DATE),
  ...'quarter date now midnight noon night overnight weekend couple few preceding prior within till through'.split(' '),
]

/** The number that a word is. */
export function readNumber(word: Word | undefined): number | null {
  if (word === undefined || word.isQuoted) return null
  const at = NUMBERS.indexOf(word.stem)
  if (at > 0) return at
  const digits = word.text.replaceAll(/(?<=\d)[,_](?=\d{3})/g, '')
  return /^\d{1,9}(?:\.\d{1,3})?$/.test(digits) ? Number(digits) : null
}

const day = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS
const iso = (at: number): string => new Date(at).toISOString()
const dayName = (at: number): string => iso(at).slice(0, 10)
const span = (from: number | null, to: number | null, name: string): TimeSpan => ({
  from: from === null ? null : new Date(from),
  to: to === null ? null : new Date(to),
  name,
})

/** Weeks begin on Monday. */
function startOf(unit: string, at: number): number {
  const date = new Date(at)
  if (unit === 'year') return Date.UTC(date.getUTCFullYear(), 0)
  if (unit === 'quarter') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - (date.getUTCMonth() % 3))
  if (unit === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
  if (unit === 'week') return day(at) - ((date.getUTCDay() + 6) % 7) * DAY_MS
  const ms = UNITS[unit] ?? DAY_MS
  return Math.floor(at / ms) * ms
}

/** The calendar unit that contains a time, `back` units earlier. */
function calendar(unit: string, now: number, back: number): readonly [number, number] {
  let end = now
  let from = startOf(unit, end)
  for (let n = 0; n < back; n++) {
    end = from
    from = startOf(unit, end - 1)
  }
  if (back > 0) return [from, end]
  const ms = unit === 'quarter' ? 91 * DAY_MS : (UNITS[unit] ?? DAY_MS)
  return [from, startOf(unit, from + ms * (unit === 'month' || unit === 'quarter' ? 1.1 : 1.01))]
}

/**
 * Reads a time at a place of a question: `last 24 hours`, `yesterday`, `since Tuesday`, `in November`, `between 1 and 5
 * November`, `on 2026-11-03`.
 */
export function readTimeSpan(words: readonly Word[], start: number, now: Date): Read | null {
  let at = start
  const stem = (ahead = 0): string => (words[at + ahead]?.isQuoted === false ? (words[at + ahead]?.stem ?? '') : '')
  const done = (found: TimeSpan, until: number): Read => ({ span: found, length: until - start })

  if (['between', 'from'].includes(stem())) {
    const both = readBetween(words, at + 1, now)
    if (both !== null) {
      // "Between 09:00 and 12:00 yesterday"
      const day_ = readClock(words[at + 1]) === null ? null : readPoint(words, both.end, now)
      const hours = day_ === null ? null : readHours(words, { ...day_, end: at }, now)
      return day_ !== null && hours !== null ? done(hours.span, day_.end) : done(both.span, both.end)
    }
    if (stem() === 'between') return null
  }
  const since = ['since', 'after', 'from'].includes(stem())
  const until = ['until', 'till', 'before'].includes(stem())
  if (since || until) {
    const isAfter = stem() === 'after'
    const point = readPoint(words, at + 1, now)
    if (point === null) return null
    const { from, to, name } = point
    const isOpenEnded = stem() === 'until' || stem() === 'till'
    return done(
      since
        ? span(isAfter ? to : from, null, `since ${isAfter ? iso(to).slice(0, 16) : name}`)
        : span(null, isOpenEnded ? to : from, `before ${isOpenEnded ? iso(to).slice(0, 16) : name}`),
      point.end,
    )
  }
  while (['in', 'during', 'on', 'within', 'of', 'for', 'over', 'at', 'through'].includes(stem())) at++
  const isRolling = stem() === 'the'
  if (isRolling) at++
  if (['last', 'past', 'previous', 'preceding', 'prior'].includes(stem())) {
    const isPrevious = !['last', 'past'].includes(stem())
    const isLast = stem() === 'last' || stem() === 'previous' || stem() === 'prior'
    at++
    const count = stem() === 'few' ? 3 : stem() === 'couple' ? 2 : readNumber(words[at])
    if (count !== null) at += stem() === 'couple' && stem(1) === 'of' ? 2 : 1
    const short = count === null ? /^(\d{1,4})(h|d|w|m|min)$/.exec(words[at]?.text.toLowerCase() ?? '') : null
    const shortUnit = { h: 'hour', d: 'day', w: 'week', m: 'month', min: 'minute' }[short?.[2] ?? ''] ?? ''
    const unit = short === null ? stem() : shortUnit
    const n = short === null ? count : Number(short[1])
    // "The previous week" is the one before another time.
    if (isPrevious && n === null && (isRolling || unit === 'day')) return null
    const ms = UNITS[unit]
    if (ms !== undefined) {
      // "last week" is the week before this one, "the last week" and "the last 7 days" end now.
      if (
        n === null &&
        isLast &&
        !isRolling &&
        unit !== 'hour' &&
        unit !== 'minute' &&
        unit !== 'day' &&
        unit !== 'fortnight'
      ) {
        const [from, to] = calendar(unit, now.getTime(), 1)
        return done(span(from, to, `last ${unit}`), at + 1)
      }
      const amount = n ?? 1
      return done(
        span(
          now.getTime() - amount * ms,
          null,
          `the last ${amount === 1 ? '' : `${amount} `}${unit}${amount === 1 ? '' : 's'}`,
        ),
        at + 1,
      )
    }
    if (n === null && stem() === 'quarter') {
      const [from, to] = calendar('quarter', now.getTime(), 1)
      return done(span(from, to, 'last quarter'), at + 1)
    }
    if (n === null && (WEEKDAYS.includes(stem()) || MONTHS.includes(stem()) || ['weekend', 'night'].includes(stem()))) {
      const point = readPoint(words, stem() === 'night' ? at - 1 : at, now)
      if (point !== null) return done(span(point.from, point.to, point.name), point.end)
    }
    return null
  }
  if (isRolling) at--
  const point = readPoint(words, at, now)
  if (point === null) return null
  const hours = readHours(words, point, now)
  return hours === null ? done(span(point.from, point.to, point.name), point.end) : done(hours.span, hours.end)
}

/** Hours of a day behind it: "yesterday between 09:00 and 12:00", "Monday morning". */
function readHours(words: readonly Word[], point: Point, now: Date): { span: TimeSpan; end: number } | null {
  if (point.to - point.from !== DAY_MS) return null
  const stem = words[point.end]?.stem ?? ''
  const part = DAY_PARTS[stem]
  if (part !== undefined) {
    const [from, to] = part.map((hour) => point.from + hour * HOUR_MS)
    return { span: span(from ?? 0, to ?? 0, `${point.name} in the ${stem}`), end: point.end + 1 }
  }
  if (!['between', 'from'].includes(stem) || readClock(words[point.end + 1]) === null) return null
  const both = readBetween(words, point.end + 1, now)
  if (both === null) return null
  const shift = point.from - day(now.getTime())
  const [from, to] = [both.span.from, both.span.to].map((one) => (one?.getTime() ?? 0) + shift)
  if (to === undefined || from === undefined || to > point.to) return null
  return { span: span(from, to, `from ${iso(from)} to ${iso(to)}`), end: both.end }
}

type Point = { readonly from: number; readonly to: number; readonly name: string; readonly end: number }

/** A day, an hour of today, a week, a month or a year, from its start to its end. */
function readPoint(words: readonly Word[], start: number, now: Date): Point | null {
  let at = start
  if (words[at]?.stem === 'the') at++
  const word = words[at]
  if (word === undefined || word.isQuoted) return null
  const today = day(now.getTime())
  const { stem } = word
  const lower = word.text.toLowerCase()
  const isDay = (from: number, name: string, end: number): Point => ({ from, to: from + DAY_MS, name, end })

  if (stem === 'today') return isDay(today, 'today', at + 1)
  if (stem === 'yesterday') return isDay(today - DAY_MS, 'yesterday', at + 1)
  if (stem === 'day' && words[at + 1]?.stem === 'before' && words[at + 2]?.stem === 'yesterday')
    return isDay(today - 2 * DAY_MS, 'the day before yesterday', at + 3)
  const partStem = stem === 'this' ? (words[at + 1]?.stem ?? '') : stem
  const part = stem === 'this' || stem === 'tonight' ? DAY_PARTS[partStem] : undefined
  if (part !== undefined) {
    const [from, to] = part
    const name = stem === 'this' ? `this ${partStem}` : stem
    return { from: today + from * HOUR_MS, to: today + to * HOUR_MS, name, end: at + (stem === 'this' ? 2 : 1) }
  }
  const isToDate = ['week', 'month', 'quarter', 'year'].includes(stem) && words[at + 1]?.stem === 'to'
  const toDate = isToDate && words[at + 2]?.stem === 'date' ? stem : TO_DATE[stem]
  if (toDate !== undefined) {
    const end = at + (TO_DATE[stem] === undefined ? 3 : 1)
    return { from: startOf(toDate, now.getTime()), to: now.getTime(), name: `this ${toDate} to date`, end }
  }
  const quarter = /^q([1-4])$/.exec(lower)
  if (quarter !== null) {
    const month = (Number(quarter[1]) - 1) * 3
    const named = yearOf(words[at + 1])
    const latest = now.getUTCFullYear() - (Date.UTC(now.getUTCFullYear(), month) > now.getTime() ? 1 : 0)
    const from = Date.UTC(named ?? latest, month)
    const to = Date.UTC(named ?? latest, month + 3)
    return { from, to, name: `Q${quarter[1]} ${named ?? latest}`, end: at + (named === null ? 1 : 2) }
  }
  const isNight = stem === 'last' && words[at + 1]?.stem === 'night'
  if (isNight || stem === 'overnight') {
    const [from, to] = LAST_NIGHT.map((hour) => today + hour * HOUR_MS)
    return { from: from ?? 0, to: to ?? 0, name: 'last night', end: at + (isNight ? 2 : 1) }
  }
  if (stem === 'midnight') return isDay(today, 'midnight', at + 1)
  if (stem === 'noon') return { from: today + DAY_MS / 2, to: today + DAY_MS / 2, name: 'noon', end: at + 1 }
  if (stem === 'this' || stem === 'current' || stem === 'last' || stem === 'previous') {
    const unit = words[at + 1]?.stem ?? ''
    const back = stem === 'last' || stem === 'previous' ? 1 : 0
    if (unit === 'quarter' || (UNITS[unit] !== undefined && unit !== 'minute' && unit !== 'fortnight')) {
      const [from, to] = calendar(unit, now.getTime(), back)
      return { from, to, name: `${back === 1 ? 'last' : 'this'} ${unit}`, end: at + 2 }
    }
    const named = back === 1 && unit !== '' ? readPoint(words, at + 1, now) : null
    return named
  }
  if (stem === 'weekend') {
    const monday = startOf('week', now.getTime())
    const saturday = monday + 5 * DAY_MS > today ? monday - 2 * DAY_MS : monday + 5 * DAY_MS
    return { from: saturday, to: saturday + 2 * DAY_MS, name: 'the weekend', end: at + 1 }
  }
  const weekday = WEEKDAYS.indexOf(stem)
  if (weekday >= 0) {
    const back = (new Date(today).getUTCDay() - weekday + 7) % 7
    const from = today - back * DAY_MS
    return isDay(from, `${word.text} (${dayName(from)})`, at + 1)
  }
  const instant = /^(\d{4}-\d{2}-\d{2})(?:t(\d{2}:\d{2}(?::\d{2})?)z?)?$/.exec(lower)
  if (instant?.[1] !== undefined) {
    const time = instant[2] ?? readClock(words[at + 1])
    const from = Date.parse(`${instant[1]}T${time ?? '00:00'}Z`)
    if (Number.isNaN(from) || dayName(from) !== instant[1]) return null
    if (time === null) return isDay(from, instant[1], at + 1)
    return { from, to: from, name: `${iso(from).slice(0, 16)}`, end: instant[2] === undefined ? at + 2 : at + 1 }
  }
  const month = /^(\d{4})-(\d{2})$/.exec(lower)
  if (month !== null && Number(month[2]) >= 1 && Number(month[2]) <= 12)
    return monthOf(Number(month[1]), Number(month[2]) - 1, at + 1)
  const clock = readClock(word)
  if (clock !== null) {
    const from = Date.parse(`${dayName(today)}T${clock}Z`)
    return { from, to: from, name: `${clock} today`, end: at + 1 }
  }
  const count = readNumber(word)
  const unitMs = UNITS[words[at + 1]?.stem ?? '']
  if (count !== null && unitMs !== undefined && words[at + 2]?.stem === 'ago') {
    const moment = now.getTime() - count * unitMs
    const name = `${count} ${words[at + 1]?.stem}${count === 1 ? '' : 's'} ago`
    return unitMs < DAY_MS ? { from: moment, to: moment, name, end: at + 3 } : isDay(day(moment), name, at + 3)
  }
  // "5 November", "5th of November 2026", "November 5, 2026", "November".
  const dayFirst = dayNumber(word)
  let next = at + 1
  if (dayFirst !== null && words[next]?.stem === 'of') next++
  const monthAt = dayFirst === null ? MONTHS.indexOf(stem) : MONTHS.indexOf(words[next]?.stem ?? '')
  if (monthAt < 0) {
    const year = dayFirst === null || word.text.length === 4 ? yearOf(word) : null
    return year === null || word.text.length !== 4
      ? null
      : { from: Date.UTC(year, 0), to: Date.UTC(year + 1, 0), name: String(year), end: at + 1 }
  }
  if (dayFirst !== null) next++
  const dayBehind = dayFirst === null && yearOf(words[next]) === null ? dayNumber(words[next]) : null
  if (dayBehind !== null) next++
  const year = yearOf(words[next])
  if (year !== null) next++
  const number = dayFirst ?? dayBehind
  const inYear = (one: number): number => Date.UTC(one, monthAt, number ?? 1)
  const thisYear = now.getUTCFullYear()
  const chosen = year ?? (inYear(thisYear) > now.getTime() ? thisYear - 1 : thisYear)
  if (number === null) return monthOf(chosen, monthAt, next)
  const from = inYear(chosen)
  return new Date(from).getUTCMonth() === monthAt ? isDay(from, dayName(from), next) : null
}

function monthOf(year: number, month: number, end: number): Point {
  const name = `${(MONTHS[month] ?? '').replace(/^./, (letter) => letter.toUpperCase())} ${year}`
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1), name, end }
}

const yearOf = (word: Word | undefined): number | null =>
  word !== undefined && /^20\d{2}$/.test(word.text) ? Number(word.text) : null

function dayNumber(word: Word | undefined): number | null {
  const match = /^(\d{1,2})(?:st|nd|rd|th)?$/i.exec(word?.text ?? '')
  const number = Number(match?.[1])
  return match !== null && number >= 1 && number <= 31 ? number : null
}

/** `14:00`, `3pm` as `15:00`. */
function readClock(word: Word | undefined): string | null {
  const match = /^(\d{1,2})(?::(\d{2}))?(am|pm)?$/i.exec(word?.text ?? '')
  if (match === null || (match[2] === undefined && match[3] === undefined)) return null
  const half = match[3]?.toLowerCase()
  const hour = (Number(match[1]) % (half === undefined ? 24 : 12)) + (half === 'pm' ? 12 : 0)
  return `${String(hour).padStart(2, '0')}:${match[2] ?? '00'}`
}

/** `1 and 5 November`, `Monday and Wednesday`, `2026-11-01 to 2026-11-05`: both days are in the span. */
function readBetween(words: readonly Word[], start: number, now: Date): { span: TimeSpan; end: number } | null {
  const isJoint = (at: number): boolean => ['and', 'to', 'until', 'till', 'through'].includes(words[at]?.stem ?? '')
  const first = readPoint(words, start, now)
  if (first !== null && isJoint(first.end)) {
    const second = readPoint(words, first.end + 1, now)
    if (second === null) return null
    return between(first, second)
  }
  // The month stands only behind the second day: "1 and 5 November 2026".
  const number = dayNumber(words[start])
  if (number === null || !isJoint(start + 1)) return null
  const second = readPoint(words, start + 2, now)
  if (second === null || second.to - second.from !== DAY_MS) return null
  const from = Date.parse(`${dayName(second.from).slice(0, 8)}${String(number).padStart(2, '0')}T00:00Z`)
  if (Number.isNaN(from)) return null
  return between({ from, to: from + DAY_MS, name: dayName(from), end: start + 1 }, second)
}

const between = (first: Point, second: Point): { span: TimeSpan; end: number } | null =>
  second.to <= first.from
    ? null
    : { span: span(first.from, second.to, `from ${first.name} to ${second.name}`), end: second.end }

/** The span of the same length before another; null without a start. */
export function spanBefore({ from, to }: TimeSpan, now: Date): TimeSpan | null {
  if (from === null) return null
  const lengthMs = (to ?? now).getTime() - from.getTime()
  return { from: new Date(from.getTime() - lengthMs), to: from, name: 'the time before' }
}
