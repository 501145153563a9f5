import type { App } from '../../platform/context/app.ts'
import type { SpoolBatch } from '../spool/read.ts'
import { type PreparedEntry, prepareRow } from './digest.ts'
import type { FairTurns } from './fair-turns.ts'
import type { ProjectFactsReader } from './project-facts.ts'

/** Limits of one transaction. */
export type BatchLimits = {
  readonly maxRows: number
  /** As stored. */
  readonly maxBytes: number
  /** Processor time that preparing took. */
  readonly maxMs: number
  /** The estimated time of the commit. */
  readonly maxCostMs: number
}

export type PreparedRow = {
  readonly batch: SpoolBatch
  readonly orgId: string
  readonly entries: readonly PreparedEntry[]
  readonly usedMs: number
  /** The estimated time of its commit. */
  readonly costMs: number
  /** It is committed alone, beside the others. */
  readonly isHeavy: boolean
}

/** A project with rows that are not committed. */
type Lane = {
  /** Not prepared, the one in work first. */
  readonly rows: SpoolBatch[]
  /** Prepared and not taken, in order. */
  readonly ready: PreparedRow[]
  /** Heavy ones of them. */
  heavy: number
  /** Rows that were taken and are not committed. */
  taken: number
  /** A heavy one is among those. */
  isHeld: boolean
  /** The processor time that its rows took that are prepared and not committed. */
  aheadMs: number
  running: Promise<void> | null
  /** Ends a wait for room. */
  resume: (() => void) | null
}

/**
 * Processor time of rows of a part that are prepared and not committed, which bounds their memory. A project prepares no
 * further row when it has more ahead than is left.
 */
const MAX_AHEAD_MS = 1_000

/**
 * Prepares rows of a part: those of a project one after the other, projects side by side, in fair turns. Rows of a
 * project are taken in order; a heavy one when all before it are committed, and those after it when it is.
 */
export class RowPreparer {
  readonly #app: App
  readonly #facts: ProjectFactsReader
  readonly #turns: FairTurns
  readonly #use: PartUse
  readonly #onChange: () => void
  readonly #lanes = new Map<number, Lane>()
  #readySinceMs = Number.POSITIVE_INFINITY
  #aheadMs = 0
  #preparing = 0
  #isStopped = false
  #failure: { readonly error: unknown } | null = null

  /** @param onChange called when a row is ready, and when preparing failed */
  constructor(app: App, facts: ProjectFactsReader, turns: FairTurns, use: PartUse, onChange: () => void) {
    this.#app = app
    this.#facts = facts
    this.#turns = turns
    this.#use = use
    this.#onChange = onChange
  }

  add(rows: readonly SpoolBatch[]): void {
    for (const row of rows) {
      const lane = this.#lanes.get(row.projectNumber) ?? {
        rows: [],
        ready: [],
        heavy: 0,
        taken: 0,
        isHeld: false,
        aheadMs: 0,
        running: null,
        resume: null,
      }
      this.#lanes.set(row.projectNumber, lane)
      lane.rows.push(row)
      this.#use.by(row.projectNumber)
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

  /** How long a row that may be taken has been ready, ms; 0 when none is. */
  readyMs(): number {
    return this.ready === 0 ? 0 : performance.now() - this.#readySinceMs
  }

  /** Rows that {@link take} may return. */
  get ready(): number {
    let rows = 0
    for (const lane of this.#lanes.values()) rows += readyOf(lane)
    return rows
  }

  /** Heavy rows that are not taken. */
  get heavy(): number {
    let rows = 0
    for (const { heavy } of this.#lanes.values()) rows += heavy
    return rows
  }

  /** Whether a heavy row waits for ready ones. */
  get isHeavyBehind(): boolean {
    for (const lane of this.#lanes.values()) if (lane.heavy > 0 && readyOf(lane) > 0) return true
    return false
  }

  /** Whether what is ready fills a batch. */
  isFull({ maxRows, maxBytes, maxMs, maxCostMs }: BatchLimits): boolean {
    let [rows, bytes, ms, cost] = [0, 0, 0, 0]
    for (const lane of this.#lanes.values()) {
      for (let at = 0; at < readyOf(lane); at++) {
        rows++
        bytes += lane.ready[at]?.batch.bytes ?? 0
        ms += lane.ready[at]?.usedMs ?? 0
        cost += lane.ready[at]?.costMs ?? 0
        if (rows >= maxRows || bytes >= maxBytes || ms >= maxMs || cost >= maxCostMs) return true
      }
    }
    return false
  }

  /** Takes the rows of a batch: from organisations and their projects in turn, by the cost of their commit. */
  take({ maxRows, maxBytes, maxMs, maxCostMs }: BatchLimits): PreparedRow[] {
    const rows: PreparedRow[] = []
    const costOf = new Map<string | Lane, number>()
    let [bytes, ms, cost] = [0, 0, 0]
    while (rows.length < maxRows && bytes < maxBytes && ms < maxMs && cost < maxCostMs) {
      const lane = this.#cheapest(costOf)
      const row = lane?.ready.shift()
      if (lane === null || row === undefined) break
      lane.taken++
      bytes += row.batch.bytes
      ms += row.usedMs
      cost += row.costMs
      for (const key of [row.orgId, lane]) costOf.set(key, (costOf.get(key) ?? 0) + row.costMs)
      rows.push(row)
    }
    this.#readySinceMs = performance.now()
    return rows
  }

  /** Takes a heavy row before which nothing of its project is left. @param mayStart asked about its project */
  takeHeavy(mayStart: (row: PreparedRow) => boolean): PreparedRow | null {
    for (const lane of this.#lanes.values()) {
      const [row] = lane.ready
      if (row?.isHeavy !== true || lane.taken > 0 || !mayStart(row)) continue
      lane.ready.shift()
      lane.heavy--
      lane.taken++
      lane.isHeld = true
      return row
    }
    return null
  }

  committed(rows: readonly PreparedRow[]): void {
    for (const { batch, usedMs } of rows) {
      const lane = this.#lanes.get(batch.projectNumber)
      if (lane === undefined) continue
      this.#aheadMs -= usedMs
      lane.aheadMs -= usedMs
      lane.taken--
      lane.isHeld = false
      if (lane.taken + lane.ready.length + lane.rows.length === 0) this.#lanes.delete(batch.projectNumber)
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
        this.#put(lane, row, prepared)
        this.#onChange()
      }
    } catch (error) {
      this.#failure ??= { error }
      this.#onChange()
    } finally {
      lane.running = null
    }
  }

  #put(lane: Lane, batch: SpoolBatch, { entries, usedMs }: Pick<PreparedRow, 'entries' | 'usedMs'>): void {
    const costMs = commitCostMs(entries, batch.bytes)
    const row = {
      batch,
      orgId: entries[0]?.orgId ?? '',
      entries,
      usedMs,
      costMs,
      isHeavy: isHeavy(entries, costMs, this.#use.isShared),
    }
    if (this.ready === 0) this.#readySinceMs = performance.now()
    lane.rows.shift()
    lane.ready.push(row)
    if (row.isHeavy) lane.heavy++
    lane.aheadMs += usedMs
    this.#aheadMs += usedMs
    this.#preparing--
  }

  #cheapest(costOf: ReadonlyMap<string | Lane, number>): Lane | null {
    let next: Lane | null = null
    let [ofOrg, ofLane] = [Infinity, Infinity]
    for (const lane of this.#lanes.values()) {
      if (readyOf(lane) === 0) continue
      const [org, own] = [costOf.get(lane.ready[0]?.orgId ?? '') ?? 0, costOf.get(lane) ?? 0]
      if (org > ofOrg || (org === ofOrg && own >= ofLane)) continue
      next = lane
      ofOrg = org
      ofLane = own
    }
    return next
  }

  #hasRoom({ ready, taken, aheadMs }: Lane): boolean {
    return ready.length + taken === 0 ? this.#aheadMs < 2 * MAX_AHEAD_MS : aheadMs <= MAX_AHEAD_MS - this.#aheadMs
  }
}

/** The number of rows before the first heavy one. */
function readyOf({ ready, heavy, isHeld }: Lane): number {
  if (isHeld) return 0
  return heavy === 0 ? ready.length : ready.findIndex((row) => row.isHeavy)
}

/**
 * The estimated time of recording, in ms of an idle machine: to commit little at a time where other projects wait, and
 * together what is cheap.
 */
const LIST_ENTRY_MS = 0.05
const FACT_MS = 0.3
/** For what is stored with the item: bodies and files. */
const BYTE_MS = 10 / 1_000_000

/** A commit that takes longer delays other projects of its part. */
export const MAX_SHARED_COST_MS = 50
/** Log entries and measurements of a row that are never recorded together with other rows. */
const MANY_ENTRIES = 1_000

/** The number of log entries and measurements in prepared requests. */
const listEntriesOf = (entries: readonly PreparedEntry[]): number => {
  let sum = 0
  for (const { items } of entries)
    for (const item of items ?? [])
      if ('kind' in item && (item.kind === 'logs' || item.kind === 'trace_metrics')) sum += item.quantity
  return sum
}

/** The estimated time of the commit of a row. @param bytes as stored */
function commitCostMs(entries: readonly PreparedEntry[], bytes: number): number {
  let facts = 0
  for (const { items } of entries) facts += items?.length ?? 0
  return listEntriesOf(entries) * LIST_ENTRY_MS + facts * FACT_MS + bytes * BYTE_MS
}

/** Whether a row is committed alone, beside the others of its part. @param isShared whether other projects use the part */
const isHeavy = (entries: readonly PreparedEntry[], costMs: number, isShared: boolean): boolean =>
  (isShared && costMs > MAX_SHARED_COST_MS) || listEntriesOf(entries) > MANY_ENTRIES

/** For how long a part counts as shared after rows of several projects. */
const SHARED_MS = 10_000

/** Whether several projects use a part. */
export class PartUse {
  readonly #nowMs: () => number
  #last: number | null = null
  #sharedUntilMs = Number.NEGATIVE_INFINITY

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** There are rows of a project. */
  by(projectNumber: number): void {
    if (this.#last !== null && this.#last !== projectNumber) this.#sharedUntilMs = this.#nowMs() + SHARED_MS
    this.#last = projectNumber
  }

  /** Whether rows of different projects came within the last seconds. */
  get isShared(): boolean {
    return this.#nowMs() < this.#sharedUntilMs
  }
}
