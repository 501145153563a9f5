import type { App } from '../context/app.ts'
import type { SpoolBatch } from '../spool/read.ts'
import { type PreparedEntry, prepareRow } from './digest.ts'
import type { FairTurns } from './fair-turns.ts'
import type { ProjectFactsReader } from './project-facts.ts'

/** What one transaction takes: rows, bytes as stored, and processor time that preparing took. */
export type BatchLimits = { readonly maxRows: number; readonly maxBytes: number; readonly maxMs: number }

export type PreparedRow = {
  readonly batch: SpoolBatch
  readonly entries: readonly PreparedEntry[]
  readonly usedMs: number
}

/** A project with rows that are not committed. */
type Lane = {
  /** Not prepared, the one in work first. */
  readonly rows: SpoolBatch[]
  /** Rows that are prepared and not committed, and the processor time that they took. */
  prepared: number
  aheadMs: number
  running: Promise<void> | null
  /** Ends a wait for room. */
  resume: (() => void) | null
}

/**
 * Processor time of rows of a shard that are prepared and not committed, which bounds their memory. A project prepares no
 * further row when it has more ahead than is left.
 */
const MAX_AHEAD_MS = 1_000

/** Prepares rows of a shard: those of a project one after the other, projects side by side, in fair turns. */
export class RowPreparer {
  readonly #app: App
  readonly #facts: ProjectFactsReader
  readonly #turns: FairTurns
  readonly #onChange: () => void
  readonly #lanes = new Map<number, Lane>()
  readonly #ready: PreparedRow[] = []
  #readySinceMs = Number.POSITIVE_INFINITY
  #aheadMs = 0
  #preparing = 0
  #isStopped = false
  #failure: { readonly error: unknown } | null = null

  /** @param onChange called when a row is ready, and when preparing failed */
  constructor(app: App, facts: ProjectFactsReader, turns: FairTurns, onChange: () => void) {
    this.#app = app
    this.#facts = facts
    this.#turns = turns
    this.#onChange = onChange
  }

  add(rows: readonly SpoolBatch[]): void {
    for (const row of rows) {
      const lane = this.#lanes.get(row.projectNumber) ?? {
        rows: [],
        prepared: 0,
        aheadMs: 0,
        running: null,
        resume: null,
      }
      this.#lanes.set(row.projectNumber, lane)
      lane.rows.push(row)
      this.#preparing++
      lane.running ??= this.#run(lane)
    }
  }

  /** Rows that are not ready. */
  get preparing(): number {
    return this.#preparing
  }

  /** Projects with rows that are not committed. */
  get projects(): number {
    return this.#lanes.size
  }

  /** How long a row has been ready, ms; 0 when none is. */
  readyMs(): number {
    return this.#ready.length === 0 ? 0 : performance.now() - this.#readySinceMs
  }

  get ready(): number {
    return this.#ready.length
  }

  /** Whether what is ready fills a batch. */
  isFull({ maxRows, maxBytes, maxMs }: BatchLimits): boolean {
    if (this.#ready.length >= maxRows) return true
    let [bytes, ms] = [0, 0]
    for (const { batch, usedMs } of this.#ready) {
      bytes += batch.bytes
      ms += usedMs
      if (bytes >= maxBytes || ms >= maxMs) return true
    }
    return false
  }

  /** Takes the rows of a batch, in the order in which they became ready. */
  take({ maxRows, maxBytes, maxMs }: BatchLimits): PreparedRow[] {
    let [rows, bytes, ms] = [0, 0, 0]
    while (rows < this.#ready.length && rows < maxRows && bytes < maxBytes && ms < maxMs) {
      bytes += this.#ready[rows]?.batch.bytes ?? 0
      ms += this.#ready[rows]?.usedMs ?? 0
      rows++
    }
    this.#readySinceMs = performance.now()
    return this.#ready.splice(0, rows)
  }

  committed(rows: readonly PreparedRow[]): void {
    for (const { batch, usedMs } of rows) {
      const lane = this.#lanes.get(batch.projectNumber)
      if (lane === undefined) continue
      this.#aheadMs -= usedMs
      lane.aheadMs -= usedMs
      lane.prepared--
      if (lane.prepared === 0 && lane.rows.length === 0) this.#lanes.delete(batch.projectNumber)
    }
    for (const lane of this.#lanes.values()) lane.resume?.()
  }

  /** @throws what preparing threw */
  check(): void {
    if (this.#failure !== null) throw this.#failure.error
  }

  /** Ends preparing; resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const lane of this.#lanes.values()) lane.resume?.()
    for (const { running } of this.#lanes.values()) await running
  }

  async #run(lane: Lane): Promise<void> {
    try {
      for (let row = lane.rows[0]; row !== undefined && !this.#isStopped; row = lane.rows[0]) {
        if (!this.#hasRoom(lane)) {
          await new Promise<void>((resolve) => {
            lane.resume = resolve
          })
          lane.resume = null
          continue
        }
        const prepared = await prepareRow(this.#app, this.#facts, this.#turns, row, () => this.#isStopped)
        if (prepared === null) return
        lane.rows.shift()
        lane.prepared++
        lane.aheadMs += prepared.usedMs
        this.#aheadMs += prepared.usedMs
        this.#preparing--
        if (this.#ready.length === 0) this.#readySinceMs = performance.now()
        this.#ready.push({ batch: row, ...prepared })
        this.#onChange()
      }
    } catch (error) {
      this.#failure ??= { error }
      this.#onChange()
    } finally {
      lane.running = null
    }
  }

  #hasRoom({ prepared, aheadMs }: Lane): boolean {
    return prepared === 0 ? this.#aheadMs < 2 * MAX_AHEAD_MS : aheadMs <= MAX_AHEAD_MS - this.#aheadMs
  }
}
