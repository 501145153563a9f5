import { forgetJob } from '../../issues/search/write-index-terms.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../platform/context/app.ts'
import type { DigestFigures } from './digest.ts'
import { PartDrain } from './drain-part.ts'
import { FairTurns } from './fair-turns.ts'
import { JournalTakenOverError, ShardJournal } from '../../issues/recording/journal.ts'
import { createProjectFactsReader, type SymbolicateFor } from './project-facts.ts'
import { DiskNearlyFullError } from '../spool/admission.ts'
import type { HandOverEnd } from '../spool/hand-over.ts'
import { PartUse } from './row-preparer.ts'
import { claimShards, SpoolFencedError } from '../spool/read.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'

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
 * @param symbolicateFor null makes nothing readable
 */
export async function createDigester(
  app: App,
  handedOver: HandOverEnd | null = null,
  symbolicateFor: SymbolicateFor | null = null,
): Promise<Digester & { run(signal: AbortSignal): Promise<void> }> {
  const reader = await claimShards(app, handedOver)
  forgetJob()
  const facts = createProjectFactsReader(app, symbolicateFor)
  const figures = { entries: 0, events: 0, duplicates: 0, quarantined: 0, batches: 0 }
  const count = (done: DigestFigures): void => {
    figures.entries += done.entries
    figures.events += done.events
    figures.duplicates += done.duplicates
    figures.quarantined += done.quarantined
    // A batch of the canary alone is none to count.
    if (done.entries > 0) figures.batches++
  }

  const nowMs = (): number => app.clock.monotonicMs()
  const turns = new FairTurns()
  const heavyTurns = new FairTurns({ usedMs: nowMs })
  const states = new Map<number, { journal: ShardJournal; use: PartUse }>()
  const drainOf = (part: number, signal?: AbortSignal): PartDrain => {
    const state = states.get(part) ?? {
      journal: new ShardJournal(() => reader.shards(part), app.clock),
      use: new PartUse(nowMs),
    }
    states.set(part, state)
    return new PartDrain({ app, reader, facts, turns, heavyTurns, part, ...state, count, signal })
  }

  return {
    figures,
    async drain() {
      reader.checkTable()
      // Also after an error every part comes to its end: a second call must not find rows in the hands of the first.
      const done = await Promise.allSettled(reader.parts().map((part) => drainOf(part).run()))
      for (const one of done) if (one.status === 'rejected') throw one.reason
    },
    async run(signal) {
      signal.addEventListener('abort', () => reader.endWaits(), { once: true })
      const active = new Map<number, { drain: PartDrain; work: Promise<void> }>()
      /**
       * Parts to read. Others are not read, because each read costs a query and a busy part notifies fifty times a
       * second.
       */
      const due = new Set<number>(reader.parts())
      const pauses = new Map<number, number>()
      while (!signal.aborted) {
        for (const part of reader.parts()) {
          if (active.has(part) || !due.delete(part)) continue
          const drain = drainOf(part, signal)
          const work = drain
            .run()
            .then(
              () => void pauses.delete(part),
              async (error: unknown) => {
                const pauseMs = Math.min(MAX_PAUSE_MS, (pauses.get(part) ?? 0) * 2 + FIRST_PAUSE_MS)
                pauses.set(part, pauseMs)
                logInterruption(app, error, part, pauseMs)
                // Rejects when the process stops.
                await delay(pauseMs, undefined, { signal }).catch(() => {})
              },
            )
            .finally(() => {
              active.delete(part)
              // It became due again after its last read.
              if (due.has(part)) reader.endWaits()
            })
          active.set(part, { drain, work })
        }
        for (const part of await reader.wait()) {
          due.add(part)
          active.get(part)?.drain.due()
        }
      }
      await Promise.all([...active.values()].map(({ work }) => work))
    },
    async close() {
      facts.close()
      await reader.close()
    },
  }
}

const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 2_000

function logInterruption(app: App, error: unknown, part: number, pauseMs: number): void {
  const isExpected =
    isDatabaseAway(error) ||
    error instanceof SpoolFencedError ||
    error instanceof JournalTakenOverError ||
    error instanceof DiskNearlyFullError
  app.log[isExpected ? 'warn' : 'error'](
    { err: isExpected && error instanceof Error ? error.message : error, part, retry_in_ms: pauseMs },
    'digestion was interrupted; its requests stay in the spool and are retried',
  )
}
