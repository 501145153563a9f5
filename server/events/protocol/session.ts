import { eventIdFrom } from '../../platform/kernel/ids.ts'
import { isList, isRecord, numberField, textField } from './json.ts'
import { readEnvironment, readRelease } from './release.ts'
import { scrubEvent, type ScrubRules } from './scrub.ts'
import { tidy, Notes } from './strings.ts'
import { clockDrift, parseTime } from './time.ts'
import { readUserAgent } from './user-agent.ts'

/** Sessions (docs/protocol.md §9): updates of one run of an app, and counts of several runs. */

/** From harmless to severe; a session never moves down (docs/protocol.md §9.2). */
export const SESSION_STATUSES = ['ok', 'exited', 'errored', 'unhandled', 'abnormal', 'crashed'] as const
export type SessionStatus = (typeof SESSION_STATUSES)[number]

/** Attributes by which sessions are counted. */
export type SessionAttributes = {
  readonly release: string
  readonly environment: string
  /** Names without version, from a browser's user agent; SDKs on phones do not send them. */
  readonly os: string | null
  readonly device: string | null
}

/** One update of one session; times in milliseconds, corrected for a wrong clock. */
export type SessionUpdate = {
  /** 32 hex digits. */
  readonly sid: string
  /** Distinct id of an installation or user, as sent; must be hashed before it is stored. */
  readonly did: string | null
  readonly isInit: boolean
  readonly status: SessionStatus
  readonly errors: number
  readonly startedAt: number
  readonly timestamp: number
  readonly durationMs: number | null
  /** The mechanism of an abnormal end, such as `anr_foreground` and `anr_background`. */
  readonly mechanism: string | null
  readonly attributes: SessionAttributes
}

/** Finished sessions that started in one minute, counted by the SDK; the classes are disjoint. */
export type SessionCounts = {
  readonly startedAt: number
  readonly did: string | null
  readonly exited: number
  readonly errored: number
  readonly crashed: number
  readonly abnormal: number
  readonly unhandled: number
}

export type SessionAggregates = { readonly attributes: SessionAttributes; readonly counts: readonly SessionCounts[] }

/** Why a session is not counted: `discarded` because of its age, or `invalid`. */
type SessionRefusal = { readonly outcome: 'invalid' | 'discarded'; readonly reason: string }

export type SessionContext = {
  readonly receivedAt: Date
  readonly sentAt: Date | null
  /** The user agent of the request; a browser's contains the system. */
  readonly userAgent: string | null
  readonly defaultEnvironment: string
  readonly scrubbing: ScrubRules
}

/** Older sessions are not counted, also in rollups. */
const MAX_SESSION_AGE_MS = 5 * 86_400_000
const MAX_AHEAD_MS = 60_000
const MAX_ERRORS = 1_000_000
/** Maximum sessions of a class that started in one minute. Entries with more are left out: one would decide every rate. */
const MAX_COUNT = 1_000_000
const MAX_DURATION_MS = 30 * 86_400_000

/**
 * Reads an item `session`. `seq` is not read: merging keeps the most severe value of each field, so the order of updates
 * has no effect.
 * @param raw the parsed payload; no value makes this throw
 */
export function readSession(raw: unknown, context: SessionContext): SessionUpdate | SessionRefusal {
  if (!isRecord(raw)) return invalid('not_an_object')
  const notes = new Notes()
  const sid = eventIdFrom(raw['sid'])
  if (sid === null) return invalid('bad_sid')
  const status = statusOf(raw['status'])
  if (status === null) return invalid('unknown_status')
  const attributes = readAttributes(raw['attrs'], context)
  if ('outcome' in attributes) return attributes
  const started = parseTime(raw['started'])
  if (started === null) return invalid('bad_started')
  const durationMs = readDuration(raw['duration'])
  const received = context.receivedAt.getTime()
  const shiftMs = clockDrift(received, context.sentAt, notes)
  const ended = parseTime(raw['timestamp']) ?? (durationMs === null ? null : started + durationMs)
  const startedAt = started + shiftMs
  const timestamp = Math.max(startedAt, (ended ?? context.sentAt?.getTime() ?? received) + shiftMs)
  const misplaced = misplacedInTime(startedAt, timestamp, received)
  if (misplaced !== null) return misplaced
  const mechanism = scrubbed(
    'mechanism',
    textField(raw['abnormal_mechanism'], 64, notes, 'abnormal_mechanism'),
    context,
  )
  return {
    sid,
    did: readDid(raw['did']),
    isInit: raw['init'] === true,
    status,
    errors: countOf(raw['errors'], MAX_ERRORS),
    startedAt,
    timestamp,
    durationMs,
    mechanism,
    attributes,
  }
}

/**
 * Reads an item `sessions`. Leaves out empty entries, those outside the accepted time and those with counts that are too
 * large; refuses it without any other.
 */
export function readSessions(raw: unknown, context: SessionContext): SessionAggregates | SessionRefusal {
  if (!isRecord(raw)) return invalid('not_an_object')
  const attributes = readAttributes(raw['attrs'], context)
  if ('outcome' in attributes) return attributes
  const list = raw['aggregates']
  if (!isList(list)) return invalid('no_aggregates')
  const received = context.receivedAt.getTime()
  const shiftMs = clockDrift(received, context.sentAt, new Notes())
  const counts: SessionCounts[] = []
  let refusal: SessionRefusal | null = null
  for (const entry of list) {
    if (!isRecord(entry)) continue
    const started = parseTime(entry['started'])
    if (started === null) {
      refusal ??= invalid('bad_started')
      continue
    }
    const startedAt = started + shiftMs
    const misplaced = misplacedInTime(startedAt, startedAt, received)
    if (misplaced !== null) {
      refusal ??= misplaced
      continue
    }
    const of = (status: string): number => countOf(entry[status], MAX_COUNT + 1)
    const classes = {
      exited: of('exited'),
      errored: of('errored'),
      crashed: of('crashed'),
      abnormal: of('abnormal'),
      unhandled: of('unhandled'),
    }
    const most = Math.max(...Object.values(classes))
    if (most > MAX_COUNT) refusal ??= invalid('too_many_sessions')
    else if (most > 0) counts.push({ startedAt, did: readDid(entry['did']), ...classes })
  }
  return counts.length > 0 ? { attributes, counts } : (refusal ?? invalid('no_counts'))
}

const invalid = (reason: string): SessionRefusal => ({ outcome: 'invalid', reason })

/** `ok` when missing; null for an unknown status, whose session is ignored (recorded edge case 15). */
function statusOf(raw: unknown): SessionStatus | null {
  if (raw === undefined || raw === null) return 'ok'
  return SESSION_STATUSES.find((status) => status === raw) ?? null
}

/** Five days back, 60 seconds ahead, after the clock was corrected. */
function misplacedInTime(startedAt: number, timestamp: number, received: number): SessionRefusal | null {
  if (startedAt < received - MAX_SESSION_AGE_MS) return { outcome: 'discarded', reason: 'too_old' }
  if (timestamp > received + MAX_AHEAD_MS) return { outcome: 'discarded', reason: 'in_future' }
  return null
}

function readAttributes(raw: unknown, context: SessionContext): SessionAttributes | SessionRefusal {
  const attrs = isRecord(raw) ? raw : {}
  const notes = new Notes()
  const sent = attrs['release']
  if (sent === undefined || sent === null || sent === '') return invalid('no_release')
  const release = scrubbed('release', readRelease(sent, notes), context)
  if (release === null) return invalid('bad_release')
  const environment = scrubbed('environment', readEnvironment(attrs['environment'], notes), context)
  const agent = textField(attrs['user_agent'], 1_024, notes, 'user_agent') ?? context.userAgent
  const { os, device } = agent === null ? NO_AGENT : readUserAgent(agent)
  return {
    release,
    environment: environment ?? context.defaultEnvironment,
    os: os === null ? null : tidy(os.name, 64),
    device: device === null || device.family === '' ? null : tidy(device.family, 64),
  }
}

const NO_AGENT = { os: null, device: null }

/** Scrubs a name like the same field of an event, so that both are equal. */
function scrubbed(name: string, text: string | null, { scrubbing }: SessionContext): string | null {
  if (text === null) return null
  const holder: Record<string, unknown> = { [name]: text }
  if (!scrubEvent(holder, scrubbing)) return text
  const clean = holder[name]
  return typeof clean === 'string' ? clean : null
}

/** Reads it like an event's user id, so that both are equal for the same user; null for the nil UUID. */
function readDid(raw: unknown): string | null {
  if (typeof raw !== 'string' && typeof raw !== 'number') return null
  const did = textField(raw, 256, new Notes(), 'did')
  return did === null || /^\s*$/.test(did) || /^[0-]{32,36}$/.test(did) ? null : did
}

function readDuration(raw: unknown): number | null {
  const seconds = numberField(raw, new Notes(), 'duration')
  if (seconds === null || seconds < 0) return null
  return Math.min(Math.round(seconds * 1000), MAX_DURATION_MS)
}

/** A whole number from 0 to `max`; 0 for other types. */
function countOf(raw: unknown, max: number): number {
  const count = numberField(raw, new Notes(), 'count')
  return count === null || count <= 0 ? 0 : Math.min(Math.floor(count), max)
}
