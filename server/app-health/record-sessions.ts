import type { Tx } from '../storage/database.ts'
import type { SessionAggregates, SessionAttributes, SessionUpdate } from '../protocol/session.ts'
import { hashUser } from '../protocol/user-hash.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { ACCEPTED, type ItemOutcome, type Recorder } from '../outcomes/recorder.ts'
import { attributesIdOf, countedUnder, type KnownAttributes } from './attributes.ts'
import { type RollupChange, RollupChanges, USER_SETS } from './rollup.ts'
import { isSameSession, mergeSessions, type Session, sessionOf } from './session.ts'
import * as sql from './sessions.queries.ts'

/** The content of one item. */
export type SessionFact = { readonly update: SessionUpdate } | { readonly aggregates: SessionAggregates }
export type ReceivedSession = { readonly projectId: string; readonly fact: SessionFact }

/**
 * How long a session's row is kept, from its start. Updates are accepted for 5 days and may then wait in the spool.
 * Later updates are not counted, because they might count twice.
 */
export const SESSION_RETENTION_MS = 6 * 86_400_000

/**
 * Records sessions and their rollups. The result is the same for updates of a session in any order, repeated, in one or
 * several batches and processes. Aggregates have no id: a repeated one counts twice.
 * @returns for each fact whether it was counted; false when its session started too long ago
 */
export async function recordSessions(tx: Tx, now: Date, facts: readonly ReceivedSession[]): Promise<boolean[]> {
  const horizon = now.getTime() - SESSION_RETENTION_MS
  const isCounted = facts.map(({ fact }) => !('update' in fact) || fact.update.startedAt >= horizon)
  const counted = facts.filter((_, index) => isCounted[index])
  if (counted.length === 0) return isCounted
  const ids = await countedUnder(tx, now, attributesOfAll(counted))
  const idOf = (projectId: string, attributes: SessionAttributes): number => {
    const id = attributesIdOf(attributes)
    return ids.get(sql.attributesKey(projectId, id)) ?? id
  }
  const changes = new RollupChanges()
  const sessions = new Map<string, Session>()
  for (const { projectId, fact } of counted) {
    if ('aggregates' in fact) {
      const attributesId = idOf(projectId, fact.aggregates.attributes)
      for (const counts of fact.aggregates.counts)
        changes.add(projectId, attributesId, counts, hashOrNull(projectId, counts.did))
      continue
    }
    const { update } = fact
    const userHash = hashOrNull(projectId, update.did)
    const one = sessionOf(update, { projectId, userHash, attributesId: idOf(projectId, update.attributes) })
    const known = sessions.get(sql.sessionKey(one))
    sessions.set(sql.sessionKey(one), known === undefined ? one : mergeSessions(known, one))
  }
  await mergeIntoRows(tx, sessions, changes)
  await writeRollups(tx, changes.rows())
  return isCounted
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

const hashOrNull = (projectId: string, did: string | null): number | null =>
  did === null ? null : hashUser(projectId, did)

function attributesOfAll(facts: readonly ReceivedSession[]): Map<string, KnownAttributes> {
  const all = new Map<string, KnownAttributes>()
  for (const { projectId, fact } of facts) {
    const { attributes } = 'update' in fact ? fact.update : fact.aggregates
    const id = attributesIdOf(attributes)
    all.set(sql.attributesKey(projectId, id), { projectId, id, attributes })
  }
  return all
}

/**
 * Inserts first, then locks, both in key order: a process that waits for another one's insert holds no lock that the
 * other may need.
 */
async function mergeIntoRows(tx: Tx, sessions: ReadonlyMap<string, Session>, changes: RollupChanges): Promise<void> {
  let pending = [...sessions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, session]) => session)
  const updated: Session[] = []
  while (pending.length > 0) {
    const inserted = await sql.insertSessions(tx, pending)
    for (const session of pending) if (inserted.has(sql.sessionKey(session))) changes.replace(null, session)
    pending = pending.filter((session) => !inserted.has(sql.sessionKey(session)))
    if (pending.length === 0) break
    const rows = await sql.lockSessions(tx, pending)
    for (const session of pending) {
      const before = rows.get(sql.sessionKey(session))
      if (before === undefined) continue
      const after = mergeSessions(before, session)
      if (isSameSession(before, after)) continue
      updated.push(after)
      changes.replace(before, after)
    }
    // A row that was deleted between the two statements is inserted in the next round.
    pending = pending.filter((session) => !rows.has(sql.sessionKey(session)))
  }
  if (updated.length > 0) await sql.updateSessions(tx, updated)
}

async function writeRollups(tx: Tx, rows: readonly RollupChange[]): Promise<void> {
  if (rows.length === 0) return
  await sql.addCounts(tx, rows)
  const sketched = rows.filter((row) => row.users.size > 0 || row.durations.size > 0)
  if (sketched.length === 0) return
  const stored = await sql.readSketches(tx, sketched)
  const writes: { key: RollupChange; sketches: sql.Sketches }[] = []
  for (const [index, row] of sketched.entries()) {
    const sketches = changedSketches(row, stored[index])
    if (sketches !== null) writes.push({ key: row, sketches })
  }
  if (writes.length > 0) await sql.writeSketches(tx, writes)
}

/** Returns the sketches that a change modifies; null when there are none. */
function changedSketches(change: RollupChange, stored: sql.Sketches | undefined): sql.Sketches | null {
  const changed: sql.Sketches = {
    users: null,
    unhandled_users: null,
    crashed_users: null,
    anr_users: null,
    anr_foreground_users: null,
    durations: null,
  }
  let isChanged = false
  for (const set of USER_SETS) {
    const hashes = change.users.get(set)
    if (hashes === undefined) continue
    const before = stored?.[set] ?? null
    const sketch = before === null ? new HyperLogLog() : HyperLogLog.fromBytes(before)
    for (const hash of hashes) sketch.add(hash)
    const after = sketch.toBytes()
    if (before !== null && after.equals(before)) continue
    changed[set] = after
    isChanged = true
  }
  if (change.durations.size > 0) {
    const before = stored?.durations ?? null
    const sketch = before === null ? new DDSketch() : DDSketch.fromBytes(before)
    // Adds before it removes, so that no count becomes negative.
    for (const [duration, sessions] of change.durations) for (let n = 0; n < sessions; n++) sketch.add(duration)
    for (const [duration, sessions] of change.durations) for (let n = 0; n > sessions; n--) sketch.remove(duration)
    changed.durations = sketch.toBytes()
    isChanged = true
  }
  return isChanged ? changed : null
}
