import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../context/app.ts'
import { commitBatches, prepareBatches, refusalsOf, type DigestFigures } from './digest.ts'
import { foldJournal, JournalTakenOverError, ShardJournal } from '../issue-recording/journal.ts'
import { OutcomeSums } from '../outcomes/outcomes.ts'
import { createProjectFactsReader, type ProjectFactsReader } from './project-facts.ts'
import { requireDiskSpace, DiskNearlyFullError } from '../spool/admission.ts'
import type { HandOverEnd } from '../spool/hand-over.ts'
import { claimShards, MAX_ATTEMPTS, type SpoolBatch, type SpoolReader } from '../spool/read.ts'
import { quarantineBatch, SpoolFencedError } from '../spool/settle.ts'
import { isDatabaseAway } from '../storage/pool.ts'

/**
 * Maximum rows and bytes of one transaction: about a thousand events, a few dozen milliseconds to prepare and to
 * commit.
 */
const BATCH = { maxRows: 200, maxBytes: 2_500_000 }

export type Digester = {
  /** Sums since the start. */
  readonly figures: { entries: number; events: number; duplicates: number; quarantined: number; batches: number }
  /** Digests the present contents of the spool; for tests and before stopping. */
  drain(): Promise<void>
  close(): Promise<void>
}

/**
 * Creates a digester; `run` digests until its signal aborts.
 * @param handedOver where the intake of the same process hands over what it wrote to the spool
 */
export async function createDigester(
  app: App,
  handedOver: HandOverEnd | null = null,
): Promise<Digester & { run(signal: AbortSignal): Promise<void> }> {
  const reader = await claimShards(app, handedOver)
  const facts = createProjectFactsReader(app)
  const figures = { entries: 0, events: 0, duplicates: 0, quarantined: 0, batches: 0 }
  const count = (done: DigestFigures): void => {
    figures.entries += done.entries
    figures.events += done.events
    figures.duplicates += done.duplicates
    figures.quarantined += done.quarantined
    figures.batches++
  }

  const journals = new Map<number, ShardJournal>()
  const digestShard = (shard: number, signal?: AbortSignal): Promise<void> => {
    const journal = journals.get(shard) ?? new ShardJournal(shard, app.clock)
    journals.set(shard, journal)
    return drainShard(app, reader, facts, shard, journal, count, signal)
  }

  return {
    figures,
    async drain() {
      reader.checkTable()
      // Also after an error every shard comes to its end: a second call must not find rows in the hands of the first.
      const done = await Promise.allSettled(reader.shards().map((shard) => digestShard(shard)))
      for (const one of done) if (one.status === 'rejected') throw one.reason
    },
    async run(signal) {
      signal.addEventListener('abort', () => reader.endWaits(), { once: true })
      // Shards are independent, so that a flood in one project does not delay the others.
      const active = new Map<number, Promise<void>>()
      /**
       * Shards to read. Others are not read, because each read costs a query and a busy shard notifies fifty times a
       * second.
       */
      const due = new Set<number>(reader.shards())
      const pauses = new Map<number, number>()
      while (!signal.aborted) {
        for (const shard of reader.shards()) {
          if (active.has(shard) || !due.delete(shard)) continue
          const work = digestShard(shard, signal)
            .then(
              () => void pauses.delete(shard),
              async (error: unknown) => {
                const pauseMs = Math.min(MAX_PAUSE_MS, (pauses.get(shard) ?? 0) * 2 + FIRST_PAUSE_MS)
                pauses.set(shard, pauseMs)
                logInterruption(app, error, shard, pauseMs)
                // Rejects when the process stops.
                await delay(pauseMs, undefined, { signal }).catch(() => {})
              },
            )
            .finally(() => {
              active.delete(shard)
              // It became due again after its last read.
              if (due.has(shard)) reader.endWaits()
            })
          active.set(shard, work)
        }
        for (const shard of await reader.wait()) due.add(shard)
      }
      await Promise.all(active.values())
    },
    async close() {
      facts.close()
      await reader.close()
    },
  }
}

/**
 * Minimum time between two batches of a shard, unless rows wait for digestion. A batch costs some twenty statements, so
 * batches of a few events cost several times as much per event (measured at 500/s, with the reason in docs/performance.md).
 */
const BATCH_INTERVAL_MS = 60
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 2_000

function logInterruption(app: App, error: unknown, shard: number, pauseMs: number): void {
  const isExpected =
    isDatabaseAway(error) ||
    error instanceof SpoolFencedError ||
    error instanceof JournalTakenOverError ||
    error instanceof DiskNearlyFullError
  app.log[isExpected ? 'warn' : 'error'](
    { err: isExpected && error instanceof Error ? error.message : error, shard, retry_in_ms: pauseMs },
    'digestion was interrupted; its requests stay in the spool and are retried',
  )
}

/**
 * Digests a shard until it is empty. While one batch commits, the next is prepared and, under load, the one after that is
 * read, so that processor and database work at the same time. Batches commit one after the other.
 */
async function drainShard(
  app: App,
  reader: SpoolReader,
  facts: ProjectFactsReader,
  shard: number,
  journal: ShardJournal,
  count: (done: DigestFigures) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  let committing: Promise<void> = Promise.resolve()
  let ahead: Reading | null = null
  /** Number of rows that were read and are not settled yet. */
  let inHand = 0
  let isDone = false
  const read = (): Reading => {
    const coversShard = inHand === 0
    const batches = reader.read(shard, BATCH)
    // Awaited below; a failure before that must not count as unhandled.
    batches.catch(() => {})
    return { batches, coversShard }
  }
  try {
    while (signal?.aborted !== true) {
      const { batches: reading, coversShard } = ahead ?? read()
      ahead = null
      const batches = await reading
      const startedMs = performance.now()
      if (batches.length === 0) {
        await committing
        await foldJournal(app, journal, refusalsOf(app))
        if (coversShard) {
          isDone = true
          return
        }
        // Rows may have been added meanwhile.
        continue
      }
      inHand += batches.length
      // Only when more rows certainly wait: in light traffic reading ahead would make many small batches.
      const isBehind = isFull(batches)
      if (isBehind) ahead = read()
      await requireDiskSpace(app.config)
      const sound = await quarantinePoison(app, batches, count)
      const prepared = await prepareBatches(app, facts, sound)
      await committing
      committing = commitBatches(app, prepared, isBehind, journal).then((done) => {
        reader.settled(
          shard,
          batches.map(({ id }) => id),
        )
        inHand -= batches.length
        count(done)
      })
      // Awaited above or below; a failure in between must not count as unhandled.
      committing.catch(() => {})
      if (!isBehind && signal !== undefined)
        await delay(startedMs + BATCH_INTERVAL_MS - performance.now(), undefined, { signal }).catch(() => {})
    }
    await committing
    await foldJournal(app, journal, refusalsOf(app))
    isDone = true
  } finally {
    await Promise.allSettled([ahead?.batches, committing])
    // After a failure, also of a read, or a stop.
    if (!isDone || inHand > 0 || ahead !== null) reader.giveBack(shard)
  }
}

/** `coversShard`: an empty result means that the shard is empty. */
type Reading = { readonly batches: Promise<SpoolBatch[]>; readonly coversShard: boolean }

/** Whether the read stopped at its limits. */
const isFull = (batches: readonly SpoolBatch[]): boolean =>
  batches.length === BATCH.maxRows || batches.reduce((bytes, batch) => bytes + batch.bytes, 0) >= BATCH.maxBytes

/** Quarantines rows that ended too many workers. @returns the others */
async function quarantinePoison(
  app: App,
  batches: readonly SpoolBatch[],
  count: (done: DigestFigures) => void,
): Promise<SpoolBatch[]> {
  const sound: SpoolBatch[] = []
  for (const batch of batches) {
    if (batch.attempts <= MAX_ATTEMPTS) {
      sound.push(batch)
      continue
    }
    app.log.error(
      { spool_row: batch.id, entries: batch.entries.length, attempts: batch.attempts },
      'a spool row ended its workers too often; its requests are in quarantine',
    )
    const sums = new OutcomeSums()
    for (const { projectId, keyId, receivedAtMs } of batch.entries) {
      const receivedAt = new Date(receivedAtMs)
      sums.add({
        projectId,
        keyId,
        receivedAt,
        category: 'default',
        outcome: 'dropped',
        reason: 'quarantine',
        quantity: 1,
      })
    }
    await app.tx(async (tx) => {
      await quarantineBatch(tx, batch, 'Workers ended while they processed it.', app.clock.now())
      await sums.write(tx)
    })
    count({ entries: batch.entries.length, events: 0, duplicates: 0, quarantined: batch.entries.length })
  }
  return sound
}
