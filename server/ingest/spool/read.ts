import { errorText } from '../../platform/kernel/errors.ts'
import type { App } from '../../platform/context/app.ts'
import type { ReservedConnection, Statements } from '../../platform/storage/database.ts'
import {
  PART_NUMBERS,
  SHARD_NUMBERS,
  projectShard,
  shardsInPart,
  type SpoolEntry,
  spoolPart,
  unpackEntries,
  packEntries,
} from './entry.ts'
import { isInFile } from './file-records.ts'
import { type HandOverEnd, openHandedOver } from './hand-over.ts'
import { type RowLimits, PartRows, isSuspect } from './part-rows.ts'
import {
  countAttempt,
  listenForRows,
  ping,
  type RowKey,
  type RowRange,
  selectLanes,
  selectRows,
  type StoredRow,
  tryLockShards,
  unlockShards,
  deleteRows,
  insertQuarantined,
  insertSettled,
  type QuarantineCounted,
} from './spool.queries.ts'

/**
 * Rows with more attempts go to quarantine ({@link quarantineBatch}). The number is high because a worker may end for
 * other reasons: repeated kill -9 must not quarantine valid rows.
 */
export const MAX_ATTEMPTS = 20
/** Poll interval: a NOTIFY may be lost with its connection. */
const POLL_MS = 250
/** Every part is due this often, also without rows: its journal may have what an ended process left. */
const ALL_DUE_EVERY_MS = 2_000
/** After a notification rows of the same part may follow without one; twice the time of the writer, for delays. */
const UNNOTIFIED_MS = 40
/** Minimum time between two times that a part is due because of rows handed over: a batch costs a dozen statements. */
const HANDED_EVERY_MS = 20
/** Interval between attempts to lock shards that another process holds, or that were freed when a connection broke. */
const CLAIM_EVERY_MS = 1_000

/** One row of the spool: entries of one project that were committed together. */
export type SpoolBatch = RowKey & {
  readonly part: number
  readonly receivedAt: Date
  /** Number of readers that started with this row as the oldest of its project; see {@link MAX_ATTEMPTS}. */
  readonly attempts: number
  /** Bytes of all bodies, as stored. */
  readonly bytes: number
  readonly entries: readonly SpoolEntry[]
}

export type SpoolReader = {
  /** Shards that this reader has locked, in all or in a part; changes when its connection breaks. */
  shards(part?: number): readonly number[]
  /** Their parts. */
  parts(): readonly number[]
  /**
   * Returns rows that wait, the oldest of each project first, and none twice; empty when all are in the caller's hands or
   * over their project's limit. Rows that were handed over come without a query. A row that may have ended workers comes
   * alone, see {@link countAttempt}.
   */
  read(part: number, limits: RowLimits): Promise<SpoolBatch[]>
  /** To be called before a row that comes alone is processed. @returns its attempts, this one included */
  countAttempt(row: SpoolBatch): Promise<number>
  /** Forgets rows that the caller settled; their bodies must not be read afterwards. */
  settled(part: number, ids: readonly number[]): void
  /** After a failure: rows that were read and not settled are read again. */
  giveBack(part: number): void
  /** The next reads look into the table, even when nothing announced new rows. */
  checkTable(): void
  /**
   * Resolves with the parts that may have new rows: after a notification, when rows were handed over, when a poll found
   * some, after {@link ALL_DUE_EVERY_MS}, or when the reader closes.
   */
  wait(): Promise<ReadonlySet<number>>
  /**
   * Ends all pending {@link wait}s, perhaps with no parts, for a caller that stops. With Promise.race instead, each wait
   * would leave a reaction on the other promise.
   */
  endWaits(): void
  close(): Promise<void>
}

/**
 * The reading side of the spool. Each shard has one reader at a time, by an advisory lock on a dedicated connection;
 * a reader that lost its connection without noticing is stopped by {@link settleBatches}, which finds its rows gone.
 * @param from where the intake of the same process hands over rows; null when there is none
 * @param wanted shards that it locks when no other reader has them; other threads of the process read the others
 */
export async function claimShards(
  app: App,
  from: HandOverEnd | null = null,
  wanted: readonly number[] = SHARD_NUMBERS,
): Promise<SpoolReader> {
  let session: ReservedConnection | null = null
  let closed = false
  const held = new Set<number>()
  /** Locked shards that were not read yet: the oldest rows of their projects may have ended the previous reader's process. */
  const unread = new Set<number>()
  const due = new Set<number>()
  const waiting = new Set<() => void>()
  /** Timers of parts that become due because of rows handed over, and when they last did. */
  const announcing = new Map<number, NodeJS.Timeout>()
  const announcedMs = new Map<number, number>()

  const rowsOf = PART_NUMBERS.map(
    (part) =>
      new PartRows({
        lanes: async (except) => {
          const found = await selectLanes(app.db, { firstPart: part, lastPart: part, shards: [...held], except })
          return found.map(({ projectNumber }) => projectNumber)
        },
        select: (range) => select(part, range),
        isHandedOver: from !== null,
        onFreed: (project, bytes) => handed?.free(project, bytes),
        onSettled: (ids) => handed?.settled(ids),
        onLost: (ids) => handed?.lost(ids),
        nowMs: () => app.clock.monotonicMs(),
      }),
  )
  const select = async (part: number, range: Omit<RowRange, 'part'>): Promise<StoredRow[]> => {
    const rows = await selectRows(app.db, { ...range, part })
    if (unread.size === 0) return rows
    // Only the oldest row of a project counts an attempt. The faulty row may be another, but that row becomes the oldest
    // in time; counting all rows would quarantine valid ones. A suspect row counts when it is processed.
    const counted: StoredRow[] = []
    const seen = new Set<number>()
    for (const row of rows) {
      const counts = unread.has(projectShard(row.projectNumber)) && !seen.has(row.projectNumber) && !isSuspect(row)
      seen.add(row.projectNumber)
      if (counts) await countAttempt(app.db, part, row)
      counted.push(counts ? { ...row, attempts: row.attempts + 1 } : row)
    }
    for (const shard of shardsInPart(part)) unread.delete(shard)
    return counted
  }
  const partRows = (part: number): PartRows => {
    const rows = rowsOf[part]
    if (rows === undefined) throw new Error(`no part ${part}`)
    return rows
  }
  const handed =
    from === null
      ? null
      : openHandedOver(from, (message) => {
          const { projectNumber, row } = message
          const part = spoolPart(projectNumber)
          if (held.has(projectShard(projectNumber))) {
            partRows(part).take(message)
            announce(part)
          } else if (row !== null) {
            // The reader that has the shard now finds the row in the table.
            handed?.free(projectNumber, row.bytes.byteLength)
            if (isInFile(row.id)) handed?.lost([row.id])
          }
        })

  const announce = (part: number): void => {
    if (announcing.has(part) || closed) return
    const now = (): void => {
      announcing.delete(part)
      announcedMs.set(part, app.clock.monotonicMs())
      markDue([part])
    }
    const waitMs = (announcedMs.get(part) ?? Number.NEGATIVE_INFINITY) + HANDED_EVERY_MS - app.clock.monotonicMs()
    if (waitMs <= 0) now()
    else announcing.set(part, setTimeout(now, waitMs).unref())
  }

  const endWaits = (): void => {
    for (const wake of waiting) wake()
  }

  const markDue = (parts: Iterable<number>): void => {
    for (const part of parts) due.add(part)
    endWaits()
  }

  /** For parts with rows that perhaps were not handed over. */
  const markTableDue = (parts: Iterable<number>, forMs?: number): void => {
    for (const part of parts) partRows(part).checkTable(forMs)
    markDue(parts)
  }

  const takeDue = (): ReadonlySet<number> => {
    const taken = new Set(due)
    due.clear()
    return taken
  }

  const lose = (broken: ReservedConnection): void => {
    if (session !== broken) return
    session = null
    for (const shard of held) handed?.take(shard, false)
    held.clear()
    unread.clear()
    for (const rows of rowsOf) rows.forgetLanes()
    broken.release(true)
  }

  const claim = async (): Promise<void> => {
    if (session === null) {
      const next = await app.db.reserve({
        onLost: () => lose(next),
        onNotification: (payload) => markTableDue(partsIn(payload), UNNOTIFIED_MS),
      })
      session = next
      await listenForRows(next)
    }
    const mine = session
    const locked = await tryLockShards(
      mine,
      wanted.filter((shard) => !held.has(shard)),
    )
    if (session !== mine || closed) return
    if (locked.length === 0) return
    for (const shard of locked) {
      held.add(shard)
      unread.add(shard)
      handed?.take(shard, true)
    }
    markTableDue(new Set(locked.map(spoolPart)))
  }

  const tryClaim = async (): Promise<void> => {
    try {
      await claim()
    } catch (error) {
      app.log.warn({ err: errorText(error) }, 'spool shards cannot be locked; retrying in 1 s')
      if (session !== null) lose(session)
    }
  }

  let claiming = tryClaim()
  await claiming
  const timer = setInterval(() => {
    // Also when all shards are locked: this notices a connection that broke silently.
    claiming = claiming.then(async () => {
      if (closed) return
      if (session !== null && held.size === wanted.length) await keepAlive(session, lose)
      else await tryClaim()
    })
  }, CLAIM_EVERY_MS)
  timer.unref()
  /** One statement for all parts. */
  const poll = async (): Promise<void> => {
    const [firstPart = 0] = PART_NUMBERS
    const except = rowsOf.flatMap((rows) => rows.inHand())
    const range = { firstPart, lastPart: PART_NUMBERS.at(-1) ?? firstPart, shards: [...held], except }
    try {
      const found = await selectLanes(app.db, range)
      if (found.length > 0) markTableDue(new Set(found.map(({ part }) => part)))
    } catch {
      // The reads of the parts find the error, and report it.
      markTableDue(PART_NUMBERS)
    }
  }
  let isPolling = false
  const polling = setInterval(() => {
    if (isPolling || held.size === 0) return
    isPolling = true
    void poll().finally(() => {
      isPolling = false
    })
  }, POLL_MS)
  polling.unref()
  const allDue = setInterval(() => markDue(PART_NUMBERS), ALL_DUE_EVERY_MS)
  allDue.unref()

  const shards = (part?: number): readonly number[] =>
    (part === undefined ? SHARD_NUMBERS : shardsInPart(part)).filter((shard) => held.has(shard))

  return {
    shards,
    parts: () => PART_NUMBERS.filter((part) => shards(part).length > 0),
    async read(part, limits) {
      const rows = await partRows(part).read(limits)
      return rows.map((row): SpoolBatch => ({
        part,
        projectNumber: row.projectNumber,
        id: row.id,
        receivedAt: row.receivedAt,
        attempts: row.attempts,
        bytes: row.body.length,
        entries: unpackEntries(row.entries, row.body),
      }))
    },
    async countAttempt(row) {
      await countAttempt(app.db, row.part, row)
      return row.attempts + 1
    },
    settled: (part, ids) => partRows(part).settled(ids),
    giveBack: (part) => partRows(part).giveBack(),
    checkTable() {
      for (const rows of rowsOf) rows.checkTable()
    },
    wait() {
      if (due.size > 0 || closed) return Promise.resolve(takeDue())
      return new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake)
          resolve(takeDue())
        }
        waiting.add(wake)
      })
    },
    endWaits,
    async close() {
      closed = true
      clearInterval(timer)
      clearInterval(polling)
      clearInterval(allDue)
      for (const timer of announcing.values()) clearTimeout(timer)
      markDue(PART_NUMBERS)
      await claiming
      handed?.close()
      const mine = session
      session = null
      if (mine === null) return
      // Explicitly, because PostgreSQL notices the end of a connection late and the next reader waits for the locks.
      try {
        await unlockShards(mine)
      } catch {
        // The end of the connection releases the locks.
      }
      held.clear()
      mine.release(true)
    },
  }
}

/** The parts that a notification names; all when it names none. */
function partsIn(payload: string | undefined): readonly number[] {
  const named = PART_NUMBERS.filter((part) => payload?.split(',').includes(String(part)))
  return named.length === 0 ? PART_NUMBERS : named
}

/** Treats a session that does not answer within 5 s as lost. */
async function keepAlive(session: ReservedConnection, lose: (session: ReservedConnection) => void): Promise<void> {
  let timeout: NodeJS.Timeout | undefined
  try {
    await Promise.race([
      ping(session),
      new Promise<never>((_resolve, reject) => {
        timeout = setTimeout(() => reject(new Error('no answer')), 5_000)
      }),
    ])
  } catch {
    lose(session)
  } finally {
    clearTimeout(timeout)
  }
}

/** Another reader settled these rows, because this one had lost its shards. Roll back and read again. */
export class SpoolFencedError extends Error {}

/**
 * Takes rows off the spool, in the transaction that records their outcomes: deletes those of the table, notes those of the file.
 * @throws SpoolFencedError when a row was settled already; the transaction must then roll back
 */
export async function settleBatches(on: Statements, part: number, rows: readonly RowKey[]): Promise<void> {
  const inFile = rows.filter(({ id }) => isInFile(id))
  const inTable = rows.filter(({ id }) => !isInFile(id))
  let settled = 0
  if (inTable.length > 0) settled += await deleteRows(on, part, inTable)
  if (inFile.length > 0) {
    const ids = inFile.map(({ id }) => id)
    settled += (await insertSettled(on, ids)).size
  }
  if (settled !== rows.length)
    throw new SpoolFencedError(
      `part ${part}: ${rows.length - settled} of ${rows.length} spool rows were settled by another reader`,
    )
}

/**
 * Copies an entry that cannot be digested to quarantine, unchanged. The caller settles its row.
 * @param reason one sentence for the operator, without user data
 * @param counted categories and quantities that the caller counts as dropped
 */
export async function quarantineEntry(
  on: Statements,
  entry: SpoolEntry,
  reason: string,
  attempts: number,
  now: Date,
  counted: QuarantineCounted,
): Promise<void> {
  await insertQuarantined(on, {
    projectId: entry.projectId,
    receivedAt: new Date(entry.receivedAtMs),
    quarantinedAt: now,
    reason,
    attempts,
    entry: packEntries([entry]),
    body: entry.body,
    counted,
  })
}

/** Copies every entry of a row to quarantine and settles the row. @param counted as which the caller counts each */
export async function quarantineBatch(
  on: Statements,
  batch: SpoolBatch,
  reason: string,
  now: Date,
  counted: QuarantineCounted,
): Promise<void> {
  for (const entry of batch.entries) await quarantineEntry(on, entry, reason, batch.attempts, now, counted)
  await settleBatches(on, batch.part, [batch])
}
