import { hyphenate } from '../../platform/kernel/ids.ts'
import { SESSION_STATUSES, type SessionUpdate } from '../../events/protocol/session.ts'
import { type Attributes, DIMENSIONS } from './dimensions.ts'

/** The merged updates of one session. Times in milliseconds. */
export type Session = {
  readonly projectId: string
  /** Hyphenated UUID. */
  readonly sid: string
  /** Values by which the session is counted. */
  readonly attributes: Attributes
  readonly startedAt: number
  /** Whether the update that release, environment and start are taken from has `init`, and its time. */
  readonly hasInit: boolean
  readonly firstUpdateAt: number
  /** Index into SESSION_STATUSES: the most severe so far. */
  readonly status: number
  readonly errors: number
  readonly durationMs: number | null
  /** Whether an unhandled error was reported, even if a more severe status followed. */
  readonly wasUnhandled: boolean
  readonly mechanism: string | null
  /** 52 bits; see events/protocol/user.ts. */
  readonly userHash: number | null
  readonly userAt: number | null
}

/** A session with one update. */
export function buildSession(
  update: SessionUpdate,
  known: { readonly projectId: string; readonly attributes: Attributes; readonly userHash: number | null },
): Session {
  return {
    projectId: known.projectId,
    sid: hyphenate(update.sid),
    attributes: known.attributes,
    startedAt: update.startedAt,
    hasInit: update.isInit,
    firstUpdateAt: update.timestamp,
    status: SESSION_STATUSES.indexOf(update.status),
    errors: update.errors,
    durationMs: update.durationMs,
    wasUnhandled: update.status === 'unhandled',
    mechanism: update.mechanism,
    userHash: known.userHash,
    userAt: known.userHash === null ? null : update.timestamp,
  }
}

/**
 * Merges two states of one session (docs/protocol.md §9.2). Commutative, associative and idempotent: updates may arrive in
 * any order, repeatedly, and in several processes. The updates' own times decide which is first, equal times the value;
 * the rest is the maximum.
 */
export function mergeSessions(a: Session, b: Session): Session {
  const first = compareFirst(a, b) <= 0 ? a : b
  const user = namesUserEarlier(b, a) ? b : a
  return {
    projectId: a.projectId,
    sid: a.sid,
    attributes: { ...first.attributes, ...knownDevice(a.attributes, b.attributes) },
    startedAt: first.startedAt,
    hasInit: first.hasInit,
    firstUpdateAt: first.firstUpdateAt,
    status: Math.max(a.status, b.status),
    errors: Math.max(a.errors, b.errors),
    durationMs:
      a.durationMs === null || (b.durationMs !== null && b.durationMs > a.durationMs) ? b.durationMs : a.durationMs,
    wasUnhandled: a.wasUnhandled || b.wasUnhandled,
    mechanism: worseMechanism(a.mechanism, b.mechanism),
    userHash: user.userHash,
    userAt: user.userAt,
  }
}

/** The update with `init` is first, regardless of its time. */
function compareFirst(a: Session, b: Session): number {
  return (
    Number(b.hasInit) - Number(a.hasInit) ||
    a.firstUpdateAt - b.firstUpdateAt ||
    a.startedAt - b.startedAt ||
    compareTexts(a.attributes.release, b.attributes.release) ||
    compareTexts(a.attributes.environment, b.attributes.environment)
  )
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * The device of a session, which a later update may know (record-sessions.ts). A known one wins over an unknown one; updates
 * that contradict each other give the same one in any order.
 */
function knownDevice(a: Attributes, b: Attributes): Pick<Attributes, 'os' | 'device' | 'device_class'> {
  const { os, device, device_class } = compareDevices(a, b) <= 0 ? a : b
  return { os, device, device_class }
}

const compareDevices = (a: Attributes, b: Attributes): number =>
  knownParts(b) - knownParts(a) ||
  compareTexts(a.os, b.os) ||
  compareTexts(a.device, b.device) ||
  compareTexts(a.device_class, b.device_class)

const knownParts = ({ os, device, device_class: deviceClass }: Attributes): number =>
  Number(os !== '') + Number(device !== '') + Number(deviceClass !== '')

function namesUserEarlier(a: Session, b: Session): boolean {
  if (a.userAt === null || a.userHash === null) return false
  if (b.userAt === null || b.userHash === null) return true
  return a.userAt === b.userAt ? a.userHash < b.userHash : a.userAt < b.userAt
}

/** A session ends abnormally once. Of two mechanisms, the one in the foreground is kept. */
function worseMechanism(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  const difference = mechanismSeverity(b) - mechanismSeverity(a)
  return difference === 0 ? (a < b ? a : b) : difference > 0 ? b : a
}

const mechanismSeverity = (mechanism: string): number =>
  mechanism === 'anr_foreground' ? 2 : mechanism === 'anr_background' ? 1 : 0

export const isSameSession = (a: Session, b: Session): boolean =>
  DIMENSIONS.every((dimension) => a.attributes[dimension] === b.attributes[dimension]) &&
  a.startedAt === b.startedAt &&
  a.hasInit === b.hasInit &&
  a.firstUpdateAt === b.firstUpdateAt &&
  a.status === b.status &&
  a.errors === b.errors &&
  a.durationMs === b.durationMs &&
  a.wasUnhandled === b.wasUnhandled &&
  a.mechanism === b.mechanism &&
  a.userHash === b.userHash &&
  a.userAt === b.userAt

const EXITED = SESSION_STATUSES.indexOf('exited')
const ERRORED = SESSION_STATUSES.indexOf('errored')
const UNHANDLED = SESSION_STATUSES.indexOf('unhandled')
const ABNORMAL = SESSION_STATUSES.indexOf('abnormal')
const CRASHED = SESSION_STATUSES.indexOf('crashed')

/** The class that a session counts in. */
type SessionClass = 'healthy' | 'errored' | 'unhandled' | 'abnormal' | 'crashed'

export function classifySession({ status, errors }: Pick<Session, 'status' | 'errors'>): SessionClass {
  if (status === CRASHED) return 'crashed'
  if (status === ABNORMAL) return 'abnormal'
  if (status === UNHANDLED) return 'unhandled'
  return status === ERRORED || errors > 0 ? 'errored' : 'healthy'
}

/** Whether the app hung in the foreground or background, also when it crashed afterwards. */
export function detectHang({ mechanism }: Pick<Session, 'mechanism'>): 'foreground' | 'background' | null {
  if (mechanism === 'anr_foreground') return 'foreground'
  return mechanism === 'anr_background' ? 'background' : null
}

/**
 * Where the session ended with an ANR. An abnormal end without mechanism is no ANR, nor is a hang before a crash: a session
 * counts in one class.
 */
export const detectAnr = (session: Pick<Session, 'status' | 'mechanism'>): 'foreground' | 'background' | null =>
  session.status === ABNORMAL ? detectHang(session) : null

/** Duration of an ended session; null when the SDK does not send it. */
export const sessionDuration = ({ status, durationMs }: Pick<Session, 'status' | 'durationMs'>): number | null =>
  status >= EXITED ? durationMs : null
