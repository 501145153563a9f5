import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '../../platform/kernel/errors.ts'
import type { App } from '../../platform/context/app.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import { type Admission, MAX_BACKLOG_BYTES, watchSpool } from './admission.ts'
import { type IntakeLog, type LogEntry, type LogState, NotConnectedError, NotStoredError } from './intake-log.ts'
import {
  advancePosition,
  type LogPosition,
  resetPosition,
  selectPosition,
  tryLockMover,
} from './log-position.queries.ts'
import { demandDurability, insertRows, MAX_INSERT_ROWS, type NewRow } from './spool.queries.ts'

/** Bounds of one transaction. */
const MAX_MESSAGES = 256
const MAX_BYTES = 8 * 1024 * 1024
const POLL_MS = 50
const CHECK_EVERY_MS = 1_000
/** So often an idle log notes that nothing waits. Erasures wait for it. */
const NOTE_EVERY_MS = 10_000
/**
 * Moved messages stay this long: longer than an append is tried, because a server that was started again knows the ids of
 * messages that it holds only.
 */
const KEEP_MS = 15_000
/** A log that is fuller is trimmed at once. */
const FULL_SHARE = 0.5
const ELSEWHERE_MS = 1_000
/** A server that was cut off may answer as the leader that it was for some seconds: what a log lost is believed after this. */
const BELIEVE_MS = 30_000
const MAX_PAUSE_MS = 2_000
/** Readiness waits for this too; the figures need no position. */
const DATABASE_WAIT_MS = 1_000
/** Parts of a lost row that are looked up at the leader. */
const MAX_PARTS_LOOKED_UP = 128

export type Mover = {
  /** Since the start. */
  readonly figures: { messages: number; unreadable: number; missing: number; restarts: number }
  stop(): Promise<void>
}

/** The log has another content than the position says, or another mover moved. */
class PositionError extends Error {}

/**
 * Brings the entries of the log into the spool, in order, while no other process does. The position of the last one is
 * stored with the rows, so that none is lost or moved twice, at whatever moment a process ends (docs/decisions/intake-log.md).
 */
export function startMover(app: App, log: IntakeLog, { believeMs = BELIEVE_MS } = {}): Mover {
  const stopping = new AbortController()
  const { signal } = stopping
  const figures: { -readonly [name in keyof Mover['figures']]: number } = {
    messages: 0,
    unreadable: 0,
    missing: 0,
    restarts: 0,
  }
  const run = async (): Promise<void> => {
    let pauseMs = 0
    let reported = ''
    const doubt = new Doubt(believeMs)
    while (!signal.aborted) {
      const movedBefore = figures.messages
      try {
        await moveWhileLocked(app, log, signal, doubt, figures)
        pauseMs = ELSEWHERE_MS
        reported = ''
      } catch (error) {
        if (figures.messages !== movedBefore) {
          pauseMs = 0
          reported = ''
        }
        pauseMs = Math.min(MAX_PAUSE_MS, Math.max(POLL_MS, pauseMs * 2))
        const text = errorText(error)
        const isExpected = isDatabaseAway(error) || error instanceof PositionError || error instanceof NotStoredError
        // Once per outage. At a start the log is not connected yet, and reports itself when that fails.
        if (text !== reported && !(error instanceof NotConnectedError))
          app.log.warn(
            { err: isExpected ? text : error },
            'moving entries from the intake log was interrupted; they stay there and are moved later',
          )
        reported = text
      }
      await delay(pauseMs, undefined, { signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    figures,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/** Moves until the signal. @returns early when another process moves */
async function moveWhileLocked(
  app: App,
  log: IntakeLog,
  signal: AbortSignal,
  doubt: Doubt,
  figures: Mover['figures'],
): Promise<void> {
  let isLost = false
  const session = await app.db.reserve({ onLost: () => (isLost = true) })
  let admission: Admission | null = null
  let isMover = true
  try {
    isMover = await tryLockMover(session, log.name)
    if (!isMover) return
    // While the spool is full, the log keeps the rest.
    admission = watchSpool(app, {
      maxBacklogEntries: app.config.maxBacklogEntries,
      maxBacklogBytes: MAX_BACKLOG_BYTES,
    })
    let position = await findPosition(app, log, doubt)
    let checkedMs = Number.NEGATIVE_INFINITY
    let notedMs = Number.NEGATIVE_INFINITY
    let keptSince = { sequence: position.sequence, atMs: performance.now() }
    while (!signal.aborted && !isLost) {
      const nowMs = performance.now()
      if (nowMs - checkedMs >= CHECK_EVERY_MS) {
        checkedMs = nowMs
        const askedAt = app.clock.now()
        const state = await log.state()
        await checkPosition(log, position, state)
        const isFull = state.bytes > log.maxBytes * FULL_SHARE
        if (isFull || nowMs - keptSince.atMs >= KEEP_MS) {
          // The last one that was moved stays, to be recognised.
          const upTo = isFull ? position.sequence : keptSince.sequence
          if (state.firstSequence < upTo) await log.trim(upTo)
          keptSince = { sequence: position.sequence, atMs: nowMs }
        }
        if (state.lastSequence === position.sequence && nowMs - notedMs >= NOTE_EVERY_MS) {
          notedMs = nowMs
          await advance(app.db, log.name, position, position, askedAt)
        }
      }
      const { entries, missing } =
        admission.state(null) === 'open' ? await readOn(log, position.sequence) : NOTHING_READ
      const isBelieved = missing === 0 || doubt.isOld()
      if (entries.length === 0 || !isBelieved) {
        await delay(POLL_MS, undefined, { signal }).catch(() => {})
        continue
      }
      position = await app.tx((tx) => moveEntries(tx, log.name, position, entries))
      doubt.end()
      figures.messages += entries.length
      figures.missing += missing
      if (missing > 0) app.log.error({ missing, stream: log.name }, 'the intake log lost messages')
      const unreadable = entries.filter(({ row }) => row === null)
      figures.unreadable += unreadable.length
      for (const { sequence } of unreadable)
        app.log.error({ sequence, stream: log.name }, 'a message of the intake log is none of ours and was left out')
    }
  } catch (error) {
    if (error instanceof PositionError) figures.restarts++
    throw error
  } finally {
    admission?.close()
    // The end of its connection frees the lock.
    session.release(isMover)
  }
}

/** A contradiction between log and position, and its beginning. */
class Doubt {
  readonly #believeMs: number
  #sinceMs: number | null = null

  constructor(believeMs: number) {
    this.#believeMs = believeMs
  }

  /** Whether it lasts long enough to be believed; the first call begins it. */
  isOld(): boolean {
    this.#sinceMs ??= performance.now()
    return performance.now() - this.#sinceMs >= this.#believeMs
  }

  end(): void {
    this.#sinceMs = null
  }
}

type Read = {
  readonly entries: readonly LogEntry[]
  /** Messages before the first entry that neither the replica nor the leader has. */
  readonly missing: number
}
const NOTHING_READ: Read = { entries: [], missing: 0 }

/** Whether the leader lacks one of the messages too: a row of several messages is lost with any of them. */
async function hasLost(log: IntakeLog, from: number, to: number): Promise<boolean> {
  for (let sequence = from; sequence < Math.min(to, from + MAX_PARTS_LOOKED_UP); sequence++)
    if ((await log.message(sequence)) === null) return true
  return false
}

/** The next entries, up to the first gap. */
async function readOn(log: IntakeLog, afterSequence: number): Promise<Read> {
  const entries = await log.read(afterSequence, { rows: MAX_MESSAGES, bytes: MAX_BYTES })
  const gap = entries.findIndex(
    ({ firstSequence }, index) => firstSequence !== (entries[index - 1]?.sequence ?? afterSequence) + 1,
  )
  if (gap === -1) return { entries, missing: 0 }
  if (gap > 0) return { entries: entries.slice(0, gap), missing: 0 }
  const [first] = entries
  if (first === undefined || !(await hasLost(log, afterSequence + 1, first.firstSequence))) return NOTHING_READ
  const { firstSequence } = await log.state()
  // A log begins later than a position that was restored from a backup.
  if (firstSequence > afterSequence + 1 && firstSequence === first.firstSequence)
    return { entries: [first], missing: 0 }
  return { entries: [first], missing: first.firstSequence - afterSequence - 1 }
}

/**
 * Writes entries to the spool, with the position after them, in the transaction.
 * @returns that position
 * @throws PositionError when the stored position is another one
 */
export async function moveEntries(
  tx: Tx,
  stream: string,
  from: LogPosition,
  entries: readonly LogEntry[],
): Promise<LogPosition> {
  const last = entries.at(-1)
  if (last === undefined) return from
  // The log is trimmed after the commit.
  await demandDurability(tx)
  const to = { created: from.created, sequence: last.sequence, messageId: last.id }
  // First: it locks the position until the end.
  await advance(tx, stream, from, to, new Date(last.storedAtMs))
  const rows = entries.flatMap(({ row }): NewRow[] => (row === null ? [] : [row]))
  for (let at = 0; at < rows.length; at += MAX_INSERT_ROWS) {
    const some = rows.slice(at, at + MAX_INSERT_ROWS)
    await insertRows(tx, some, [...new Set(some.map(({ part }) => part))])
  }
  return to
}

async function advance(
  on: Connection,
  stream: string,
  from: LogPosition,
  to: LogPosition,
  movedUntil: Date,
): Promise<void> {
  if (!(await advancePosition(on, stream, { from, to, movedUntil })))
    throw new PositionError('another process moved entries of the intake log')
}

/**
 * Where to go on. A log that is not the one of the position is moved from its beginning: rather twice than never.
 * @throws PositionError while that is not certain
 */
async function findPosition(app: App, log: IntakeLog, doubt: Doubt): Promise<LogPosition> {
  const stored = await selectPosition(app.db, log.name)
  const state = await log.state()
  if (stored !== null) {
    try {
      await checkPosition(log, stored, state)
      doubt.end()
      return stored
    } catch (error) {
      if (!(error instanceof PositionError) || !doubt.isOld()) throw error
      app.log.error({ stream: log.name }, `${error.message}; all that it holds is moved`)
    }
  }
  const position = { created: state.created, sequence: 0, messageId: null }
  await resetPosition(app.db, log.name, position)
  doubt.end()
  return position
}

/** @throws PositionError when the log was made again, or lost messages that were moved: new ones have their numbers then */
async function checkPosition(log: IntakeLog, position: LogPosition, state: LogState): Promise<void> {
  if (state.created !== position.created) throw new PositionError('the intake log was created again')
  if (state.lastSequence < position.sequence) throw new PositionError('the intake log lost messages')
  if (position.messageId === null) return
  const found = await log.message(position.sequence)
  if (found !== null && found.id !== position.messageId)
    throw new PositionError('the intake log lost messages, and others have their numbers')
}

export type LogBacklog = {
  readonly messages: number
  readonly bytes: number
  /** Age of the oldest message that is not moved; 0 without one. */
  readonly oldestAgeMs: number
}

/** The messages that wait in the log. While the database is away, messages of the last half minute count that were moved. */
export async function readLogBacklog({ db, clock }: App, log: IntakeLog): Promise<LogBacklog> {
  const known = selectPosition(db, log.name).catch(() => null)
  const [state, position] = await Promise.all([
    log.state(),
    Promise.race([known, delay(DATABASE_WAIT_MS, null, { ref: false })]),
  ])
  const moved = Math.max(state.firstSequence - 1, position?.created === state.created ? position.sequence : 0)
  const held = state.lastSequence - state.firstSequence + 1
  const messages = Math.max(0, state.lastSequence - moved)
  const oldest = messages === 0 ? null : await log.message(moved + 1)
  return {
    messages,
    bytes: held <= 0 ? 0 : Math.round((state.bytes * messages) / held),
    oldestAgeMs: oldest === null ? 0 : Math.max(0, clock.now().getTime() - oldest.storedAtMs),
  }
}
