import type { App } from '../../platform/context/app.ts'
import type { ReservedConnection } from '../../platform/storage/database.ts'
import { SHARD_NUMBERS, type SpoolEntry, unpackEntries } from './entry.ts'
import { type HandOverEnd, openHandedOver } from './hand-over.ts'
import { isSuspect } from './lane-rows.ts'
import { type RowLimits, ShardRows } from './shard-rows.ts'
import {
  countAttempt,
  listenForRows,
  ping,
  type RowKey,
  type RowRange,
  selectLanes,
  selectRows,
  type StoredRow,
  tryLockShard,
  unlockShard,
} from './spool.queries.ts'

/**
 * Rows with more attempts go to quarantine ({@link quarantineBatch}). The number is high because a worker may end for
 * other reasons: repeated kill -9 must not quarantine valid rows.
 */
export const MAX_ATTEMPTS = 20
/** Poll interval: a NOTIFY may be lost with its connection. */
const POLL_MS = 250
/** After a notification rows of the same shard may follow without one; twice the time of the writer, for delays. */
const UNNOTIFIED_MS = 40
/** Minimum time between two times that a shard is due because of rows handed over: a batch costs a dozen statements. */
const HANDED_EVERY_MS = 20
/** Interval between attempts to lock shards that another process holds, or that were freed when a connection broke. */
const CLAIM_EVERY_MS = 1_000

/** One row of the spool: entries of one project that were committed together. */
export type SpoolBatch = RowKey & {
  readonly shard: number
  readonly receivedAt: Date
  /** Number of readers that started with this row as the oldest of its project; see {@link MAX_ATTEMPTS}. */
  readonly attempts: number
  /** Bytes of all bodies, as stored. */
  readonly bytes: number
  readonly entries: readonly SpoolEntry[]
}

export type SpoolReader = {
  /** Shards that this reader has locked; changes when its connection breaks. */
  shards(): readonly number[]
  /**
   * Returns rows that wait, the oldest of each project first, and none twice; empty when all are in the caller's hands or
   * over their project's limit. Rows that were handed over come without a query. A row that may have ended workers comes
   * alone, see {@link countAttempt}.
   */
  read(shard: number, limits: RowLimits): Promise<SpoolBatch[]>
  /** To be called before a row that comes alone is processed. @returns its attempts, this one included */
  countAttempt(row: SpoolBatch): Promise<number>
  /** Forgets rows that the caller settled; their bodies must not be read afterwards. */
  settled(shard: number, ids: readonly number[]): void
  /** After a failure: rows that were read and not settled are read again. */
  giveBack(shard: number): void
  /** The next reads look into the table, even when nothing announced new rows. */
  checkTable(): void
  /**
   * Resolves with the shards that may have new rows: after a notification, when rows were handed over, after
   * {@link POLL_MS}, or when the reader closes.
   */
  wait(): Promise<ReadonlySet<number>>
  /**
   * Ends all pending {@link wait}s, perhaps with no shards, for a caller that stops. With Promise.race instead, each wait
   * would leave a reaction on the other promise.
   */
  endWaits(): void
  close(): Promise<void>
}

/**
 * The reading side of the spool. Each shard has one reader at a time, by an advisory lock on a dedicated connection;
 * a reader that lost its connection without noticing is stopped by {@link settleBatches}, which finds its rows gone.
 * @param from where the intake of the same process hands over rows; null when there is none
 */
export async function claimShards(app: App, from: HandOverEnd | null = null): Promise<SpoolReader> {
  let session: ReservedConnection | null = null
  let closed = false
  const held = new Set<number>()
  /** Locked shards that were not read yet: the oldest rows of their projects may have ended the previous reader's process. */
  const unread = new Set<number>()
  const due = new Set<number>()
  const waiting = new Set<() => void>()
  /** Timers of shards that become due because of rows handed over, and when they last did. */
  const announcing = new Map<number, NodeJS.Timeout>()
  const announcedMs = new Map<number, number>()

  const rowsOf = SHARD_NUMBERS.map(
    (shard) =>
      new ShardRows({
        lanes: (except) => selectLanes(app.db, shard, except),
        select: (range) => select(shard, range),
        isHandedOver: from !== null,
        onFreed: (project, bytes) => handed?.free(project, bytes),
        nowMs: () => app.clock.monotonicMs(),
      }),
  )
  const select = async (shard: number, range: Omit<RowRange, 'shard'>): Promise<StoredRow[]> => {
    const rows = await selectRows(app.db, { ...range, shard })
    if (!unread.has(shard)) return rows
    // Only the oldest row of a project counts an attempt. The faulty row may be another, but that row becomes the oldest
    // in time; counting all rows would quarantine valid ones. A suspect row counts when it is processed.
    const counted: StoredRow[] = []
    const seen = new Set<number>()
    for (const row of rows) {
      const counts = !seen.has(row.projectNumber) && !isSuspect(row)
      seen.add(row.projectNumber)
      if (counts) await countAttempt(app.db, shard, row)
      counted.push(counts ? { ...row, attempts: row.attempts + 1 } : row)
    }
    unread.delete(shard)
    return counted
  }
  const shardRows = (shard: number): ShardRows => {
    const rows = rowsOf[shard]
    if (rows === undefined) throw new Error(`no shard ${shard}`)
    return rows
  }
  const handed =
    from === null
      ? null
      : openHandedOver(from, (message) => {
          const { shard } = message
          shardRows(shard).take(message)
          // Its bytes are freed, and the reader that has the shard now finds the row in the table.
          if (!held.has(shard)) shardRows(shard).forgetHanded()
          else announce(shard)
        })

  const announce = (shard: number): void => {
    if (announcing.has(shard) || closed) return
    const now = (): void => {
      announcing.delete(shard)
      announcedMs.set(shard, app.clock.monotonicMs())
      markDue([shard])
    }
    const waitMs = (announcedMs.get(shard) ?? Number.NEGATIVE_INFINITY) + HANDED_EVERY_MS - app.clock.monotonicMs()
    if (waitMs <= 0) now()
    else announcing.set(shard, setTimeout(now, waitMs).unref())
  }

  const endWaits = (): void => {
    for (const wake of waiting) wake()
  }

  const markDue = (shards: Iterable<number>): void => {
    for (const shard of shards) due.add(shard)
    endWaits()
  }

  /** For shards with rows that perhaps were not handed over. */
  const markTableDue = (shards: readonly number[], forMs?: number): void => {
    for (const shard of shards) shardRows(shard).checkTable(forMs)
    markDue(shards)
  }

  const takeDue = (): ReadonlySet<number> => {
    const taken = new Set(due)
    due.clear()
    return taken
  }

  const release = (shard: number): void => {
    held.delete(shard)
    handed?.take(shard, false)
    shardRows(shard).forgetHanded()
  }

  const lose = (broken: ReservedConnection): void => {
    if (session !== broken) return
    session = null
    for (const shard of held) release(shard)
    unread.clear()
    broken.release(true)
  }

  const claim = async (): Promise<void> => {
    if (session === null) {
      const next = await app.db.reserve({
        onLost: () => lose(next),
        onNotification: (payload) => markTableDue(shardsIn(payload), UNNOTIFIED_MS),
      })
      session = next
      await listenForRows(next)
    }
    const mine = session
    for (const shard of SHARD_NUMBERS) {
      if (held.has(shard) || session !== mine || closed) continue
      if (await tryLockShard(mine, shard)) {
        held.add(shard)
        unread.add(shard)
        handed?.take(shard, true)
        markTableDue([shard])
      }
    }
  }

  const tryClaim = async (): Promise<void> => {
    try {
      await claim()
    } catch (error) {
      app.log.warn(
        { err: error instanceof Error ? error.message : String(error) },
        'spool shards cannot be locked; retrying in 1 s',
      )
      if (session !== null) lose(session)
    }
  }

  let claiming = tryClaim()
  await claiming
  const timer = setInterval(() => {
    // Also when all shards are locked: this notices a connection that broke silently.
    claiming = claiming.then(async () => {
      if (closed) return
      if (session !== null && held.size === SHARD_NUMBERS.length) await keepAlive(session, lose)
      else await tryClaim()
    })
  }, CLAIM_EVERY_MS)
  timer.unref()
  // Notifications of one shard must not starve the others.
  const polling = setInterval(() => markTableDue(SHARD_NUMBERS), POLL_MS)
  polling.unref()

  return {
    shards: () => [...held],
    async read(shard, limits) {
      const rows = await shardRows(shard).read(limits)
      return rows.map((row): SpoolBatch => ({
        shard,
        projectNumber: row.projectNumber,
        id: row.id,
        receivedAt: row.receivedAt,
        attempts: row.attempts,
        bytes: row.body.length,
        entries: unpackEntries(row.entries, row.body),
      }))
    },
    async countAttempt(row) {
      await countAttempt(app.db, row.shard, row)
      return row.attempts + 1
    },
    settled: (shard, ids) => shardRows(shard).settled(ids),
    giveBack: (shard) => shardRows(shard).giveBack(),
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
      for (const timer of announcing.values()) clearTimeout(timer)
      markDue(SHARD_NUMBERS)
      await claiming
      handed?.close()
      const mine = session
      session = null
      if (mine === null) return
      // Explicitly, because PostgreSQL notices the end of a connection late and the next reader waits for the locks.
      try {
        for (const shard of held) await unlockShard(mine, shard)
      } catch {
        // The end of the connection releases the locks.
      }
      held.clear()
      mine.release(true)
    },
  }
}

/** The shards in a notification; all when it names none. */
function shardsIn(payload: string | undefined): readonly number[] {
  const named = SHARD_NUMBERS.filter((shard) => payload?.split(',').includes(String(shard)))
  return named.length === 0 ? SHARD_NUMBERS : named
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
