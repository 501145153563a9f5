import { hyphenate } from '../../kernel/ids.ts'
import { SESSION_STATUSES, type SessionUpdate } from '../../protocol/session.ts'

/** What is known of one session: everything its updates said, merged. Times in milliseconds. */
export type Session = {
  readonly projectId: string
  /** Hyphenated, as PostgreSQL has it. */
  readonly sid: string
  /** What it is counted under; see attributes.ts. */
  readonly attributesId: number
  readonly startedAt: number
  /** Of the update that attributes and start are taken from. */
  readonly hasInit: boolean
  readonly firstUpdateAt: number
  /** Index into SESSION_STATUSES: the most severe so far. */
  readonly status: number
  readonly errors: number
  readonly durationMs: number | null
  /** Whether an unhandled error was reported, even if a more severe status followed. */
  readonly wasUnhandled: boolean
  readonly mechanism: string | null
  /** 52 bits; see protocol/user-hash.ts. */
  readonly userHash: number | null
  readonly userAt: number | null
}

/** A session of which only this update is known. */
export function sessionOf(
  update: SessionUpdate,
  known: { readonly projectId: string; readonly attributesId: number; readonly userHash: number | null },
): Session {
  return {
    projectId: known.projectId,
    sid: hyphenate(update.sid),
    attributesId: known.attributesId,
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
 * Two states of one session as one (docs/protocol.md §9.2). Commutative, associative and idempotent, so updates may come in
 * any order, twice, and through several digesters: what is first is decided by the updates' own times, the rest by
 * maximum. Equal times are settled by value.
 */
export function mergeSessions(a: Session, b: Session): Session {
  const first = compareFirst(a, b) <= 0 ? a : b
  const user = namesUserEarlier(b, a) ? b : a
  return {
    projectId: a.projectId,
    sid: a.sid,
    attributesId: first.attributesId,
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

/** The update with `init` is the first, wherever its time says it stands. */
function compareFirst(a: Session, b: Session): number {
  return (
    Number(b.hasInit) - Number(a.hasInit) ||
    a.firstUpdateAt - b.firstUpdateAt ||
    a.startedAt - b.startedAt ||
    a.attributesId - b.attributesId
  )
}

function namesUserEarlier(a: Session, b: Session): boolean {
  if (a.userAt === null || a.userHash === null) return false
  if (b.userAt === null || b.userHash === null) return true
  return a.userAt === b.userAt ? a.userHash < b.userHash : a.userAt < b.userAt
}

/** A session ends abnormally once. If it reports two mechanisms, the one users saw is kept. */
function worseMechanism(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  const difference = mechanismSeverity(b) - mechanismSeverity(a)
  return difference === 0 ? (a < b ? a : b) : difference > 0 ? b : a
}

const mechanismSeverity = (mechanism: string): number =>
  mechanism === 'anr_foreground' ? 2 : mechanism === 'anr_background' ? 1 : 0

export const isSameSession = (a: Session, b: Session): boolean =>
  a.attributesId === b.attributesId &&
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

/** The one class a session counts in. */
export type SessionClass = 'healthy' | 'errored' | 'unhandled' | 'abnormal' | 'crashed'

export function classOf({ status, errors }: Pick<Session, 'status' | 'errors'>): SessionClass {
  if (status === CRASHED) return 'crashed'
  if (status === ABNORMAL) return 'abnormal'
  if (status === UNHANDLED) return 'unhandled'
  return status === ERRORED || errors > 0 ? 'errored' : 'healthy'
}

/** Whether the app hung, and where people saw it; an abnormal end without mechanism is no ANR. */
export function anrOf({ mechanism }: Pick<Session, 'mechanism'>): 'foreground' | 'background' | null {
  if (mechanism === 'anr_foreground') return 'foreground'
  return mechanism === 'anr_background' ? 'background' : null
}

/** How long it lasted, once it has ended; null where the SDK does not say. */
export const durationOf = ({ status, durationMs }: Pick<Session, 'status' | 'durationMs'>): number | null =>
  status >= EXITED ? durationMs : null
