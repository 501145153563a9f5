import type { Tx } from '../../platform/storage/database.ts'
import type {
  SessionAggregates,
  SessionAttributes,
  SessionCounts,
  SessionUpdate,
} from '../../events/protocol/session.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { ACCEPTED, type ItemOutcome, type Recorder } from '../../events/items/recorder.ts'
import { Deltas, addUser } from './deltas.ts'
import { insertDeltas } from './deltas.queries.ts'
import type { Attributes } from './dimensions.ts'
import { isSameSession, mergeSessions, type Session, buildSession } from './session.ts'
import * as sql from './sessions.queries.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { userKey, saveDevices, findDevices, type SeenDevice } from './sessions.queries.ts'
import type { Device } from '../../events/protocol/device.ts'

/** The content of one item. */
export type SessionFact = { readonly update: SessionUpdate } | { readonly aggregates: SessionAggregates }
export type ReceivedSession = { readonly projectId: string; readonly fact: SessionFact }

/**
 * How long a session's row is kept, from its start. Updates are accepted for 5 days and may then wait in the spool.
 * Later updates are not counted, because they might count twice.
 */
export const SESSION_RETENTION_MS = 6 * 86_400_000

/**
 * Records sessions and what they add to the rollups. The result is the same for updates of a session in any order, repeated, in one or
 * several batches and processes. Aggregates have no id: a repeated one counts twice.
 * @returns for each fact whether it was counted; false when its session started too long ago
 */
export async function recordSessions(tx: Tx, now: Date, facts: readonly ReceivedSession[]): Promise<boolean[]> {
  const horizon = now.getTime() - SESSION_RETENTION_MS
  const isCounted = facts.map(({ fact }) => !('update' in fact) || fact.update.startedAt >= horizon)
  const counted = facts.filter((_, index) => isCounted[index])
  if (counted.length === 0) return isCounted
  const deltas = new Deltas()
  const sessions = new Map<string, Session>()
  const parts = counted.flatMap(partsOf)
  const attributes = await withKnownDevices(tx, parts)
  for (const [index, part] of parts.entries()) {
    const known = { ...part, attributes: attributes[index] ?? part.attributes }
    if ('counts' in part) {
      deltas.add(part.projectId, known.attributes, part.counts, part.userHash)
      continue
    }
    const one = buildSession(part.update, known)
    const before = sessions.get(sql.sessionKey(one))
    sessions.set(sql.sessionKey(one), before === undefined ? one : mergeSessions(before, one))
  }
  await mergeIntoRows(tx, sessions, deltas)
  insertDeltas(tx, deltas.list())
  return isCounted
}

type Part = { readonly projectId: string; readonly userHash: number | null; readonly attributes: Attributes } & (
  | { readonly update: SessionUpdate }
  | { readonly counts: SessionCounts }
)

/** An update, or each entry of aggregates, with its user. */
function partsOf({ projectId, fact }: ReceivedSession): Part[] {
  if ('update' in fact) {
    const { update } = fact
    const attributes = attributesOf(update.attributes)
    return [{ projectId, userHash: hashOrNull(projectId, update.did), attributes, update }]
  }
  const attributes = attributesOf(fact.aggregates.attributes)
  return fact.aggregates.counts.map((counts) => ({
    projectId,
    userHash: hashOrNull(projectId, counts.did),
    attributes,
    counts,
  }))
}

/** The row of such a session may be deleted already: the session could count twice. */
const TOO_OLD: ItemOutcome = { outcome: 'discarded', reason: 'too_old' }

/** A repeated update is accepted and changes nothing: SDKs repeat updates on purpose. */
export const sessionRecorder: Recorder<SessionFact> = async (tx, { at: now }, facts) => {
  const isCounted = await recordSessions(
    tx,
    now,
    facts.map(({ fact, context: { projectId } }) => ({ projectId, fact })),
  )
  return isCounted.map((one) => (one ? ACCEPTED : TOO_OLD))
}

const attributesOf = ({ release, environment, os, device }: SessionAttributes): Attributes => ({
  release,
  environment,
  os: os ?? '',
  device: device ?? '',
  device_class: '',
})

const hashOrNull = (projectId: string, did: string | null): number | null =>
  did === null ? null : hashUser(projectId, did)

/**
 * Inserts first, then locks, both in key order: a process that waits for another one's insert holds no lock that the
 * other may need.
 */
async function mergeIntoRows(tx: Tx, sessions: ReadonlyMap<string, Session>, deltas: Deltas): Promise<void> {
  let pending = [...sessions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, session]) => session)
  const updated: Session[] = []
  while (pending.length > 0) {
    const inserted = await sql.insertSessions(tx, pending)
    for (const session of pending) if (inserted.has(sql.sessionKey(session))) deltas.replace(null, session)
    pending = pending.filter((session) => !inserted.has(sql.sessionKey(session)))
    if (pending.length === 0) break
    const rows = await sql.lockSessions(tx, pending)
    for (const session of pending) {
      const before = rows.get(sql.sessionKey(session))
      if (before === undefined) continue
      const after = mergeSessions(before, session)
      if (isSameSession(before, after)) continue
      updated.push(after)
      deltas.replace(before, after)
    }
    // A row that was deleted between the two statements is inserted in the next round.
    pending = pending.filter((session) => !rows.has(sql.sessionKey(session)))
  }
  if (updated.length > 0) await sql.updateSessions(tx, updated)
}

/**
 * Devices of users. SDKs of phones send no device with a session, but with events and transactions; both name the same
 * installation.
 */

/** Remembers the device of each user, the last of a batch. Writes what changed, in lock order. */
export function learnDevices(tx: Tx, now: Date, seen: readonly SeenDevice[]): void {
  const byUser = new Map(seen.map((one) => [userKey(one), one]))
  if (byUser.size === 0) return
  const sorted = [...byUser].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
  saveDevices(tx, utcDay(now), sorted)
}

/** The recorder of what transactions say. */
export const recordUserDevices: Recorder<SeenDevice> = (tx, { at: now }, facts) => {
  learnDevices(
    tx,
    now,
    facts.map(({ fact }) => fact),
  )
  return Promise.resolve(null)
}

type User = { readonly projectId: string; readonly userHash: number | null; readonly attributes: Attributes }

/** The attributes of sessions, with the device of their user where they name none. A browser's names its system. */
async function withKnownDevices(tx: Tx, sessions: readonly User[]): Promise<Attributes[]> {
  const users = sessions.flatMap(({ projectId, userHash, attributes }) =>
    userHash === null || !isUnknown(attributes) ? [] : [{ projectId, userHash }],
  )
  if (users.length === 0) return sessions.map(({ attributes }) => attributes)
  const known = await findDevices(tx, users)
  return sessions.map(({ projectId, userHash, attributes }) =>
    userHash === null || !isUnknown(attributes)
      ? attributes
      : { ...attributes, ...known.get(userKey({ projectId, userHash })) },
  )
}

const isUnknown = ({ os, device }: Attributes): boolean => os === '' && device === ''

/** A stored event, as far as it is counted. */
type CountedEvent = {
  readonly projectId: string
  readonly occurredAt: Date
  readonly release: string | null
  readonly environment: string
  readonly device: Device
  /** 52 bits; see events/protocol/user.ts. */
  readonly userHash: number | null
  readonly isUnhandled: boolean
  /** A crash or a hang of the app: the most urgent events. */
  readonly isCritical: boolean
  /** Whether the app hung, and where it was. */
  readonly anr: 'foreground' | 'background' | null
}

/** Appends counts of stored events, by the minute of their time. A crash is critical and no hang. */
export function countEvents(tx: Tx, events: Iterable<CountedEvent>): void {
  const deltas = new Deltas()
  for (const { projectId, occurredAt, release, environment, device, userHash, ...event } of events) {
    const attributes = { release: release ?? '', environment, ...device }
    const delta = deltas.of(projectId, 'events', attributes, occurredAt.getTime())
    const isCrash = event.isCritical && event.anr === null
    delta.counts.total++
    if (event.isCritical) delta.counts.critical++
    if (event.isUnhandled) delta.counts.unhandled++
    if (isCrash) delta.counts.crashed++
    if (event.anr !== null) delta.counts[`anr_${event.anr}`]++
    if (userHash === null) continue
    addUser(delta, 'users', userHash)
    if (event.isUnhandled) addUser(delta, 'unhandled_users', userHash)
    if (isCrash) addUser(delta, 'crashed_users', userHash)
    if (event.anr !== null) addUser(delta, 'anr_users', userHash)
    if (event.anr === 'foreground') addUser(delta, 'anr_foreground_users', userHash)
  }
  insertDeltas(tx, deltas.list())
}
