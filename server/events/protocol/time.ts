import { nearestNumber } from './json.ts'
import type { Notes } from './strings.ts'

/** Times of an event: the client's, corrected for a wrong clock (docs/protocol.md §15.1). */

const DRIFT_MS = 55 * 60_000
const MAX_AGE_MS = 30 * 86_400_000
const MAX_AHEAD_MS = 60_000
/** Older times are from a clock that was never set. */
const MAX_CLAIM_MS = 365 * 86_400_000

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9})\d{0,9})?\s?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?$/
const CYCLE_MS = 146_097 * 86_400_000
const CANONICAL = /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z$/

/**
 * Milliseconds since 1970 from RFC 3339 text (a missing zone means UTC) or a number in seconds; numbers too large for
 * seconds are taken as milli-, micro- or nanoseconds. Null for anything else.
 */
export function parseTime(value: unknown): number | null {
  if (typeof value === 'number') return fromNumber(value)
  if (typeof value !== 'string' || value.length > 40) return null
  const match = RFC3339.exec(value)
  if (match === null) {
    const number = /^\d{9,20}(?:\.\d{1,9})?$/.test(value) ? Number(value) : nearestNumber(value)
    return typeof number === 'number' ? fromNumber(number) : null
  }
  const [, year, month, day, hour, minute, second, fraction, , sign, zoneHour, zoneMinute] = match
  const offset = sign === undefined ? 0 : (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -1 : 1)
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > 31 || Number(hour) > 24) return null
  // Dates repeat after 400 years; `Date.UTC` reads years below 100 as those of the twentieth century.
  const [base, cycleMs] = Number(year) < 100 ? [400, CYCLE_MS] : [0, 0]
  const whole =
    Date.UTC(Number(year) + base, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) -
    cycleMs
  const milliseconds = fraction === undefined ? 0 : Math.trunc(Number(`0.${fraction}`) * 1000)
  const at = whole + milliseconds - offset * 60_000
  return isStorableTime(at) ? at : null
}

function fromNumber(value: number): number | null {
  if (!Number.isFinite(value) || value < 0) return null
  const milliseconds =
    value < 1e11 ? value * 1000 : value < 1e14 ? value : value < 1e17 ? value / 1000 : value / 1_000_000
  const at = Math.round(milliseconds)
  return isStorableTime(at) ? at : null
}

/** Years 1 to 9999, which both ISO text with four digits and PostgreSQL accept. */
function isStorableTime(at: number): boolean {
  return at >= -62_135_596_800_000 && at <= 253_402_300_799_999
}

type EventTime = {
  occurredAt: number
  /** To be added to every other time of the event, in milliseconds. */
  shiftMs: number
}

/**
 * The time of an event. A difference of 55 minutes or more between sending and receiving shifts all times. If the
 * result is older than 30 days or over 60 s ahead, the time of receipt is used.
 */
export function eventTime(timestamp: unknown, receivedAt: Date, sentAt: Date | null, notes: Notes): EventTime {
  const received = receivedAt.getTime()
  const claimed = parseTime(timestamp)
  if (claimed === null) {
    if (timestamp !== null && timestamp !== undefined)
      notes.add('timestamp', 'Not a time; the time of receipt is used.')
    return { occurredAt: received, shiftMs: clockDrift(received, sentAt, notes) }
  }
  const drift = clockDrift(received, sentAt, notes)
  const corrected = claimed + drift
  if (corrected > received + MAX_AHEAD_MS) {
    notes.add('timestamp', 'In the future; the time of receipt is used.')
    return { occurredAt: received, shiftMs: received - claimed }
  }
  if (corrected < received - MAX_AGE_MS) {
    notes.add('timestamp', 'Older than 30 days; the time of receipt is used.')
    return { occurredAt: received, shiftMs: received - claimed }
  }
  return { occurredAt: corrected, shiftMs: drift }
}

/** Milliseconds to add to the times of a sender whose clock is off by 55 minutes or more; else 0. */
export function clockDrift(received: number, sentAt: Date | null, notes: Notes): number {
  const drift = driftOf(received, sentAt)
  if (drift === 0) return 0
  notes.add('timestamp', `The sender's clock was off by ${Math.round(drift / 60_000)} min; all times are shifted.`)
  return drift
}

function driftOf(received: number, sentAt: Date | null): number {
  if (sentAt === null) return 0
  const drift = received - sentAt.getTime()
  return Number.isNaN(drift) || Math.abs(drift) < DRIFT_MS ? 0 : drift
}

/**
 * The original time of an event that is too old for {@link eventTime}: an app that is opened after months sends its
 * stored events. Null when it is not too old, or without a time of sending that confirms its clock.
 */
export function claimedLongAgo(timestamp: unknown, receivedAt: Date, sentAt: Date | null): Date | null {
  const claimed = sentAt === null ? null : parseTime(timestamp)
  if (claimed === null) return null
  const received = receivedAt.getTime()
  const corrected = claimed + driftOf(received, sentAt)
  const ageMs = received - corrected
  return ageMs > MAX_AGE_MS && ageMs <= MAX_CLAIM_MS ? new Date(corrected) : null
}

/** The shifted time as RFC 3339 UTC with milliseconds; null when it is no time. */
export function shiftedTime(value: unknown, shiftMs: number): string | null {
  if (shiftMs === 0 && typeof value === 'string' && value.length === 24 && CANONICAL.test(value)) {
    if (!Number.isNaN(Date.parse(value))) return value
  }
  const at = parseTime(value)
  if (at === null) return null
  const shifted = at + shiftMs
  return isStorableTime(shifted) ? isoTime(shifted) : null
}

let cachedMinute = Number.NaN
let cachedPrefix = ''

/** `toISOString` with a cached minute, because breadcrumbs of an event are close together. */
export function isoTime(at: number): string {
  const minute = Math.floor(at / 60_000)
  if (minute !== cachedMinute) {
    cachedMinute = minute
    cachedPrefix = new Date(minute * 60_000).toISOString().slice(0, 17)
  }
  const rest = at - minute * 60_000
  const seconds = Math.floor(rest / 1000)
  const milliseconds = rest - seconds * 1000
  return `${cachedPrefix}${seconds < 10 ? '0' : ''}${seconds}.${milliseconds < 10 ? '00' : milliseconds < 100 ? '0' : ''}${milliseconds}Z`
}
