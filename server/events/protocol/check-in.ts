import {
  INTERVAL_UNITS,
  type IntervalUnit,
  MAX_INTERVAL,
  MAX_MONITOR_MINUTES,
  MAX_MONITOR_THRESHOLD,
} from '#shared/monitors.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import { isRecord, numberField } from './json.ts'
import { readEnvironment, readRelease } from './release.ts'
import { tidy, Notes, type Note } from './strings.ts'
import { MAX_SLUG, SENT_STATUSES, type SentStatus } from './telemetry.api.ts'
import { readTraceId } from './span.ts'

type Schedule =
  | { readonly type: 'crontab'; readonly value: string }
  | { readonly type: 'interval'; readonly value: number; readonly unit: IntervalUnit }

/** The schedule of a monitor; fields that the check-in does not have are null. */
export type MonitorConfig = {
  readonly schedule: Schedule
  /** IANA name. */
  readonly timezone: string
  readonly checkinMarginMinutes: number | null
  readonly maxRuntimeMinutes: number | null
  readonly failureIssueThreshold: number | null
  readonly recoveryThreshold: number | null
  readonly owner: string | null
}

export type CheckIn = {
  /** 32 hex digits; null for the latest open check-in of the monitor. */
  readonly id: string | null
  readonly slug: string
  readonly status: SentStatus
  readonly durationMs: number | null
  readonly environment: string
  readonly release: string | null
  readonly traceId: string | null
  readonly config: MonitorConfig | null
  readonly notes: readonly Note[]
}

/** A year; a longer duration has a wrong unit. */
const MAX_DURATION_S = 31_622_400

/** Reads a scrubbed check-in; returns a reason when it is invalid. Pure. */
export function readCheckIn(raw: unknown, defaultEnvironment: string): CheckIn | { readonly invalid: string } {
  if (!isRecord(raw)) return { invalid: 'not_an_object' }
  const slug = readSlug(raw['monitor_slug'])
  if (slug === null) return { invalid: 'bad_slug' }
  const status = SENT_STATUSES.find((one) => one === raw['status'])
  if (status === undefined) return { invalid: 'bad_status' }
  const id = readId(raw['check_in_id'])
  if (id === undefined) return { invalid: 'bad_check_in_id' }
  const notes = new Notes()
  return {
    id,
    slug,
    status,
    durationMs: readDuration(raw['duration'], notes),
    environment: readEnvironment(raw['environment'], notes) ?? defaultEnvironment,
    release: readRelease(raw['release'], notes),
    traceId: readTraceId(traceOf(raw)),
    config: readConfig(raw['monitor_config'], notes),
    notes: notes.list,
  }
}

/** A monitor's slug in lower case with hyphens; null when no usable characters are left. */
export function readSlug(raw: unknown): string | null {
  if (typeof raw !== 'string' || raw.length > 2 * MAX_SLUG || Array.from(raw).length > MAX_SLUG) return null
  const slug = raw
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return slug === '' || slug.length > MAX_SLUG ? null : slug
}

/** Returns undefined for an invalid id. */
function readId(raw: unknown): string | null | undefined {
  if (raw === undefined || raw === null || raw === '') return null
  if (typeof raw === 'string' && /^[0-]{32,36}$/.test(raw)) return null
  return eventIdFrom(raw) ?? undefined
}

function readDuration(raw: unknown, notes: Notes): number | null {
  const seconds = numberField(raw, notes, 'duration')
  if (seconds === null) return null
  if (seconds >= 0 && seconds <= MAX_DURATION_S) return Math.round(seconds * 1000)
  notes.add('duration', 'Negative, or longer than a year.')
  return null
}

function traceOf(raw: Record<string, unknown>): unknown {
  const contexts = raw['contexts']
  const trace = isRecord(contexts) ? contexts['trace'] : null
  return isRecord(trace) ? trace['trace_id'] : null
}

const CONFIG = 'monitor_config'

/** Returns null, with a note, when the schedule or time zone is invalid: half a schedule would cause false alarms. */
function readConfig(raw: unknown, notes: Notes): MonitorConfig | null {
  if (raw === undefined || raw === null) return null
  if (!isRecord(raw)) {
    notes.add(CONFIG, 'Expected an object; ignored.')
    return null
  }
  const schedule = readSchedule(raw['schedule'])
  if (schedule === null) {
    notes.add(`${CONFIG}.schedule`, 'Not a crontab of five fields, nor an interval; the configuration was ignored.')
    return null
  }
  const timezone = readTimezone(raw['timezone'])
  if (timezone === null) {
    notes.add(`${CONFIG}.timezone`, 'Not a time zone; the configuration was ignored.')
    return null
  }
  const whole = (name: string, min: number, max: number): number | null => {
    const value = numberField(raw[name], notes, `${CONFIG}.${name}`)
    if (value === null || (Number.isInteger(value) && value >= min && value <= max)) return value
    notes.add(`${CONFIG}.${name}`, `Not a whole number from ${min} to ${max.toLocaleString('en')}; ignored.`)
    return null
  }
  const owner = raw['owner']
  return {
    schedule,
    timezone,
    checkinMarginMinutes: whole('checkin_margin', 0, MAX_MONITOR_MINUTES),
    maxRuntimeMinutes: whole('max_runtime', 1, MAX_MONITOR_MINUTES),
    failureIssueThreshold: whole('failure_issue_threshold', 1, MAX_MONITOR_THRESHOLD),
    recoveryThreshold: whole('recovery_threshold', 1, MAX_MONITOR_THRESHOLD),
    owner: typeof owner === 'string' && owner !== '' ? tidy(owner, 200) : null,
  }
}

function readSchedule(raw: unknown): Schedule | null {
  if (!isRecord(raw)) return null
  const { type, value, unit } = raw
  if (type === 'crontab') {
    const crontab = typeof value === 'string' ? readCrontab(value) : null
    return crontab === null ? null : { type, value: crontab }
  }
  if (type !== 'interval' || typeof value !== 'number') return null
  const known = INTERVAL_UNITS.find((one) => one === unit)
  if (known === undefined || !Number.isInteger(value) || value < 1 || value > MAX_INTERVAL) return null
  return { type, value, unit: known }
}

const zones = new Map<string, boolean>()
const MAX_ZONES = 1_000

/** UTC by default. Names repeat and checking one costs a formatter, so results are cached. */
export function readTimezone(raw: unknown): string | null {
  if (raw === undefined || raw === null || raw === '') return 'UTC'
  if (typeof raw !== 'string' || !/^[A-Za-z][\w+/-]{1,60}$/.test(raw)) return null
  let known = zones.get(raw)
  if (known === undefined) {
    known = isTimezone(raw)
    if (zones.size >= MAX_ZONES) zones.clear()
    zones.set(raw, known)
  }
  return known ? raw : null
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** Validates schedules of cron monitors: five fields with lists, ranges, steps and names, or a nickname. */

const NICKNAMES = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

type Field = { readonly min: number; readonly max: number; readonly names: readonly string[]; readonly last: boolean }

const FIELDS: readonly Field[] = [
  { min: 0, max: 59, names: [], last: false },
  { min: 0, max: 23, names: [], last: false },
  // `L` is the last day of the month.
  { min: 1, max: 31, names: [], last: true },
  { min: 1, max: 12, names: MONTHS, last: false },
  // 7 is Sunday as well.
  { min: 0, max: 7, names: DAYS, last: false },
]

const MAX_CRONTAB = 256

/** The schedule in its plain form (lower case, single spaces); null when it is invalid. */
export function readCrontab(text: string): string | null {
  if (text.length > MAX_CRONTAB) return null
  const plain = text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  if (NICKNAMES.has(plain)) return plain
  const parts = plain.split(' ')
  if (parts.length !== FIELDS.length) return null
  return FIELDS.every((field, index) => isField(parts[index] ?? '', field)) ? plain : null
}

const isField = (text: string, field: Field): boolean => text.split(',').every((part) => isPart(part, field))

function isPart(text: string, field: Field): boolean {
  const [range = '', step, ...more] = text.split('/')
  if (more.length > 0 || (step !== undefined && !isStep(step, field))) return false
  if (range === '*') return true
  if (range === 'l') return field.last && step === undefined
  const [from = '', to, ...rest] = range.split('-')
  const start = numberOf(from, field)
  if (start === null || rest.length > 0) return false
  if (to === undefined) return true
  const end = numberOf(to, field)
  return end !== null && start <= end
}

const isStep = (text: string, field: Field): boolean =>
  /^\d{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= field.max

function numberOf(text: string, field: Field): number | null {
  if (!/^\d{1,2}$/.test(text)) {
    const named = field.names.indexOf(text)
    return named === -1 ? null : named + field.min
  }
  const value = Number(text)
  return value >= field.min && value <= field.max ? value : null
}
