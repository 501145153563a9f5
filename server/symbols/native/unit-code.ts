import type { FunctionDraft } from './function-draft.ts'
import type { IndexWriter } from './index-writer.ts'
import type { InlineTree } from './inline-tree.ts'
import type { LineTable } from './line-table.ts'
import type { AddressRange } from './native-object.ts'
import type { Budget } from './section.ts'
import type { SymbolNames } from './symbol-names.ts'

/** A function with more rows is written as several records, so that a look-up reads few of them. */
const MAX_ROWS = 500

/** The code of one unit: joins its functions with its lines. */
export class UnitCode {
  readonly #draft: FunctionDraft
  readonly #writer: IndexWriter
  readonly #lines: LineTable | undefined
  readonly #budget: Budget
  /** The largest end of the sequences up to each one: sequences may overlap in damaged files. */
  readonly #ends: number[] = []
  readonly #files = new Map<number, number>()
  readonly #ranges: AddressRange[] = []

  constructor(draft: FunctionDraft, writer: IndexWriter, lines: LineTable | undefined, budget: Budget) {
    this.#budget = budget
    this.#draft = draft
    this.#writer = writer
    this.#lines = lines
    let end = 0
    for (const sequence of lines?.sequences ?? []) {
      end = Math.max(end, sequence.end)
      this.#ends.push(end)
    }
  }

  /** @param nameOf the name of an inlined function by the offset of its entry */
  add(tree: InlineTree, name: number, nameOf: (origin: number) => number): void {
    const { names, parents, callFiles, callLines } = this.#draft
    this.#draft.begin(tree.symbolAddress, name)
    for (let node = 1; node < tree.parents.length; node++) {
      parents.push(tree.parents[node] ?? 0)
      names.push(nameOf(tree.origins[node] ?? 0))
      callFiles.push(this.#file(tree.callFiles[node] ?? 0))
      callLines.push(tree.callLines[node] ?? 0)
    }
    for (const range of tree.ranges) this.#ranges.push(range)
    const changes = tree.changes()
    for (const [at, { address, node }] of changes.entries()) {
      if (node < 0) continue
      const isFirst = at === 0 || (changes[at - 1]?.node ?? -1) < 0
      if (isFirst) this.#draft.beginRange(address)
      const next = changes[at + 1]
      this.#rows(address, next?.address ?? address, node)
      if (next === undefined || next.node < 0) this.#flush(next?.address ?? address)
    }
  }

  /** Adds the lines that no function covers, such as assembly code, with the names of symbols. */
  addRest(symbols: SymbolNames): void {
    const lines = this.#lines
    if (lines === undefined) return
    this.#ranges.sort((a, b) => a.start - b.start)
    let at = 0
    let covered = 0
    for (const { first, last, start, end } of lines.sequences) {
      let from = Math.max(start, covered)
      const add = (to: number): void => {
        // Padding behind a function has no row of its own.
        const row = rowFrom(lines.addresses, first, last, from)
        const begin = lines.addresses[row] ?? Infinity
        if (row < last && begin < to) this.#addNamed(begin, to, symbols)
      }
      while (at < this.#ranges.length && (this.#ranges[at]?.start ?? 0) < end) {
        const range = this.#ranges[at] ?? { start: 0, end: 0 }
        if (range.start > from) add(range.start)
        from = Math.max(from, range.end)
        at++
      }
      if (from < end) add(end)
      covered = Math.max(from, end)
    }
  }

  #addNamed(start: number, end: number, symbols: SymbolNames): void {
    for (let from = start; from < end;) {
      const to = Math.min(end, symbols.after(from))
      const symbol = symbols.before(from)
      this.#draft.begin(symbol?.address ?? from, symbol?.name ?? 0)
      this.#draft.beginRange(from)
      this.#rows(from, to, 0)
      this.#flush(to)
      from = to
    }
  }

  #file(number: number): number {
    let text = this.#files.get(number)
    if (text === undefined) {
      text = this.#writer.text(this.#lines?.path(number) ?? '')
      this.#files.set(number, text)
    }
    return text
  }

  #rows(start: number, end: number, node: number): void {
    const lines = this.#lines
    const draft = this.#draft
    let from = start
    while (from < end) {
      if (draft.addresses.length >= MAX_ROWS) {
        this.#flush(from)
        draft.beginRange(from)
      }
      const sequence = lines?.sequences[firstOver(this.#ends, from)]
      if (lines === undefined || sequence === undefined || sequence.start >= end) {
        draft.row(from, node, 0, 0)
        return
      }
      if (sequence.start > from) {
        draft.row(from, node, 0, 0)
        from = sequence.start
        continue
      }
      for (let row = rowAt(lines.addresses, sequence.first, sequence.last, from); row < sequence.last; row++) {
        const address = Math.max(from, lines.addresses[row] ?? 0)
        if (address >= end) return
        if (draft.addresses.length >= MAX_ROWS) {
          this.#flush(address)
          draft.beginRange(address)
        }
        draft.row(address, node, this.#file(lines.files[row] ?? 0), lines.lines[row] ?? 0)
      }
      from = sequence.end
    }
  }

  #flush(end: number): void {
    this.#draft.end = end
    // Functions may overlap, so that each has all rows of a unit.
    this.#budget.spend(this.#draft.addresses.length)
    this.#writer.add(this.#draft)
  }
}

/** @returns the first place whose value is larger; values ascend */
function firstOver(values: readonly number[], wanted: number): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((values[middle] ?? 0) <= wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** @returns the first row from `first` on whose address is at least `wanted` */
function rowFrom(addresses: Float64Array, first: number, last: number, wanted: number): number {
  let [low, high] = [first, last]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((addresses[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** @returns the last row of a sequence whose address is at most `wanted` */
function rowAt(addresses: Float64Array, first: number, last: number, wanted: number): number {
  const row = rowFrom(addresses, first, last, wanted)
  return addresses[row] === wanted || row === first ? row : row - 1
}
