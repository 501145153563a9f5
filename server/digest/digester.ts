import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../context/app.ts'
import { commitBatches, prepareBatches, type DigestFigures } from './digest.ts'
import { OutcomeSums } from '../outcomes/outcomes.ts'
import { createProjectFactsReader, type ProjectFactsReader } from './project-facts.ts'
import { requireDiskSpace, DiskNearlyFullError } from '../spool/admission.ts'
import { claimShards, MAX_ATTEMPTS, type SpoolBatch, type SpoolReader } from '../spool/read.ts'
import { quarantineBatch, SpoolFencedError } from '../spool/settle.ts'
import { isDatabaseAway } from '../storage/pool.ts'

/** Rows and bytes of one transaction: about a thousand events, a few dozen milliseconds of each half. */
const BATCH = { maxRows: 200, maxBytes: 2_500_000 }

export type Digester = {
  /** Sums since the start. */
  readonly figures: { entries: number; events: number; duplicates: number; quarantined: number; batches: number }
  /** Digests the present contents of the spool; for tests and for a last round before stopping. */
  drain(): Promise<void>
  close(): Promise<void>
}

/** Opens the reading side of the spool; {@link runDigester} keeps it going. */
export async function createDigester(app: App): Promise<Digester & { run(signal: AbortSignal): Promise<void> }> {
  const reader = await claimShards(app)
  const facts = createProjectFactsReader(app)
  const figures = { entries: 0, events: 0, duplicates: 0, quarantined: 0, batches: 0 }
  const count = (done: DigestFigures): void => {
    figures.entries += done.entries
    figures.events += done.events
    figures.duplicates += done.duplicates
    figures.quarantined += done.quarantined
    figures.batches++
  }

  const digestShard = (shard: number, signal?: AbortSignal): Promise<void> =>
    drainShard(app, reader, facts, shard, count, signal)

  return {
    figures,
    async drain() {
      await Promise.all(reader.shards().map((shard) => digestShard(shard)))
    },
    async run(signal) {
      signal.addEventListener('abort', () => reader.endWaits(), { once: true })
      // Each shard goes at its own pace: a flood in one project must not hold up another.
      const active = new Map<number, Promise<void>>()
      /** Only these are read: a busy shard notifies fifty times a second, and each read costs a query. */
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
                tellInterruption(app, error, shard, pauseMs)
                // Refused when the process stops.
                await delay(pauseMs, undefined, { signal }).catch(() => {})
              },
            )
            .finally(() => active.delete(shard))
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

/** How long a row may be overlooked that was committed after one with a higher id. */
const FROM_START_EVERY_MS = 1_000
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 2_000

function tellInterruption(app: App, error: unknown, shard: number, pauseMs: number): void {
  const foreseen = isDatabaseAway(error) || error instanceof SpoolFencedError || error instanceof DiskNearlyFullError
  app.log[foreseen ? 'warn' : 'error'](
    { err: foreseen && error instanceof Error ? error.message : error, shard, retry_in_ms: pauseMs },
    'digestion was interrupted; the spool keeps what is undone',
  )
}

/**
 * Digests a shard until nothing is left. While one batch commits, the next is prepared and, under load, the one after
 * that is read: the processor and the database work at the same time. Batches commit one after the other.
 */
async function drainShard(
  app: App,
  reader: SpoolReader,
  facts: ProjectFactsReader,
  shard: number,
  count: (done: DigestFigures) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  let committing: Promise<void> = Promise.resolve()
  let ahead: Reading | null = null
  /** Rows that were read and are not settled yet. */
  const inHand = new Set<number>()
  let afterId = 0
  let fromStartMs = app.clock.monotonicMs()
  const read = (): Reading => {
    const nowMs = app.clock.monotonicMs()
    // A row that became visible behind the place we had read to must not wait for a pause in the traffic.
    if (nowMs - fromStartMs >= FROM_START_EVERY_MS) afterId = 0
    if (afterId === 0) fromStartMs = nowMs
    const saysAll = afterId === 0 && inHand.size === 0
    const batches = reader.read(shard, { ...BATCH, afterId, except: [...inHand] })
    // Awaited below; a failure before that must not count as unhandled.
    batches.catch(() => {})
    return { batches, saysAll }
  }
  try {
    while (signal?.aborted !== true) {
      const { batches: reading, saysAll } = ahead ?? read()
      ahead = null
      const batches = await reading
      const last = batches.at(-1)
      if (last === undefined) {
        await committing
        if (saysAll) return
        // Rows may have come meanwhile, or become visible behind the place we had read to.
        afterId = 0
        continue
      }
      for (const { id } of batches) inHand.add(id)
      afterId = last.id
      // Only where more waits for sure: in light traffic that would make many small batches of a few larger ones.
      if (isFull(batches)) ahead = read()
      await requireDiskSpace(app.config)
      const sound = await setAsidePoison(app, batches, count)
      const prepared = await prepareBatches(app, facts, sound)
      await committing
      committing = commitBatches(app, prepared).then((done) => {
        for (const { id } of batches) inHand.delete(id)
        count(done)
      })
      // Awaited above or below; a failure in between must not count as unhandled.
      committing.catch(() => {})
    }
  } finally {
    await ahead?.batches.catch(() => {})
    await committing
  }
}

/** `saysAll`: an empty result means that the shard is empty. */
type Reading = { readonly batches: Promise<SpoolBatch[]>; readonly saysAll: boolean }

/** Whether the read stopped at its limits. */
const isFull = (batches: readonly SpoolBatch[]): boolean =>
  batches.length === BATCH.maxRows || batches.reduce((bytes, batch) => bytes + batch.bytes, 0) >= BATCH.maxBytes

/** A row several workers died on is kept aside whole rather than tried for ever. */
async function setAsidePoison(
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
      'a spool row ended its workers again and again; it is in quarantine now',
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
      await quarantineBatch(tx, batch, 'Workers ended while they held it.', app.clock.now())
      await sums.write(tx)
    })
    count({ entries: batch.entries.length, events: 0, duplicates: 0, quarantined: batch.entries.length })
  }
  return sound
}
