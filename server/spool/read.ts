import type { App } from '../context/app.ts'
import type { ReservedConnection } from '../storage/database.ts'
import { SHARD_NUMBERS, type SpoolEntry, unpackEntries } from './entry.ts'
import { countAttempt, listenForRows, ping, selectRows, tryLockShard, unlockShard } from './spool.queries.ts'

/**
 * Rows with more attempts go to quarantine ({@link quarantineBatch}). The number is high because a worker may end for
 * other reasons: repeated kill -9 must not quarantine valid rows.
 */
export const MAX_ATTEMPTS = 20
/** Rows with more attempts are read alone, so that they do not affect other rows. */
const SUSPECT_ATTEMPTS = 2
/** Poll interval: a NOTIFY may be lost with its connection. */
const POLL_MS = 250
/** Interval between attempts to lock shards that another process holds, or that were freed when a connection broke. */
const CLAIM_EVERY_MS = 1_000

/** One row of the spool: entries of one shard that were committed together. */
export type SpoolBatch = {
  readonly shard: number
  readonly id: number
  readonly receivedAt: Date
  /** Number of readers that started with this row as the oldest; see {@link MAX_ATTEMPTS}. */
  readonly attempts: number
  /** Bytes of all bodies, as stored. */
  readonly bytes: number
  readonly entries: readonly SpoolEntry[]
}

export type ReadLimits = {
  readonly maxRows: number
  /** Bytes of bodies, as stored; the first row is returned even when it is larger. */
  readonly maxBytes: number
  /** Only rows after this id, to read ahead while earlier rows are being digested. Default 0. */
  readonly afterId?: number
  /** Rows to skip because they are being digested. Default none. */
  readonly except?: readonly number[]
}

export type SpoolReader = {
  /** Shards that this reader has locked; changes when its connection breaks. */
  shards(): readonly number[]
  /**
   * Reads rows, oldest first. Ids may become visible slightly out of order: when a read with `afterId` returns nothing,
   * read once without it.
   */
  read(shard: number, limits: ReadLimits): Promise<SpoolBatch[]>
  /**
   * Resolves with the shards that may have new rows: after a notification, after {@link POLL_MS}, or when the reader
   * closes.
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
 */
export async function claimShards(app: App): Promise<SpoolReader> {
  let session: ReservedConnection | null = null
  let closed = false
  const held = new Set<number>()
  /** Locked shards that were not read yet: their oldest row may have ended the previous reader's process. */
  const unread = new Set<number>()
  const due = new Set<number>()
  const waiting = new Set<() => void>()

  const endWaits = (): void => {
    for (const wake of waiting) wake()
  }

  const markDue = (shards: Iterable<number>): void => {
    for (const shard of shards) due.add(shard)
    endWaits()
  }

  const takeDue = (): ReadonlySet<number> => {
    const taken = new Set(due)
    due.clear()
    return taken
  }

  const lose = (broken: ReservedConnection): void => {
    if (session !== broken) return
    session = null
    held.clear()
    unread.clear()
    broken.release(true)
  }

  const claim = async (): Promise<void> => {
    if (session === null) {
      const next = await app.db.reserve({
        onLost: () => lose(next),
        onNotification: (payload) => markDue(shardsIn(payload)),
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
        markDue([shard])
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
  const polling = setInterval(() => markDue(SHARD_NUMBERS), POLL_MS)
  polling.unref()

  return {
    shards: () => [...held],
    async read(shard, { maxRows, maxBytes, afterId = 0, except = [] }) {
      let rows = await selectRows(app.db, { shard, afterId, except, maxRows, maxBytes })
      if (unread.has(shard)) {
        // Only the oldest row counts an attempt. The faulty row may be another, but that row becomes the oldest in time;
        // counting all rows would quarantine valid ones.
        const [oldest, ...others] = rows
        if (oldest !== undefined) {
          await countAttempt(app.db, shard, oldest.id)
          rows = [{ ...oldest, attempts: oldest.attempts + 1 }, ...others]
        }
        unread.delete(shard)
      }
      const suspect = rows.findIndex((row) => row.attempts > SUSPECT_ATTEMPTS)
      if (suspect !== -1) rows = rows.slice(0, Math.max(1, suspect))
      return rows.map((row): SpoolBatch => ({
        shard,
        id: row.id,
        receivedAt: row.receivedAt,
        attempts: row.attempts,
        bytes: row.body.length,
        entries: unpackEntries(row.entries, row.body),
      }))
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
      markDue(SHARD_NUMBERS)
      await claiming
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
