import { isInFile } from './file-records.ts'
import type { RowMessage } from './hand-over.ts'
import type { LaneRange, RowRange, StoredRow } from './spool.queries.ts'

export type RowLimits = {
  readonly maxRows: number
  /** Bytes of bodies, as stored; the first row is returned even when it is larger. */
  readonly maxBytes: number
  /**
   * Bytes that all projects may have in hand. A project gets no further rows when it has more in hand than is left, so
   * that a flood leaves half to others; one that has none gets a row as long as twice as much is not reached.
   */
  readonly maxInHand?: number
}

type PartRowsOptions = {
  /** The projects that have rows in the table, apart from those. */
  readonly lanes: (except: readonly number[]) => Promise<readonly number[]>
  /** Reads from the table. */
  readonly select: (range: Omit<RowRange, 'part'>) => Promise<StoredRow[]>
  /** Whether an intake hands over rows. Without one every read looks into the table. */
  readonly isHandedOver: boolean
  /** Called when bytes of a project that were handed over no longer wait. */
  readonly onFreed: (projectNumber: number, bytes: number) => void
  /** Called with rows of the file that were settled, and with those that are dropped: only the intake can read them again. */
  readonly onSettled: (ids: readonly number[]) => void
  readonly onLost: (ids: readonly number[]) => void
  readonly nowMs: () => number
}

/** Number of ids that are remembered after their rows were read: a row may be handed over after it was read. */
const MAX_KNOWN = 4_096
/** Maximum projects in one read of the table. */
const MAX_LANES_READ = 64
/** The weight of a row beside its bytes: many small ones cost more. */
const ROW_BYTES = 12_500

type InHand = { readonly projectNumber: number; readonly weight: number; readonly memory: ArrayBuffer | null }

/**
 * The rows of one part. Each project's rows come about in the order of their ids; projects with less in hand come
 * first. No row is returned twice until {@link giveBack}.
 */
export class PartRows {
  readonly #options: PartRowsOptions
  /** Projects with rows that wait, or may. */
  readonly #lanes = new Map<number, LaneRows>()
  /** Whether the table may have rows of projects that are not known. */
  #isTableDue = true
  /** Until then every read looks into the table. */
  #tableUntilMs: number
  /** Returned and not settled, with the memory of those that were handed over. */
  readonly #inHand = new Map<number, InHand>()
  readonly #weights = new Map<number, number>()
  #weight = 0
  /** Returned lately. */
  readonly #known = new Set<number>()

  constructor(options: PartRowsOptions) {
    this.#options = options
    this.#tableUntilMs = options.isHandedOver ? 0 : Number.POSITIVE_INFINITY
  }

  /**
   * The table may have further rows.
   * @param forMs how long more of them may follow without a notice
   */
  checkTable(forMs = 0): void {
    this.#isTableDue = true
    if (forMs > 0) this.#tableUntilMs = Math.max(this.#tableUntilMs, this.#options.nowMs() + forMs)
  }

  /** Takes a row that was handed over. */
  take(message: RowMessage): void {
    const { projectNumber, row } = message
    const waits = this.#lane(projectNumber).take(message, (id) => this.#known.has(id))
    if (!waits && row !== null) this.#options.onFreed(projectNumber, row.bytes.byteLength)
  }

  /** Ids of rows of the table that were returned and are not settled. */
  inHand(): number[] {
    return [...this.#inHand.keys()].filter((id) => !isInFile(id))
  }

  /** The next rows; none when nothing is left that is not in hand and has room. */
  async read(limits: RowLimits): Promise<StoredRow[]> {
    if (this.#isTableDue || this.#options.nowMs() < this.#tableUntilMs) await this.#findLanes()
    for (;;) {
      const lanes = this.#inOrder()
      const handed = this.#takeHanded(lanes, limits)
      if (handed.length > 0) return handed
      const wanted = lanes.filter((lane) => lane.needsTable() && this.#room(lane, limits) > 0).slice(0, MAX_LANES_READ)
      if (wanted.length === 0) return []
      const rows = await this.#readTable(wanted, limits)
      if (rows.length > 0) return rows
    }
  }

  /**
   * Forgets rows that were settled, and frees their memory: until the next major collection it would count as garbage,
   * and make that collection come sooner.
   */
  settled(ids: readonly number[]): void {
    for (const id of ids) {
      const row = this.#inHand.get(id)
      if (row === undefined) continue
      row.memory?.transfer(0)
      this.#inHand.delete(id)
      this.#weigh(row.projectNumber, -row.weight)
    }
    const inFile = ids.filter(isInFile)
    if (inFile.length > 0) this.#options.onSettled(inFile)
  }

  /** Everything that is not settled is read again, from the table: rows of the file when they were moved there. */
  giveBack(): void {
    this.#lose(this.#inHand.keys())
    this.#inHand.clear()
    this.#weights.clear()
    this.#weight = 0
    this.forgetLanes()
  }

  /** Drops what was handed over: the table has it, or will. Projects of shards that are lost must not be read. */
  forgetLanes(): void {
    for (const lane of this.#lanes.values()) {
      const bytes = lane.waitingBytes()
      if (bytes > 0) this.#options.onFreed(lane.projectNumber, bytes)
      this.#lose(lane.handed())
    }
    this.#lanes.clear()
    this.#isTableDue = true
  }

  #lose(ids: Iterable<number>): void {
    const inFile = [...ids].filter(isInFile)
    if (inFile.length > 0) this.#options.onLost(inFile)
  }

  #lane(projectNumber: number): LaneRows {
    const known = this.#lanes.get(projectNumber)
    if (known !== undefined) return known
    const lane = new LaneRows(projectNumber)
    this.#lanes.set(projectNumber, lane)
    return lane
  }

  async #findLanes(): Promise<void> {
    this.#isTableDue = false
    const found = await this.#options.lanes(this.inHand()).catch((error: unknown) => {
      this.#isTableDue = true
      throw error
    })
    for (const projectNumber of found) this.#lane(projectNumber).checkTable()
  }

  /** Projects with less in hand first; those with nothing left are forgotten. */
  #inOrder(): LaneRows[] {
    for (const lane of this.#lanes.values()) if (lane.isEmpty()) this.#lanes.delete(lane.projectNumber)
    const lanes = [...this.#lanes.values()]
    return lanes.length < 2 ? lanes : lanes.sort((a, b) => this.#weightOf(a) - this.#weightOf(b))
  }

  #weightOf({ projectNumber }: LaneRows): number {
    return this.#weights.get(projectNumber) ?? 0
  }

  /** The bytes that a project may take now. */
  #room(lane: LaneRows, { maxInHand }: RowLimits): number {
    if (maxInHand === undefined) return Number.MAX_SAFE_INTEGER
    const own = this.#weightOf(lane)
    const room = maxInHand - this.#weight - own
    return room <= 0 && own === 0 && this.#weight < 2 * maxInHand ? 1 : room
  }

  async #readTable(lanes: readonly LaneRows[], limits: RowLimits): Promise<StoredRow[]> {
    const { maxRows, maxBytes } = limits
    const nowMs = this.#options.nowMs()
    // A part for each, so that none waits until another was read.
    const [rowsEach, bytesEach] = [Math.ceil(maxRows / lanes.length), Math.ceil(maxBytes / lanes.length)]
    const ranges = lanes.map((lane): LaneRange => ({
      ...lane.range(nowMs),
      maxRows: rowsEach,
      maxBytes: Math.min(bytesEach, this.#room(lane, limits)),
    }))
    const read = await this.#options.select({ lanes: ranges, except: this.inHand(), maxRows, maxBytes })
    const bytesOf = (rows: readonly StoredRow[]): number => rows.reduce((bytes, { body }) => bytes + body.length, 0)
    const isCut = read.length >= maxRows || bytesOf(read) >= maxBytes
    const byLane = Map.groupBy(read, ({ projectNumber }) => projectNumber)
    const rows: StoredRow[] = []
    for (const [index, lane] of lanes.entries()) {
      const ofLane = byLane.get(lane.projectNumber) ?? []
      const isLaneCut = isCut || ofLane.length >= rowsEach || bytesOf(ofLane) >= (ranges[index]?.maxBytes ?? 0)
      rows.push(...lane.fromTable(ofLane, isLaneCut, rows.length === 0))
      // Alone; the other projects are read next.
      if (rows.some(isSuspect)) break
    }
    for (const row of rows) this.#putInHand(row.projectNumber, row.id, row.body.length, null)
    return rows
  }

  #takeHanded(lanes: readonly LaneRows[], limits: RowLimits): StoredRow[] {
    const rows: StoredRow[] = []
    let left = limits.maxBytes
    for (const lane of lanes) {
      if (lane.needsTable()) continue
      while (rows.length < limits.maxRows && left > 0 && this.#room(lane, limits) > 0) {
        const row = lane.nextHanded()
        if (row === null) break
        left -= row.bodyBytes
        lane.dropHanded(row.id)
        this.#options.onFreed(lane.projectNumber, row.bytes.byteLength)
        this.#putInHand(lane.projectNumber, row.id, row.bodyBytes, row.bytes)
        rows.push({
          projectNumber: lane.projectNumber,
          id: row.id,
          receivedAt: new Date(row.receivedAtMs),
          attempts: 0,
          entries: Buffer.from(row.bytes, row.bodyBytes),
          body: Buffer.from(row.bytes, 0, row.bodyBytes),
        })
      }
    }
    return rows
  }

  #putInHand(projectNumber: number, id: number, bytes: number, memory: ArrayBuffer | null): void {
    const weight = bytes + ROW_BYTES
    this.#inHand.set(id, { projectNumber, weight, memory })
    this.#weigh(projectNumber, weight)
    this.#known.add(id)
    for (const oldest of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(oldest)
    }
  }

  #weigh(projectNumber: number, weight: number): void {
    this.#weight += weight
    const own = (this.#weights.get(projectNumber) ?? 0) + weight
    if (own === 0) this.#weights.delete(projectNumber)
    else this.#weights.set(projectNumber, own)
  }
}

/** Rows with more attempts are read alone, so that they do not affect other rows. */
const SUSPECT_ATTEMPTS = 2
export const isSuspect = ({ attempts }: { readonly attempts: number }): boolean => attempts > SUSPECT_ATTEMPTS
/** Maximum time until a row is read that was committed after one with a higher id, while many rows wait. */
const FROM_START_EVERY_MS = 1_000

type HandedRow = NonNullable<RowMessage['row']>

/**
 * The rows of one project that are not in hand, about in the order of their ids: those that were handed over, and in the
 * table those that were not.
 */
class LaneRows {
  readonly projectNumber: number
  /** By id, in the order of arrival. */
  readonly #handed = new Map<number, { readonly row: HandedRow; hasGap: boolean }>()
  #hasGapAtEnd = false
  /** Whether the table may hold rows that were neither handed over nor read. */
  #isTableDue = false
  /** Whether rows of the file come before the next read of the table. Nothing says which of both are older. */
  #isFilesTurn = false
  /** Where the next read of the table starts, after one that stopped at its limits. */
  #afterId = 0
  #fromStartMs = 0

  constructor(projectNumber: number) {
    this.projectNumber = projectNumber
  }

  /** The table may have further rows. */
  checkTable(): void {
    this.#isTableDue = true
  }

  /** Takes a row that was handed over. @param isKnown whether it was read before. @returns whether it waits now */
  take({ row, hasGap }: RowMessage, isKnown: (id: number) => boolean): boolean {
    if (row === null) this.#hasGapAtEnd = true
    else if (isKnown(row.id) || this.#handed.has(row.id)) {
      this.#hasGapAtEnd ||= hasGap
      return false
    } else {
      this.#handed.set(row.id, { row, hasGap: hasGap || this.#hasGapAtEnd })
      this.#hasGapAtEnd = false
    }
    return true
  }

  /** Whether the table has to be read before what was handed over. */
  needsTable(): boolean {
    const [first] = this.#handed.values()
    if (this.#isTableDue) return !(this.#isFilesTurn && first?.hasGap === false && isInFile(first.row.id))
    if (first === undefined ? !this.#hasGapAtEnd : !first.hasGap) return false
    if (first === undefined) this.#hasGapAtEnd = false
    else first.hasGap = false
    this.#isTableDue = true
    return true
  }

  isEmpty(): boolean {
    return !this.#isTableDue && !this.#hasGapAtEnd && this.#handed.size === 0
  }

  /** The range to read from the table next. */
  range(nowMs: number): Omit<LaneRange, 'maxRows' | 'maxBytes'> {
    // Rows that became visible with a lower id must not wait for a pause in the traffic.
    if (nowMs - this.#fromStartMs >= FROM_START_EVERY_MS) this.#afterId = 0
    if (this.#afterId === 0) this.#fromStartMs = nowMs
    const [firstHanded] = this.#handed.keys()
    const beforeId = firstHanded === undefined || isInFile(firstHanded) ? null : firstHanded
    return { projectNumber: this.projectNumber, afterId: this.#afterId, beforeId }
  }

  /**
   * Takes what the table had.
   * @param isCut whether it may have more
   * @param isAlone whether no row of another project was read with them
   * @returns the rows to be processed now
   */
  fromTable(read: readonly StoredRow[], isCut: boolean, isAlone: boolean): StoredRow[] {
    const suspect = read.findIndex(isSuspect)
    const rows = suspect === -1 ? read : read.slice(0, suspect === 0 && isAlone ? 1 : suspect)
    this.#isTableDue = isCut || rows.length < read.length
    this.#isFilesTurn = true
    this.#afterId = this.#isTableDue ? (rows.at(-1)?.id ?? this.#afterId) : 0
    return rows.filter(({ id }) => !this.#handed.has(id))
  }

  /** The next row that was handed over, unless rows before it were not. */
  nextHanded(): HandedRow | null {
    const [first] = this.#handed.values()
    return first === undefined || first.hasGap ? null : first.row
  }

  dropHanded(id: number): void {
    this.#handed.delete(id)
    this.#isFilesTurn = false
  }

  /** Ids of rows that were handed over and wait. */
  handed(): Iterable<number> {
    return this.#handed.keys()
  }

  /** Bytes that were handed over and wait. */
  waitingBytes(): number {
    let bytes = 0
    for (const { row } of this.#handed.values()) bytes += row.bytes.byteLength
    return bytes
  }
}
