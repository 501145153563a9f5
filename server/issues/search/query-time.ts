import type { QueryLexer } from './query-lexer.ts'
import { UNIT_MS, type Term, type Time, type TimeField, type TimeUnit } from './query.ts'

/** Times of a query. `since` means at or after, `before` means before. */

const AGO = /^([+-])(\d{1,5})([mhdw])$/
const DAY = /^\d{4}-\d{2}-\d{2}$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?$/i
const DAY_MS = UNIT_MS.d
/** Times of events are far within these. */
const EARLIEST_MS = Date.UTC(1970)
const LATEST_MS = Date.UTC(2999)

/**
 * Reads `-24h` (within the last 24 hours), `+7d` (longer ago), `>2026-11-01` (after that day) or `2026-11-01` (on it).
 * @throws AppError invalid, with the position
 */
export function readTime(lexer: QueryLexer, field: TimeField, op: string, text: string, at: number): Term {
  const ago = AGO.exec(text)
  if (ago !== null && (op === '' || ago[1] === '-')) {
    const [, sign, amount, unit] = ago
    const isSince = op === '' ? sign === '-' : op.startsWith('>')
    if (op !== '=')
      return {
        kind: 'time',
        field,
        side: isSince ? 'since' : 'before',
        time: { ago: Number(amount), unit: unit as TimeUnit },
      }
  }
  const ms = DAY.test(text) || INSTANT.test(text) ? instantMs(text) : Number.NaN
  const isDay = DAY.test(text)
  // `>` starts at the next day or, for an instant, at the next millisecond.
  const step = op === '>' || op === '<=' ? (isDay ? DAY_MS : 1) : 0
  if (!(ms >= EARLIEST_MS && ms + step <= LATEST_MS))
    throw lexer.refusal(`${field} takes a day or time, as in ${field}:>2026-11-01, or ${field}:-24h`, at)
  if (!isDay && (op === '' || op === '='))
    throw lexer.refusal(`${field} takes > or < before a time of a day, as in ${field}:>2026-11-01T12:00Z`, at)
  if (isDay && (op === '' || op === '=')) return { kind: 'time', field, side: 'on', time: { day: text } }
  const written = new Date(ms + step).toISOString()
  const time: Time = isDay ? { day: written.slice(0, 10) } : { instant: written }
  return { kind: 'time', field, side: op.startsWith('>') ? 'since' : 'before', time }
}

/** Returns NaN for days that do not exist; JavaScript would move 31 February to March. */
function instantMs(text: string): number {
  const day = text.slice(0, 10)
  const dayMs = Date.parse(`${day}T00:00:00.000Z`)
  if (Number.isNaN(dayMs) || new Date(dayMs).toISOString().slice(0, 10) !== day) return Number.NaN
  if (text.length === 10) return dayMs
  return Date.parse(/(?:Z|[+-]\d{2}:\d{2})$/i.test(text) ? text.toUpperCase() : `${text.toUpperCase()}Z`)
}

/** Returns the instants that limit a time: at or after `since`, and before `before`. */
export function toTimeBounds(side: 'since' | 'before' | 'on', time: Time, now: Date): { since?: Date; before?: Date } {
  const at = new Date(
    'ago' in time
      ? now.getTime() - time.ago * UNIT_MS[time.unit]
      : Date.parse('day' in time ? `${time.day}T00:00:00.000Z` : time.instant),
  )
  if (side === 'since') return { since: at }
  if (side === 'before') return { before: at }
  return { since: at, before: new Date(at.getTime() + DAY_MS) }
}
