import { forgetJob } from '../../issues/search/write-index-terms.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../platform/context/app.ts'
import { type DigestFigures, commitBatches, buildSumRefusals, UNREADABLE } from './digest.ts'
import { FairTurns } from './fair-turns.ts'
import { JournalTakenOverError, ShardJournal, foldJournal } from '../../issues/recording/journal.ts'
import { createProjectFactsReader, type SymbolicateFor, type ProjectFactsReader } from './project-facts.ts'
import { DiskNearlyFullError, requireDiskSpace } from '../spool/admission.ts'
import type { HandOverEnd } from '../spool/hand-over.ts'
import { PartUse, type BatchLimits, type PreparedRow, RowPreparer, MAX_SHARED_COST_MS } from './row-preparer.ts'
import {
  claimShards,
  SpoolFencedError,
  MAX_ATTEMPTS,
  type SpoolBatch,
  type SpoolReader,
  quarantineBatch,
} from '../spool/read.ts'
import { isDatabaseAway } from '../../platform/storage/pool.ts'
import { OutcomeSums } from '../outcomes/outcomes.ts'
import { isSuspect } from '../spool/part-rows.ts'
import type { Pace } from '../../telemetry/logs/entries.queries.ts'

export type DigestSums = DigestFigures & { readonly batches: number }
export const NO_SUMS: DigestSums = { entries: 0, events: 0, duplicates: 0, quarantined: 0, batches: 0 }
export const addSums = (a: DigestSums, b: DigestSums): DigestSums => ({
  entries: a.entries + b.entries,
  events: a.events + b.events,
  duplicates: a.duplicates + b.duplicates,
  quarantined: a.quarantined + b.quarantined,
  batches: a.batches + b.batches,
})

export type Digester = {
  /** Sums since the start. */
  figures(): DigestSums
  /** Shards that it has locked. */
  shards(): readonly number[]
  /** Digests the present contents of the spool; for tests and before stopping. */
  drain(): Promise<void>
  close(): Promise<void>
}

/**
 * Creates a digester; `run` digests until its signal aborts.
 * @param handedOver where the intake of the same process hands over what it wrote to the spool
 * @param symbolicateFor null makes nothing readable
 * @param shards which it may digest; default all
 */
export async function createDigester(
  app: App,
  handedOver: HandOverEnd | null = null,
  symbolicateFor: SymbolicateFor | null = null,
  shards?: readonly number[],
): Promise<Digester & { run(signal: AbortSignal): Promise<void> }> {
  const reader = await claimShards(app, handedOver, shards)
  forgetJob()
  const facts = createProjectFactsReader(app, symbolicateFor)
  let sums = NO_SUMS
  const count = (done: DigestFigures): void => {
    // A batch of the canary alone is none to count.
    sums = addSums(sums, { ...done, batches: done.entries > 0 ? 1 : 0 })
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
    figures: () => sums,
    shards: () => reader.shards(),
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

/**
 * Maximum rows and bytes of one transaction: about a thousand events, a few dozen milliseconds to prepare and to
 * commit. Expensive rows reach the limit of time first.
 */
const BATCH: BatchLimits = { maxRows: 200, maxBytes: 2_500_000, maxMs: 250, maxCostMs: Infinity }
/** Where several projects use the part: short, because one waits for the commit of another. */
const SHARED_BATCH: BatchLimits = { ...BATCH, maxMs: 100, maxCostMs: MAX_SHARED_COST_MS }
/** Maximum time that a prepared row waits for rows of other projects. */
const SHARED_WAIT_MS = 30
/** Bytes that a part has in hand: three batches of one project, which takes at most half. */
const MAX_IN_HAND = 6 * BATCH.maxBytes
/**
 * Minimum time between two batches of a part, unless rows wait for digestion. A batch costs some twenty statements, so
 * batches of a few events cost several times as much per event (measured at 500/s, with the reason in docs/performance.md).
 */
const BATCH_INTERVAL_MS = 60

type PartWork = {
  readonly app: App
  readonly reader: SpoolReader
  readonly facts: ProjectFactsReader
  readonly turns: FairTurns
  /** In which heavy rows of all parts are committed, one at a time. */
  readonly heavyTurns: FairTurns
  readonly part: number
  readonly journal: ShardJournal
  readonly use: PartUse
  readonly count: (done: DigestFigures) => void
  readonly signal: AbortSignal | undefined
}

/** Digests a part until it is empty. */
class PartDrain {
  readonly #work: PartWork
  readonly #preparer: RowPreparer
  /** Whether a read may return rows. */
  #isDue = true
  #committing: Promise<void> | null = null
  /** Commits of heavy rows. */
  readonly #heavy = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | null = null
  #wake: (() => void) | null = null

  constructor(work: PartWork) {
    this.#work = work
    this.#preparer = new RowPreparer(work.app, work.facts, work.turns, work.use, () => this.#wake?.())
  }

  /** The part may have new rows. */
  due(): void {
    this.#isDue = true
    this.#wake?.()
  }

  /**
   * While one batch commits, the next is prepared and further rows are read, so that processor and database work at the
   * same time. Batches commit one after the other, heavy rows beside them.
   */
  async run(): Promise<void> {
    const { app, reader, part, journal, signal } = this.#work
    const wake = (): void => this.#wake?.()
    signal?.addEventListener('abort', wake)
    let isDone = false
    try {
      for (;;) {
        const startedMs = performance.now()
        const suspect = await this.#gather()
        if (this.#isStopping()) break
        if (suspect !== null) {
          await foldJournal(app, journal, buildSumRefusals(app))
          await this.#digestAlone(suspect)
          continue
        }
        const rows = this.#preparer.take(this.#limits())
        if (rows.length === 0) {
          await foldJournal(app, journal, buildSumRefusals(app))
          // Rows may have been added meanwhile.
          if (this.#isDue) continue
          isDone = true
          return
        }
        const isBehind = this.#preparer.ready + this.#preparer.preparing > 0 || this.#isDue
        this.#committing = this.#commit(rows, isBehind)
        const restMs = startedMs + BATCH_INTERVAL_MS - performance.now()
        if (!isBehind && signal !== undefined && restMs > 0) await delay(restMs, undefined, { signal }).catch(() => {})
      }
      await this.#committing
      await Promise.all(this.#heavy)
      this.#check()
      await foldJournal(app, journal, buildSumRefusals(app))
    } finally {
      signal?.removeEventListener('abort', wake)
      await this.#preparer.stop()
      await this.#committing
      await Promise.all(this.#heavy)
      // After a failure, also of a read, or a stop.
      if (!isDone) reader.giveBack(part)
    }
  }

  /**
   * Reads and prepares until a batch is to be committed.
   * @returns a row to be digested alone, when nothing else is in work
   * @throws what reading, preparing or committing threw
   */
  async #gather(): Promise<SpoolBatch | null> {
    const { reader, part } = this.#work
    let suspect: SpoolBatch | null = null
    for (;;) {
      this.#check()
      if (this.#isStopping()) return null
      if (this.#isDue && suspect === null) {
        this.#isDue = false
        const rows = await reader.read(part, { ...BATCH, maxInHand: MAX_IN_HAND })
        if (rows.length > 0) this.#isDue = true
        const [first] = rows
        if (first !== undefined && isSuspect(first)) suspect = first
        else this.#preparer.add(rows)
        continue
      }
      this.#startHeavy()
      if (this.#committing === null && this.#isBatchComplete()) {
        const { ready, preparing, heavy } = this.#preparer
        if (ready > 0) return null
        if (preparing + heavy + this.#heavy.size === 0) return suspect
      }
      await this.#change()
    }
  }

  #isStopping(): boolean {
    return this.#work.signal?.aborted === true
  }

  #isBatchComplete(): boolean {
    const { preparing, projects, isHeavyBehind } = this.#preparer
    return (
      preparing === 0 ||
      isHeavyBehind ||
      this.#preparer.isFull(this.#limits()) ||
      (projects > 1 && this.#preparer.readyMs() >= SHARED_WAIT_MS)
    )
  }

  #limits(): BatchLimits {
    return this.#work.use.isShared ? SHARED_BATCH : BATCH
  }

  /**
   * Starts the commits of heavy rows, and counts before what is in the journal of their projects: a heavy row is counted at
   * once, so that it does not wait for the chain of batches, nor the chain for it.
   */
  #startHeavy(): void {
    const { journal, app } = this.#work
    let isFoldDue = false
    for (;;) {
      const row = this.#preparer.takeHeavy(({ batch }) => {
        const isPending = journal.isPending(batch.entries[0]?.projectId ?? '')
        isFoldDue ||= isPending
        return !isPending
      })
      if (row === null) break
      const commit = this.#commitHeavy(row).finally(() => {
        this.#heavy.delete(commit)
        this.#wake?.()
      })
      this.#heavy.add(commit)
    }
    if (isFoldDue && this.#committing === null)
      this.#committing = this.#inChain(() => foldJournal(app, journal, buildSumRefusals(app)))
  }

  async #commitHeavy(row: PreparedRow): Promise<void> {
    const { turns, heavyTurns, signal } = this.#work
    const turn = await heavyTurns.enter(row.orgId, String(row.batch.projectNumber))
    try {
      if (this.#failure === null && signal?.aborted !== true)
        await this.#record([row], true, null, (tookMs) => turns.giveWay(row.orgId, tookMs))
    } catch (error) {
      this.#failure ??= { error }
    } finally {
      turn.leave()
    }
  }

  /** Waits until something happened that {@link #gather} looks at. Rows that take long do not hold up what is to be counted. */
  async #change(): Promise<void> {
    const { app, journal } = this.#work
    if (this.#committing === null && journal.dueInMs() <= 0)
      this.#committing = this.#inChain(() => foldJournal(app, journal, buildSumRefusals(app)))
    const { ready, projects } = this.#preparer
    const rowsWaitMs = ready > 0 && projects > 1 ? SHARED_WAIT_MS - this.#preparer.readyMs() : Infinity
    const waitMs = this.#committing === null ? Math.min(rowsWaitMs, journal.dueInMs()) : Infinity
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      if (waitMs < Infinity) timer = setTimeout(resolve, Math.max(0, waitMs))
    })
    clearTimeout(timer)
    this.#wake = null
  }

  #commit(rows: readonly PreparedRow[], isBehind: boolean): Promise<void> {
    const { journal, turns } = this.#work
    return this.#inChain(() =>
      turns.commit(new Set(rows.map(({ orgId }) => orgId)), () => this.#record(rows, isBehind, journal)),
    )
  }

  async #inChain(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#failure ??= { error }
    } finally {
      this.#committing = null
      this.#wake?.()
    }
  }

  async #record(
    rows: readonly PreparedRow[],
    isBehind: boolean,
    journal: ShardJournal | null,
    pace: Pace | null = null,
  ): Promise<void> {
    const { app, reader, part, count } = this.#work
    await requireDiskSpace(app.config)
    const batches = rows.map(({ batch }) => batch)
    const prepared = { batches, entries: rows.flatMap(({ entries }) => entries) }
    const done = await commitBatches(app, prepared, isBehind, journal, pace)
    this.#preparer.committed(rows)
    reader.settled(
      part,
      batches.map(({ id }) => id),
    )
    count(done)
    // There is room for rows that were not read.
    this.#isDue = true
  }

  /** Digests a row that may have ended workers, and nothing else meanwhile. */
  async #digestAlone(row: SpoolBatch): Promise<void> {
    const { app, reader, part, count } = this.#work
    const attempts = await reader.countAttempt(row)
    if (attempts > MAX_ATTEMPTS) {
      await quarantinePoison(app, { ...row, attempts }, count)
      reader.settled(part, [row.id])
      return
    }
    this.#preparer.add([row])
    while (this.#preparer.preparing > 0) {
      this.#check()
      await this.#change()
    }
    const heavy = this.#preparer.takeHeavy(() => true)
    this.#committing = this.#commit(heavy === null ? this.#preparer.take(BATCH) : [heavy], true)
    await this.#committing
    this.#check()
  }

  /** @throws what preparing or committing threw */
  #check(): void {
    this.#preparer.check()
    if (this.#failure !== null) throw this.#failure.error
  }
}

/** Quarantines a row that ended too many workers. */
async function quarantinePoison(app: App, batch: SpoolBatch, count: (done: DigestFigures) => void): Promise<void> {
  app.log.error(
    { spool_row: batch.id, entries: batch.entries.length, attempts: batch.attempts },
    'a spool row ended its workers too often; its requests are in quarantine',
  )
  const { category, quantity } = UNREADABLE
  const sums = new OutcomeSums()
  for (const { projectId, keyId, receivedAtMs } of batch.entries) {
    const receivedAt = new Date(receivedAtMs)
    sums.add({ projectId, keyId, receivedAt, category, outcome: 'dropped', reason: 'quarantine', quantity })
  }
  await app.tx(async (tx) => {
    await quarantineBatch(tx, batch, 'Workers ended while they processed it.', app.clock.now(), [[category, quantity]])
    sums.write(tx)
  })
  count({ entries: batch.entries.length, events: 0, duplicates: 0, quarantined: batch.entries.length })
}
