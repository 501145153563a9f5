import type { App } from '../context/app.ts'
import type { ReservedConnection } from '../storage/database.ts'
import { SHARD_NUMBERS, type SpoolEntry, unpackEntries } from './entry.ts'
import { countAttempt, listenForRows, ping, selectRows, tryLockShard, unlockShard } from './spool.queries.ts'

/**
 * Rows whose worker went away this often while they were the oldest are for {@link quarantineBatch}. Many, because a
 * worker may stop for other reasons: repeated kill -9 must not quarantine valid rows.
 */
export const MAX_ATTEMPTS = 20
/** Rows a worker already died on are read alone, so that their neighbours do not share their fate. */
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
  /** How often a worker went away while it may have held this row; see {@link MAX_ATTEMPTS}. */
  readonly attempts: number
  /** Of all bodies, as stored. */
  readonly bytes: number
  readonly entries: readonly SpoolEntry[]
}

export type ReadLimits = {
  readonly maxRows: number
  /** Of bodies, as stored; a single larger row is still given. */
  readonly maxBytes: number
  /** Only rows behind this id: for reading on while earlier ones are still being digested. Default 0. */
  readonly afterId?: number
  /** Rows to skip: those being digested when reading restarts before they are settled. Default none. */
  readonly except?: readonly number[]
}

export type SpoolReader = {
  /** Shards this reader holds at the moment; changes when connections break and come back. */
  shards(): readonly number[]
  /**
   * Oldest rows first. Ids may become visible slightly out of order: after a read with `afterId` gave nothing, read
   * once without it.
   */
  read(shard: number, limits: ReadLimits): Promise<SpoolBatch[]>
  /** Resolves with the shards that may hold rows: after a notification, after {@link POLL_MS}, or when the reader closes. */
  wait(): Promise<ReadonlySet<number>>
  /**
   * Ends each {@link wait} of now, with nothing if there is nothing: for who stops. A race against a promise of their own
   * would keep a reaction on that one for each wait, as long as it lives.
   */
  stir(): void
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
  /** Shards not read yet: their oldest row may have killed the previous reader. */
  const fresh = new Set<number>()
  const news = new Set<number>()
  const waiting = new Set<() => void>()

  const stir = (): void => {
    for (const wake of waiting) wake()
  }

  const tellNews = (shards: Iterable<number>): void => {
    for (const shard of shards) news.add(shard)
    stir()
  }

  const takeNews = (): ReadonlySet<number> => {
    const taken = new Set(news)
    news.clear()
    return taken
  }

  const lose = (broken: ReservedConnection): void => {
    if (session !== broken) return
    session = null
    held.clear()
    fresh.clear()
    broken.release(true)
  }

  const claim = async (): Promise<void> => {
    if (session === null) {
      const next = await app.db.reserve({
        onLost: () => lose(next),
        onNotification: (payload) => tellNews(shardsTold(payload)),
      })
      session = next
      await listenForRows(next)
    }
    const mine = session
    for (const shard of SHARD_NUMBERS) {
      if (held.has(shard) || session !== mine || closed) continue
      if (await tryLockShard(mine, shard)) {
        held.add(shard)
        fresh.add(shard)
        tellNews([shard])
      }
    }
  }

  const tryClaim = async (): Promise<void> => {
    try {
      await claim()
    } catch (error) {
      app.log.warn({ err: error instanceof Error ? error.message : String(error) }, 'spool shards cannot be claimed')
      if (session !== null) lose(session)
    }
  }

  let claiming = tryClaim()
  await claiming
  const timer = setInterval(() => {
    // Also asked with every shard in hand: a connection that died silently is noticed here.
    claiming = claiming.then(async () => {
      if (closed) return
      if (session !== null && held.size === SHARD_NUMBERS.length) await keepAlive(session, lose)
      else await tryClaim()
    })
  }, CLAIM_EVERY_MS)
  timer.unref()
  // Notifications of one shard must not starve the others.
  const polling = setInterval(() => tellNews(SHARD_NUMBERS), POLL_MS)
  polling.unref()

  return {
    shards: () => [...held],
    async read(shard, { maxRows, maxBytes, afterId = 0, except = [] }) {
      let rows = await selectRows(app.db, { shard, afterId, except, maxRows, maxBytes })
      if (fresh.has(shard)) {
        // Only the oldest: what ended the reader before may be in any row, but every other row gets its turn at the
        // head, and leaves it when it is sound. Counting all of them would condemn rows that were merely near.
        const [oldest, ...others] = rows
        if (oldest !== undefined) {
          await countAttempt(app.db, shard, oldest.id)
          rows = [{ ...oldest, attempts: oldest.attempts + 1 }, ...others]
        }
        fresh.delete(shard)
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
      if (news.size > 0 || closed) return Promise.resolve(takeNews())
      return new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake)
          resolve(takeNews())
        }
        waiting.add(wake)
      })
    },
    stir,
    async close() {
      closed = true
      clearInterval(timer)
      clearInterval(polling)
      tellNews(SHARD_NUMBERS)
      await claiming
      const mine = session
      session = null
      if (mine === null) return
      // Given back by hand: the end of a connection takes PostgreSQL a moment to notice, and the next reader waits.
      try {
        for (const shard of held) await unlockShard(mine, shard)
      } catch {
        // Then the end of the connection does it.
      }
      held.clear()
      mine.release(true)
    },
  }
}

/** Shards a message names; all of them where it names none. */
function shardsTold(payload: string | undefined): readonly number[] {
  const told = SHARD_NUMBERS.filter((shard) => payload?.split(',').includes(String(shard)))
  return told.length === 0 ? SHARD_NUMBERS : told
}

/** A session that does not answer within 5 s has lost its locks, or will. */
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
