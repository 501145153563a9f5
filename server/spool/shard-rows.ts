import type { RowMessage } from './hand-over.ts'
import type { RowRange, StoredRow } from './spool.queries.ts'

export type RowLimits = {
  readonly maxRows: number
  /** Bytes of bodies, as stored; the first row is returned even when it is larger. */
  readonly maxBytes: number
}

export type ShardRowsOptions = {
  /** Reads from the table. */
  readonly select: (range: Omit<RowRange, 'shard'>) => Promise<StoredRow[]>
  /** Whether an intake hands over rows. Without one every read looks into the table. */
  readonly isHandedOver: boolean
  /** Called when bytes that were handed over no longer wait. */
  readonly onFreed: (bytes: number) => void
  readonly nowMs: () => number
}

/** Rows with more attempts are read alone, so that they do not affect other rows. */
const SUSPECT_ATTEMPTS = 2
/** Maximum time until a row is read that was committed after one with a higher id, while many rows wait. */
const FROM_START_EVERY_MS = 1_000
/** Number of ids that are remembered after their rows were read: a row may be handed over after it was read. */
const MAX_KNOWN = 4_096

type HandedRow = { readonly row: NonNullable<RowMessage['row']>; hasGap: boolean }

/**
 * The rows of one shard, about in the order of their ids: those that were handed over, and from the table those that
 * were not. No row is returned twice until {@link giveBack}.
 */
export class ShardRows {
  readonly #options: ShardRowsOptions
  /** By id, in the order of arrival. */
  readonly #handed = new Map<number, HandedRow>()
  #hasGapAtEnd = false
  /** Whether the table may hold rows that were neither handed over nor read. */
  #isTableDue = true
  /** Until then every read looks into the table. */
  #tableUntilMs: number
  /** Returned and not settled, with the memory of those that were handed over. */
  readonly #inHand = new Map<number, ArrayBuffer | null>()
  /** Returned lately. */
  readonly #known = new Set<number>()
  /** Where the next read of the table starts, after one that stopped at its limits. */
  #afterId = 0
  #fromStartMs = 0

  constructor(options: ShardRowsOptions) {
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
  take({ row, hasGap }: RowMessage): void {
    if (row === null) this.#hasGapAtEnd = true
    else if (this.#known.has(row.id) || this.#handed.has(row.id)) {
      this.#options.onFreed(row.bytes.byteLength)
      this.#hasGapAtEnd ||= hasGap
    } else {
      this.#handed.set(row.id, { row, hasGap: hasGap || this.#hasGapAtEnd })
      this.#hasGapAtEnd = false
    }
  }

  /** The next rows; none when nothing is left that is not in hand. */
  async read(limits: RowLimits): Promise<StoredRow[]> {
    this.#isTableDue ||= this.#options.nowMs() < this.#tableUntilMs
    for (;;) {
      if (this.#isTableDue) {
        const rows = await this.#readTable(limits)
        if (rows.length > 0) return rows
        continue
      }
      const [first] = this.#handed.values()
      if (first === undefined ? !this.#hasGapAtEnd : !first.hasGap) return this.#takeHanded(limits)
      if (first === undefined) this.#hasGapAtEnd = false
      else first.hasGap = false
      this.#isTableDue = true
    }
  }

  /**
   * Forgets rows that were settled, and frees their memory: until the next major collection it would count as garbage,
   * and make that collection come sooner.
   */
  settled(ids: readonly number[]): void {
    for (const id of ids) {
      this.#inHand.get(id)?.transfer(0)
      this.#inHand.delete(id)
    }
  }

  /** Everything that is not settled is read again, from the table. */
  giveBack(): void {
    this.#inHand.clear()
    this.forgetHanded()
  }

  /** Drops what was handed over, for the table. */
  forgetHanded(): void {
    for (const { row } of this.#handed.values()) this.#options.onFreed(row.bytes.byteLength)
    this.#handed.clear()
    this.#hasGapAtEnd = false
    this.#afterId = 0
    this.#isTableDue = true
  }

  async #readTable({ maxRows, maxBytes }: RowLimits): Promise<StoredRow[]> {
    this.#isTableDue = false
    const nowMs = this.#options.nowMs()
    // Rows that became visible with a lower id must not wait for a pause in the traffic.
    if (nowMs - this.#fromStartMs >= FROM_START_EVERY_MS) this.#afterId = 0
    if (this.#afterId === 0) this.#fromStartMs = nowMs
    const [firstHanded] = this.#handed.keys()
    const range = {
      afterId: this.#afterId,
      beforeId: firstHanded ?? null,
      except: [...this.#inHand.keys()],
      maxRows,
      maxBytes,
    }
    const read = await this.#options.select(range).catch((error: unknown) => {
      this.#isTableDue = true
      throw error
    })
    const suspect = read.findIndex((row) => row.attempts > SUSPECT_ATTEMPTS)
    const rows = suspect === -1 ? read : read.slice(0, Math.max(1, suspect))
    const isCut =
      rows.length < read.length ||
      read.length === maxRows ||
      read.reduce((bytes, { body }) => bytes + body.length, 0) >= maxBytes
    this.#afterId = isCut ? (rows.at(-1)?.id ?? 0) : 0
    if (isCut) this.#isTableDue = true
    const others = rows.filter(({ id }) => !this.#handed.has(id))
    for (const { id } of others) this.#putInHand(id, null)
    return others
  }

  #takeHanded({ maxRows, maxBytes }: RowLimits): StoredRow[] {
    const rows: StoredRow[] = []
    let left = maxBytes
    for (const { row, hasGap } of this.#handed.values()) {
      if (hasGap || rows.length === maxRows || left <= 0) break
      left -= row.bodyBytes
      this.#options.onFreed(row.bytes.byteLength)
      this.#handed.delete(row.id)
      this.#putInHand(row.id, row.bytes)
      rows.push({
        id: row.id,
        receivedAt: new Date(row.receivedAtMs),
        attempts: 0,
        entries: Buffer.from(row.bytes, row.bodyBytes),
        body: Buffer.from(row.bytes, 0, row.bodyBytes),
      })
    }
    return rows
  }

  #putInHand(id: number, memory: ArrayBuffer | null): void {
    this.#inHand.set(id, memory)
    this.#known.add(id)
    for (const oldest of this.#known) {
      if (this.#known.size <= MAX_KNOWN) break
      this.#known.delete(oldest)
    }
  }
}
