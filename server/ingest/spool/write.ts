import type { App } from '../../platform/context/app.ts'
import { errorText, rateLimited, unavailable } from '../../platform/kernel/errors.ts'
import type { ReservedConnection } from '../../platform/storage/database.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import {
  type AdmissionLimits,
  type Disk,
  MAX_BACKLOG_BYTES,
  type Owner,
  watchAdmission,
  watchSpool,
} from './admission.ts'
import { packEntries, spoolPart, type SpoolEntry } from './entry.ts'
import type { NewFileRow, SpoolFile } from './spool-file.ts'
import type { CommittedRow, HandOver, Place } from './hand-over.ts'
import { readBacklog } from './project-backlog.ts'
import { type IntakeLog, type LogRow, NotStoredError } from './intake-log.ts'
import {
  type Backlog,
  demandDurability,
  insertRows,
  keepInsertPlans,
  MAX_INSERT_ROWS,
  type NewRow,
} from './spool.queries.ts'

/** Maximum entries and bytes of one row; a larger single entry gets its own row. */
const MAX_ROW_ENTRIES = 500
const MAX_ROW_BYTES = 4 * 1024 * 1024
/** Concurrent commits: one is sent while the other waits for the disk. */
const MAX_FLUSHES = 2
/** Minimum number of waiting entries for a second flush: small commits cost more than they save. */
const SECOND_FLUSH_ENTRIES = 64
/** From this many entries per window on the service is busy. Then commits keep a distance, unless many entries wait. */
const BUSY_ENTRIES = 150
const BUSY_WINDOW_MS = 100
const BUSY_DISTANCE_MS = 2
const MANY_ENTRIES = 128
/**
 * After this time the connection is given up. The result of its commit is unknown, so its entries are not acknowledged.
 */
const FLUSH_TIMEOUT_MS = 10_000
/** Minimum time between two notifications of a part: busy readers need none, others wait this much longer. */
const NOTIFY_EVERY_MS = 20

export type SpoolLimits = AdmissionLimits & {
  /** Maximum entries and bytes that wait in memory for their commit. */
  readonly maxWaitingEntries: number
  readonly maxWaitingBytes: number
}

const DEFAULT_LIMITS: Omit<SpoolLimits, 'maxBacklogEntries'> = {
  maxWaitingEntries: 10_000,
  maxWaitingBytes: 64 * 1024 * 1024,
  maxBacklogBytes: MAX_BACKLOG_BYTES,
}

/** An entry of a log message: its fields, estimated. */
const ENTRY_OVERHEAD_BYTES = 512
/** A log is full before its server refuses: several processes write, and the state is a second old. */
const FULL_LOG_SHARE = 0.95

/**
 * After its memory was full the spool accepts entries below this share again; otherwise it would refuse every second
 * request.
 */
const REOPEN_SHARE = 0.75

/**
 * Whether an append can succeed; `full`: overload, `disk`: the disk, or the log, is full, `down`: the database, or the log,
 * is unavailable.
 */
export type SpoolReadiness = 'open' | 'full' | 'disk' | 'down'

export type Spool = {
  /**
   * Stores the entry; resolves only after the commit that holds it is on disk.
   * @param orgId whose share of a log it uses
   * @throws AppError `rate_limited` when too many entries wait, `unavailable` when the database cannot store it
   */
  append(entry: SpoolEntry, orgId?: string): Promise<void>
  /** To be checked before a body is read. @param owner of the request; without one, whether anything is accepted */
  readiness(owner?: Owner): SpoolReadiness
  /** Entries that wait for their commit. */
  waiting(): { entries: number; bytes: number }
  /** Reads the backlog from the database. */
  backlog(): Promise<Backlog>
  /** Requests that the file took and rows that were moved out of it, since the start; null without a file. */
  fileFigures(): SpoolFile['figures'] | null
  /** The volume of the embedded database, as read last; null for another database. */
  disk(): Disk | null
  /** Waits for pending appends, then releases the connections. Later appends are rejected. */
  close(): Promise<void>
}

type Waiting = { entry: SpoolEntry; orgId: string | null; resolve: () => void; reject: (error: unknown) => void }

/**
 * The writing side of the spool: appends of many requests share one commit. A flush starts immediately when none is under
 * way, so an idle service answers after one commit. Under load commits become larger and keep a distance of a few
 * milliseconds: half as many commits cost half the processor time.
 * @param handOver passes committed rows to the digest thread of this process; null when it has none
 * @param log takes the rows instead of the database; the mover brings them there
 * @param file takes the rows of a commit that all have a place in a digest thread
 */
export function createSpool(
  app: App,
  given: Partial<SpoolLimits> = {},
  handOver: HandOver | null = null,
  log: IntakeLog | null = null,
  file: SpoolFile | null = null,
): Spool {
  const limits = { ...DEFAULT_LIMITS, maxBacklogEntries: app.config.maxBacklogEntries, ...given }
  let queue: Waiting[] = []
  let waitingBytes = 0
  let flushes = 0
  let immediate: NodeJS.Immediate | undefined
  let pacing: NodeJS.Timeout | undefined
  let busy = false
  let windowMs = 0
  let windowEntries = 0
  let lastFlushMs = 0
  let down = false
  let closed = false
  /** By part. */
  const lastNotifiedMs = new Map<number, number>()
  let memoryFull = false
  const idle: ReservedConnection[] = []
  const drained: (() => void)[] = []

  const schedule = (): void => {
    if (queue.length === 0 || flushes >= MAX_FLUSHES) return
    if (flushes > 0 && queue.length < SECOND_FLUSH_ENTRIES) return
    if (busy && queue.length < MANY_ENTRIES) {
      const waitMs = lastFlushMs + BUSY_DISTANCE_MS - performance.now()
      if (waitMs > 0) {
        pacing ??= setTimeout(start, waitMs)
        return
      }
    }
    // After the current socket reads, so that all their requests share the commit.
    immediate ??= setImmediate(start)
  }

  const start = (): void => {
    clearTimeout(pacing)
    clearImmediate(immediate)
    pacing = undefined
    immediate = undefined
    if (queue.length > 0 && flushes < MAX_FLUSHES) void flush()
  }

  const flush = async (): Promise<void> => {
    const taken = queue
    queue = []
    const { batch, rest } = splitOff(taken)
    queue = rest
    for (const { entry } of batch) waitingBytes -= entry.body.length
    flushes++
    lastFlushMs = performance.now()
    windowEntries += batch.length
    if (lastFlushMs - windowMs >= BUSY_WINDOW_MS) {
      // A pause makes the window longer, so an idle service does not count as busy.
      busy = windowEntries / (lastFlushMs - windowMs) >= BUSY_ENTRIES / BUSY_WINDOW_MS
      windowMs = lastFlushMs
      windowEntries = 0
    }
    let sent = false
    try {
      const rows = toRows(batch, log?.maxRowBytes() ?? Number.POSITIVE_INFINITY)
      const inFile = appendToFile(rows)
      const session = log === null && inFile === null ? (idle.pop() ?? (await takeSession())) : null
      sent = true
      const handOn = await (inFile ?? append(rows, session))
      if (down) app.log.info('writing to the spool works again')
      down = false
      for (const { resolve } of batch) resolve()
      // After the answers: what is on disk is accepted, whatever happens to the hand-over.
      handOn()
    } catch (error) {
      // Logged once per outage, not once per request.
      if (!down && log !== null) app.log.warn({ err: errorText(error) }, 'the intake log cannot be written')
      else if (!down && isDatabaseAway(error))
        app.log.warn({ err: errorText(error) }, 'the spool cannot be written: the database is unavailable')
      else if (!down) app.log.error({ err: error }, 'the spool cannot be written')
      down = true
      const refusal = away(error)
      if (sent && !isAnswer(error) && !(error instanceof NotStoredError)) uncertain.add(refusal)
      for (const { reject } of batch) reject(refusal)
      // Entries queued meanwhile would fail in the same way.
      const unsent = away(undefined)
      for (const { reject } of queue.splice(0)) reject(unsent)
      waitingBytes = 0
    } finally {
      flushes--
      if (flushes === 0 && queue.length === 0) for (const resolve of drained.splice(0)) resolve()
      schedule()
    }
  }

  const partsToNotify = (rows: readonly NewRow[]): number[] => {
    const parts = new Set(
      rows.flatMap(({ part, projectNumber }) => (handOver?.takes(projectNumber) === true ? [] : [part])),
    )
    const due = [...parts].filter((part) => lastFlushMs - (lastNotifiedMs.get(part) ?? -Infinity) >= NOTIFY_EVERY_MS)
    for (const part of due) lastNotifiedMs.set(part, lastFlushMs)
    return due
  }

  /** @returns what hands the rows to the digest threads; null when the file does not take them */
  const appendToFile = (rows: readonly Row[]): Promise<() => void> | null => {
    if (file === null || handOver === null) return null
    const held: { readonly row: HandedRow; readonly place: Place }[] = []
    const release = (): null => {
      for (const { place } of held) place.release()
      return null
    }
    for (const { bytes, ...row } of rows) {
      const place = bytes === null ? null : handOver.hold(row.projectNumber, bytes.byteLength)
      if (bytes === null || place === null) return release()
      held.push({ row: { ...row, bytes }, place })
    }
    const appended = file.append(held.map(({ row }) => fileRow(row)))
    if (appended === null) return release()
    return appended.then(
      (ids) => () => {
        if (ids === null) return void release()
        const isPassed = ids.map((id, index) => {
          const one = held[index]
          return one !== undefined && tryTo(() => one.place.pass(one.row, id))
        })
        file.move(ids.filter((_, index) => isPassed[index] !== true))
      },
      (error: unknown) => {
        release()
        throw error
      },
    )
  }

  /** To the log, or to the table. @returns as {@link appendToFile} */
  const append = async (rows: readonly Row[], session: ReservedConnection | null): Promise<() => void> => {
    if (session === null) {
      await log?.append(rows)
      return () => {}
    }
    const ids = await write(session, rows, partsToNotify(rows))
    return () => {
      for (const [index, row] of rows.entries()) tryTo(() => handOver?.pass(row, ids[index] ?? null))
    }
  }

  /** Hands over a row, which is stored. */
  const tryTo = <T>(pass: () => T): T | null => {
    try {
      return pass()
    } catch (error) {
      app.log.error({ err: error }, 'a row cannot be handed over; digestion reads it from the spool')
      return null
    }
  }

  const write = async (
    session: ReservedConnection,
    rows: readonly NewRow[],
    notify: readonly number[],
  ): Promise<(number | null)[]> => {
    let timer: NodeJS.Timeout | undefined
    try {
      const ids = await Promise.race([
        insertRows(session, rows, notify),
        new Promise<never>((_resolve, reject) => {
          timer = setTimeout(() => reject(new Error('the commit took too long')), FLUSH_TIMEOUT_MS)
        }),
      ])
      if (closed) session.release()
      else idle.push(session)
      return ids
    } catch (error) {
      session.release(true)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  const takeSession = async (): Promise<ReservedConnection> => {
    const session = await app.db.reserve({
      onLost: () => {
        // A session in use fails its statement, which releases it.
        const at = idle.indexOf(session)
        if (at === -1) return
        idle.splice(at, 1)
        session.release(true)
      },
    })
    try {
      await demandDurability(session)
      await keepInsertPlans(session)
    } catch (error) {
      session.release(true)
      throw error
    }
    return session
  }

  const admission = watchSpool(app, limits)
  const logAdmission =
    log === null
      ? null
      : watchAdmission(
          { maxBacklogEntries: Number.POSITIVE_INFINITY, maxBacklogBytes: log.maxBytes * FULL_LOG_SHARE },
          {
            backlog: async () => ({ entries: 0, bytes: (await log.state()).bytes }),
            backlogs: () => log.backlogs(),
            disk: () => Promise.resolve(null),
          },
        )

  const readiness = (owner?: Owner): SpoolReadiness => {
    // One attempt at a time checks whether the database is back; all other requests are rejected immediately.
    if (closed || (down && flushes > 0)) return 'down'
    const fill = Math.max(queue.length / limits.maxWaitingEntries, waitingBytes / limits.maxWaitingBytes)
    memoryFull = fill >= (memoryFull ? REOPEN_SHARE : 1)
    if (memoryFull) return 'full'
    if (logAdmission !== null) {
      // Requests for which the spool has no room wait in the log; its shares apply all the same.
      if (logAdmission.state(null) !== 'open') return 'disk'
      const isOver = owner !== undefined && (logAdmission.isOverShare(owner) || admission.isOverShare(owner))
      return isOver ? 'full' : 'open'
    }
    const state = admission.state(owner ?? null)
    return state === 'busy' ? 'full' : state
  }

  return {
    append(entry, orgId) {
      const state = readiness()
      if (state === 'down') return Promise.reject(away(undefined))
      if (state === 'disk')
        return Promise.reject(unavailable(`The ${log === null ? 'disk' : 'intake log'} of the service is full.`, 30))
      if (state === 'full') return Promise.reject(rateLimited('The service is busy. Try again in a few seconds.', 5))
      return new Promise((resolve, reject) => {
        queue.push({ entry, orgId: orgId ?? null, resolve, reject })
        waitingBytes += entry.body.length
        schedule()
      })
    },
    readiness,
    waiting: () => ({ entries: queue.length, bytes: waitingBytes }),
    backlog: () => readBacklog(app),
    fileFigures: () => file?.figures ?? null,
    disk: () => admission.disk(),
    async close() {
      closed = true
      admission.close()
      logAdmission?.close()
      if (flushes > 0 || queue.length > 0) {
        await new Promise<void>((resolve) => {
          drained.push(resolve)
        })
      }
      for (const session of idle.splice(0)) session.release()
    },
  }
}

/** Refusals of appends whose commit was under way when it failed. */
const uncertain = new WeakSet<object>()

/**
 * Whether an entry may be stored although its append failed with this error, because the result of the commit is
 * unknown.
 */
export const mayBeStored = (error: object): boolean => uncertain.has(error)

/** An error from PostgreSQL means that nothing was written; after a broken connection the result is unknown. */
const isAnswer = (error: unknown): boolean => error instanceof Error && 'severity' in error

const away = (cause: unknown) =>
  unavailable('The event cannot be stored at the moment. Try again in a few seconds.', 5, cause)

/** Splits off the entries of the next commit. */
function splitOff(waiting: Waiting[]): { batch: Waiting[]; rest: Waiting[] } {
  let bytes = 0
  let end = 0
  const projects = new Set<number>()
  for (const { entry } of waiting) {
    if (end === MAX_ROW_ENTRIES * 2) break
    bytes += entry.body.length
    if (end > 0 && bytes > MAX_ROW_BYTES) break
    projects.add(entry.projectNumber)
    if (projects.size > MAX_INSERT_ROWS) break
    end++
  }
  return end === waiting.length
    ? { batch: waiting, rest: [] }
    : { batch: waiting.slice(0, end), rest: waiting.slice(end) }
}

/** A row to be written and perhaps handed over. */
type Row = LogRow & CommittedRow & { readonly projectId: string }
type HandedRow = Row & { readonly bytes: ArrayBuffer }

/** Without the other views of its memory, which the file would keep until the row is settled. */
const fileRow = ({
  projectNumber,
  projectId,
  orgId,
  receivedAtMs,
  entryCount,
  bodyBytes,
  bytes,
}: HandedRow): NewFileRow => ({
  projectNumber,
  projectId,
  orgId,
  receivedAtMs,
  entryCount,
  bodyBytes,
  bytes: Buffer.from(bytes),
})

/** Groups entries by project, in their order. @param maxBytes of a row of several entries */
function toRows(batch: readonly Waiting[], maxBytes: number): Row[] {
  const rows: Row[] = []
  const open = new Map<number, { bytes: number; readonly waiting: Waiting[] }>()
  for (const one of batch) {
    const { projectNumber, body } = one.entry
    const bytes = body.length + ENTRY_OVERHEAD_BYTES
    const row = open.get(projectNumber)
    if (row !== undefined && row.waiting.length < MAX_ROW_ENTRIES && row.bytes + bytes <= maxBytes) {
      row.waiting.push(one)
      row.bytes += bytes
      continue
    }
    if (row !== undefined) rows.push(rowOf(projectNumber, row.waiting))
    open.set(projectNumber, { bytes, waiting: [one] })
  }
  for (const [projectNumber, { waiting }] of open) rows.push(rowOf(projectNumber, waiting))
  return rows
}

function rowOf(projectNumber: number, waiting: readonly Waiting[]): Row {
  const entries = waiting.map(({ entry }) => entry)
  const part = spoolPart(projectNumber)
  const packed = packEntries(entries)
  let bodyBytes = 0
  let receivedAtMs = Number.POSITIVE_INFINITY
  for (const entry of entries) {
    bodyBytes += entry.body.length
    receivedAtMs = Math.min(receivedAtMs, entry.receivedAtMs)
  }
  const receivedAt = new Date(receivedAtMs)
  const orgId = waiting[0]?.orgId ?? null
  const [first] = entries
  const projectId = first?.projectId ?? ''
  const common = {
    part,
    projectNumber,
    projectId,
    orgId,
    receivedAtMs,
    receivedAt,
    entryCount: entries.length,
    bodyBytes,
  }
  // A large body is not copied.
  if (first !== undefined && bodyBytes > MAX_ROW_BYTES)
    return { ...common, entries: packed, body: first.body, bytes: null }
  const memory = Buffer.allocUnsafeSlow(bodyBytes + packed.length)
  let at = 0
  for (const { body } of entries) at += body.copy(memory, at)
  packed.copy(memory, at)
  return { ...common, entries: memory.subarray(at), body: memory.subarray(0, at), bytes: memory.buffer }
}
