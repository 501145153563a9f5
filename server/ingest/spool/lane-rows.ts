import type { RowMessage } from './hand-over.ts'
import type { LaneRange, StoredRow } from './spool.queries.ts'

/** Rows with more attempts are read alone, so that they do not affect other rows. */
const SUSPECT_ATTEMPTS = 2
export const isSuspect = ({ attempts }: { readonly attempts: number }): boolean => attempts > SUSPECT_ATTEMPTS
/** Maximum time until a row is read that was committed after one with a higher id, while many rows wait. */
const FROM_START_EVERY_MS = 1_000

export type HandedRow = NonNullable<RowMessage['row']>

/**
 * The rows of one project that are not in hand, about in the order of their ids: those that were handed over, and in the
 * table those that were not.
 */
export class LaneRows {
  readonly projectNumber: number
  /** By id, in the order of arrival. */
  readonly #handed = new Map<number, { readonly row: HandedRow; hasGap: boolean }>()
  #hasGapAtEnd = false
  /** Whether the table may hold rows that were neither handed over nor read. */
  #isTableDue = false
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
    if (this.#isTableDue) return true
    const [first] = this.#handed.values()
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
    return { projectNumber: this.projectNumber, afterId: this.#afterId, beforeId: firstHanded ?? null }
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
  }

  /** Bytes that were handed over and wait. */
  waitingBytes(): number {
    let bytes = 0
    for (const { row } of this.#handed.values()) bytes += row.bytes.byteLength
    return bytes
  }
}
