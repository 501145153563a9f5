import type { Monitor } from '../../../api/monitor-queries.ts'

/** Schedules in words. Pure. */

type Schedule = NonNullable<Monitor['schedule']>

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
const ALIASES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
}

/** `Every 5 minutes`, `Every day at 02:30`; null for a crontab that only its own notation says exactly. */
export function scheduleInWords({ type, value, unit }: Schedule): string | null {
  return type === 'interval' ? everyWords(Number(value), unit ?? 'minute') : crontabInWords(String(value))
}

const everyWords = (count: number, unit: string): string => (count === 1 ? `Every ${unit}` : `Every ${count} ${unit}s`)

function crontabInWords(crontab: string): string | null {
  const [minute = '', hour = '', day = '', month = '', weekday = '', more] = (ALIASES[crontab] ?? crontab).split(' ')
  if (more !== undefined || month !== '*') return null
  const isDaily = day === '*' && weekday === '*'
  if (isDaily && hour === '*') return withinHour(minute)
  const minutes = numberIn(minute, 59)
  if (minutes === null) return null
  const step = stepIn(hour, 24)
  if (isDaily && step !== null) return `${everyWords(step, 'hour')}${minutes === 0 ? '' : ` at :${two(minutes)}`}`
  const hours = numberIn(hour, 23)
  if (hours === null) return null
  const at = `at ${two(hours)}:${two(minutes)}`
  if (isDaily) return `Every day ${at}`
  if (day === '*') return weekWords(weekday, at)
  const date = numberIn(day, 31)
  return weekday === '*' && date !== null && date > 0 ? `On the ${ordinal(date)} ${at}` : null
}

function withinHour(minute: string): string | null {
  if (minute === '*') return everyWords(1, 'minute')
  const step = stepIn(minute, 60)
  if (step !== null) return everyWords(step, 'minute')
  const at = numberIn(minute, 59)
  if (at === null) return null
  return at === 0 ? everyWords(1, 'hour') : `Every hour at :${two(at)}`
}

function weekWords(weekday: string, at: string): string | null {
  if (weekday === '1-5' || weekday === 'mon-fri') return `Every weekday ${at}`
  const days = weekday.split(',').map(dayOf)
  const known = days.filter((one) => one !== null)
  if (known.length !== days.length) return null
  return known.length === 1
    ? `Every ${known.join('')} ${at}`
    : `${known.slice(0, -1).join(', ')} and ${known.at(-1) ?? ''} ${at}`
}

function dayOf(text: string): string | null {
  const named = DAY_NAMES.findIndex((name) => name === text)
  const number = named >= 0 ? named : numberIn(text, 7)
  return number === null ? null : (DAYS[number] ?? null)
}

/** A step of `*` that is the same over the end of its range: every 7 minutes is 4 minutes at the full hour. */
function stepIn(field: string, size: number): number | null {
  const [, text] = /^\*\/(\d{1,2})$/.exec(field) ?? []
  const step = Number(text)
  return text !== undefined && step > 1 && step < size && size % step === 0 ? step : null
}

const numberIn = (field: string, max: number): number | null =>
  /^\d{1,2}$/.test(field) && Number(field) <= max ? Number(field) : null

const two = (value: number): string => String(value).padStart(2, '0')

function ordinal(date: number): string {
  const endings = ['th', 'st', 'nd', 'rd']
  const isTeen = date >= 11 && date <= 13
  return `${date}${(isTeen ? undefined : endings[date % 10]) ?? 'th'}`
}
