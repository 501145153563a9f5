import type { App } from '../context/app.ts'
import { rateLimited, unavailable } from '../kernel/errors.ts'
import type { ReservedConnection } from '../storage/database.ts'
import { isDatabaseAway } from '../storage/pool.ts'
import { type AdmissionLimits, diskOf, type Disk, watchAdmission } from './admission.ts'
import { packEntries, shardOf, type SpoolEntry } from './entry.ts'
import {
  type Backlog,
  demandDurability,
  insertRows,
  keepInsertPlans,
  type NewRow,
  selectBacklog,
} from './spool.queries.ts'

/** Maximum entries and bytes of one row; a larger single entry gets its own row. */
const MAX_ROW_ENTRIES = 500
const MAX_ROW_BYTES = 4 * 1024 * 1024
/** Concurrent commits: one can be written while the other waits for the disk. */
const MAX_FLUSHES = 2
/** A second flush starts only for this many waiting entries: small commits cost more than they save. */
const SECOND_FLUSH_ENTRIES = 64
/** From this many entries in a tenth of a second on the service is busy: then commits keep a distance, unless many wait. */
const BUSY_ENTRIES = 150
const BUSY_WINDOW_MS = 100
const BUSY_DISTANCE_MS = 2
const MANY_ENTRIES = 128
/** After this the connection counts as dead; the result of the commit is unknown, so none of it is acknowledged. */
const FLUSH_TIMEOUT_MS = 10_000
/** Readers that are busy need no waking; those that are not wait this much longer at most. */
const NOTIFY_EVERY_MS = 20

export type SpoolLimits = AdmissionLimits & {
  /** Entries and bytes that may wait in memory for their commit. */
  readonly mostWaitingEntries: number
  readonly mostWaitingBytes: number
}

const DEFAULT_LIMITS: Omit<SpoolLimits, 'mostBacklogEntries'> = {
  mostWaitingEntries: 10_000,
  mostWaitingBytes: 64 * 1024 * 1024,
  mostBacklogBytes: 4 * 1024 * 1024 * 1024,
}

/** Once memory is full nothing is taken until it is down to this share: or every second request would be refused. */
const REOPEN_SHARE = 0.75

/** Whether an append has a chance: `full` is overload, `disk` a volume without room, `down` a database away. */
export type SpoolReadiness = 'open' | 'full' | 'disk' | 'down'

export type Spool = {
  /**
   * Stores the entry; resolves only after the commit that holds it is on disk.
   * @throws AppError `rate_limited` when too much waits already, `unavailable` when the database cannot store it
   */
  append(entry: SpoolEntry): Promise<void>
  /** Asked before a body is read, so that a refusal costs nothing. */
  readiness(): SpoolReadiness
  /** What waits in memory. */
  waiting(): { entries: number; bytes: number }
  /** What digestion has still to do; asks the database. */
  backlog(): Promise<Backlog>
  /** Of the volume the embedded database writes to, as last asked; null when it is elsewhere. */
  disk(): Disk | null
  /** Waits for pending appends, then releases the connections. Later appends are rejected. */
  close(): Promise<void>
}

type Waiting = { entry: SpoolEntry; resolve: () => void; reject: (error: unknown) => void }

/**
 * The writing side of the spool: appends of many requests share one commit. A flush starts at once when none is on
 * its way, so an idle service answers after a single commit; under load commits grow instead of queueing, and wait a
 * few milliseconds for each other: half the commits cost half the processor time.
 */
export function createSpool(app: App, given: Partial<SpoolLimits> = {}): Spool {
  const limits = { ...DEFAULT_LIMITS, mostBacklogEntries: app.config.mostBacklogEntries, ...given }
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
  /** By shard. */
  const lastToldMs = new Map<number, number>()
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
    // After the current round of socket reads: all requests they hold share the commit.
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
      // A pause makes the window longer, which is what an idle service looks like.
      busy = windowEntries / (lastFlushMs - windowMs) >= BUSY_ENTRIES / BUSY_WINDOW_MS
      windowMs = lastFlushMs
      windowEntries = 0
    }
    let sent = false
    try {
      const rows = toRows(batch)
      const tell = shardsToTell(rows)
      const session = idle.pop() ?? (await takeSession())
      sent = true
      await write(session, rows, tell)
      if (down) app.log.info('the spool can be written again')
      down = false
      for (const { resolve } of batch) resolve()
    } catch (error) {
      // Logged once per outage, not once per request.
      if (!down && isDatabaseAway(error))
        app.log.warn({ err: messageOf(error) }, 'the spool cannot be written, the database is away')
      else if (!down) app.log.error({ err: error }, 'the spool cannot be written')
      down = true
      const refusal = away(error)
      if (sent && !isAnswer(error)) uncertain.add(refusal)
      for (const { reject } of batch) reject(refusal)
      // What queued up meanwhile would only wait for the same answer.
      const unsent = away(undefined)
      for (const { reject } of queue.splice(0)) reject(unsent)
      waitingBytes = 0
    } finally {
      flushes--
      if (flushes === 0 && queue.length === 0) for (const tell of drained.splice(0)) tell()
      schedule()
    }
  }

  const shardsToTell = (rows: readonly NewRow[]): number[] => {
    const shards = new Set(rows.map(({ shard }) => shard))
    const due = [...shards].filter((shard) => lastFlushMs - (lastToldMs.get(shard) ?? -Infinity) >= NOTIFY_EVERY_MS)
    for (const shard of due) lastToldMs.set(shard, lastFlushMs)
    return due
  }

  const write = async (
    session: ReservedConnection,
    rows: readonly NewRow[],
    tell: readonly number[],
  ): Promise<void> => {
    let timer: NodeJS.Timeout | undefined
    try {
      await Promise.race([
        insertRows(session, rows, tell),
        new Promise<never>((_resolve, reject) => {
          timer = setTimeout(() => reject(new Error('the commit took too long')), FLUSH_TIMEOUT_MS)
        }),
      ])
      if (closed) session.release()
      else idle.push(session)
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
        // One that is in use fails its statement, which releases it.
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

  const { config } = app
  const admission = watchAdmission(limits, {
    backlog: () => selectBacklog(app.db, app.clock.now()),
    // Only where the embedded database is at home; another one's disk is its operator's to watch.
    disk: () => (config.databaseUrl === null ? diskOf(config.dataDir) : Promise.resolve(null)),
  })

  const readiness = (): SpoolReadiness => {
    // One attempt at a time checks whether the database is back; all other requests are rejected immediately.
    if (closed || (down && flushes > 0)) return 'down'
    const fill = Math.max(queue.length / limits.mostWaitingEntries, waitingBytes / limits.mostWaitingBytes)
    memoryFull = fill >= (memoryFull ? REOPEN_SHARE : 1)
    if (memoryFull) return 'full'
    const state = admission.state()
    return state === 'busy' ? 'full' : state
  }

  return {
    append(entry) {
      const state = readiness()
      if (state === 'down') return Promise.reject(away(undefined))
      if (state === 'disk') return Promise.reject(unavailable('The service has no room left to store anything.', 30))
      if (state === 'full') return Promise.reject(rateLimited('The service is busy. Try again in a few seconds.', 5))
      return new Promise((resolve, reject) => {
        queue.push({ entry, resolve, reject })
        waitingBytes += entry.body.length
        schedule()
      })
    },
    readiness,
    waiting: () => ({ entries: queue.length, bytes: waitingBytes }),
    backlog: () => selectBacklog(app.db, app.clock.now()),
    disk: () => admission.disk(),
    async close() {
      closed = true
      admission.close()
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

/** Whether the entries of an append that failed with this error may be stored nevertheless: the result of the commit is unknown. */
export const mayBeStored = (error: object): boolean => uncertain.has(error)

/** An error from PostgreSQL means that nothing was written; after a broken connection the result is unknown. */
const isAnswer = (error: unknown): boolean => error instanceof Error && 'severity' in error

const away = (cause: unknown) =>
  unavailable('The event cannot be stored at the moment. Try again in a few seconds.', 5, cause)

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** As much of the queue as fits one commit. */
function splitOff(waiting: Waiting[]): { batch: Waiting[]; rest: Waiting[] } {
  let bytes = 0
  let end = 0
  while (end < waiting.length && end < MAX_ROW_ENTRIES * 2) {
    bytes += waiting[end]?.entry.body.length ?? 0
    if (end > 0 && bytes > MAX_ROW_BYTES) break
    end++
  }
  return end === waiting.length
    ? { batch: waiting, rest: [] }
    : { batch: waiting.slice(0, end), rest: waiting.slice(end) }
}

/** Entries by shard, in the order they came. */
function toRows(batch: readonly Waiting[]): NewRow[] {
  const rows: NewRow[] = []
  const open = new Map<number, SpoolEntry[]>()
  const finish = (shard: number, entries: SpoolEntry[]): void => {
    rows.push({
      shard,
      receivedAt: new Date(
        entries.reduce((oldest, entry) => Math.min(oldest, entry.receivedAtMs), Number.POSITIVE_INFINITY),
      ),
      entryCount: entries.length,
      entries: packEntries(entries),
      body:
        entries.length === 1 && entries[0] !== undefined
          ? entries[0].body
          : Buffer.concat(entries.map((entry) => entry.body)),
    })
  }
  for (const { entry } of batch) {
    const shard = shardOf(entry.projectNumber)
    const entries = open.get(shard)
    if (entries === undefined) open.set(shard, [entry])
    else if (entries.length < MAX_ROW_ENTRIES) entries.push(entry)
    else {
      finish(shard, entries)
      open.set(shard, [entry])
    }
  }
  for (const [shard, entries] of open) finish(shard, entries)
  return rows
}
