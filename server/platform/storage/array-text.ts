import { DAY_MS, utcDay } from '../kernel/day.ts'

/**
 * An array as text that PostgreSQL reads: in a third of the time that the driver takes, which searches each element with
 * two patterns. Batches send about fifty elements for each event.
 * @returns null where the driver must write elements: bytes, arrays, objects, dates with years outside of 1000 to 9999
 */
export function arrayText(items: readonly unknown[]): string | null {
  let text = '{'
  for (let at = 0; at < items.length; at++) {
    const item = items[at]
    if (at > 0) text += ','
    if (typeof item === 'string') text += quoted(item)
    else if (item === null || item === undefined) text += 'NULL'
    else if (typeof item === 'number' || typeof item === 'boolean') text += String(item)
    else if (item instanceof Date && item.getTime() >= MIN_TIME && item.getTime() < MAX_TIME) text += timeText(item)
    else return null
  }
  return `${text}}`
}

const MIN_TIME = Date.UTC(1000, 0)
const MAX_TIME = Date.UTC(10_000, 0)

function quoted(text: string): string {
  if (!text.includes('"') && !text.includes('\\')) return `"${text}"`
  // JSON writes other escapes for these only.
  if (CONTROL.test(text) || !text.isWellFormed()) return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
  return JSON.stringify(text)
}

const CONTROL = /[\u0000-\u001F]/

/** `toISOString` takes six times as long. */
function timeText(time: Date): string {
  const inDay = ((time.getTime() % DAY_MS) + DAY_MS) % DAY_MS
  const seconds = Math.floor(inDay / 1_000)
  const [hour, minute] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  return `${utcDay(time)}T${TWO[hour]}:${TWO[minute]}:${TWO[seconds % 60]}.${THREE[inDay % 1_000]}Z`
}

const digits = (length: number): string[] =>
  Array.from({ length: 10 ** length }, (_, number) => String(number).padStart(length, '0'))
const TWO = digits(2)
const THREE = digits(3)
