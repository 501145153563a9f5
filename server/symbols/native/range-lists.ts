import type { Cursor } from './cursor.ts'
import { FORM } from './dwarf-codes.ts'
import type { Attribute, Unit } from './dwarf-units.ts'
import type { AddressRange } from './native-object.ts'
import type { Budget, Section } from './section.ts'

/** Where the tables of a unit begin (DWARF 5, 3.1.1), and its base address. */
export type UnitBases = {
  readonly addresses: number
  readonly rangeLists: number
  readonly stringOffsets: number
  readonly low: number
}

type RangeSections = { readonly ranges?: Section; readonly rnglists?: Section; readonly addr?: Section }

const MAX_RANGES = 100_000
const WINDOW_BYTES = 4_096
/** The longest entry: a code and two padded LEB128 numbers. */
const ENTRY_BYTES = 40

const ADDRESS_INDEX = new Set<number>([
  FORM.addrx,
  FORM.addrx1,
  FORM.addrx2,
  FORM.addrx3,
  FORM.addrx4,
  FORM.gnuAddrIndex,
])

/** Reads addresses and ranges of the entries of one unit. */
export class RangeReader {
  readonly #sections: RangeSections
  readonly #budget: Budget

  constructor(sections: RangeSections, budget: Budget) {
    this.#sections = sections
    this.#budget = budget
  }

  /** @returns the address, directly or through `.debug_addr` (7.27) */
  address({ form, value }: Attribute, unit: Unit, bases: UnitBases): number {
    return ADDRESS_INDEX.has(form) ? this.#indexed(value, unit, bases) : value
  }

  #indexed(index: number, unit: Unit, bases: UnitBases): number {
    const size = unit.format.addressSize
    const { addr } = this.#sections
    if (addr === undefined) throw new RangeError('an address index without .debug_addr')
    return addr.cursor(bases.addresses + index * size, size).unsigned(size)
  }

  /** The ranges that DW_AT_low_pc and DW_AT_high_pc, or DW_AT_ranges, give an entry (2.17). */
  rangesOf(
    entry: { readonly lowPc: Attribute; readonly highPc: Attribute; readonly ranges: Attribute },
    unit: Unit,
    bases: UnitBases,
  ): AddressRange[] {
    const { lowPc, highPc, ranges } = entry
    if (ranges.form !== 0) return this.#list(ranges, unit, bases)
    if (lowPc.form === 0 || highPc.form === 0) return []
    const start = this.address(lowPc, unit, bases)
    const isAddress = highPc.form === FORM.addr || ADDRESS_INDEX.has(highPc.form)
    const end = isAddress ? this.address(highPc, unit, bases) : start + highPc.value
    return end > start ? [{ start, end }] : []
  }

  #list({ form, value }: Attribute, unit: Unit, bases: UnitBases): AddressRange[] {
    if (unit.format.version < 5) return this.#oldList(value, unit, bases)
    const { rnglists } = this.#sections
    if (rnglists === undefined) return []
    if (form !== FORM.rnglistx) return this.#rangeList(rnglists, value, unit, bases)
    const size = unit.format.offsetSize
    const offset = rnglists.cursor(bases.rangeLists + value * size, size).unsigned(size)
    return this.#rangeList(rnglists, bases.rangeLists + offset, unit, bases)
  }

  /** `.debug_ranges` of DWARF 2 to 4 (DWARF 4, 2.17.3). */
  #oldList(start: number, unit: Unit, bases: UnitBases): AddressRange[] {
    const { ranges } = this.#sections
    if (ranges === undefined) return []
    const size = unit.format.addressSize
    const baseSelector = size === 8 ? 2 ** 64 : 0xffff_ffff
    const found: AddressRange[] = []
    let base = bases.low
    for (const cursor of this.#entries(ranges, start)) {
      const from = cursor.unsigned(size)
      const to = cursor.unsigned(size)
      if (from === 0 && to === 0) break
      if (from === baseSelector) base = to
      else if (to > from) found.push({ start: base + from, end: base + to })
    }
    return found
  }

  /** `.debug_rnglists` of DWARF 5 (2.17.3, 7.25). */
  #rangeList(section: Section, start: number, unit: Unit, bases: UnitBases): AddressRange[] {
    const size = unit.format.addressSize
    const indexed = (index: number): number => this.#indexed(index, unit, bases)
    const found: AddressRange[] = []
    const add = (from: number, to: number): void => {
      if (to > from) found.push({ start: from, end: to })
    }
    let base = bases.low
    for (const cursor of this.#entries(section, start)) {
      const kind = cursor.u8()
      if (kind === 0) break
      if (kind === 1) base = indexed(cursor.uleb())
      else if (kind === 2) add(indexed(cursor.uleb()), indexed(cursor.uleb()))
      else if (kind === 3) {
        const from = indexed(cursor.uleb())
        add(from, from + cursor.uleb())
      } else if (kind === 4) add(base + cursor.uleb(), base + cursor.uleb())
      else if (kind === 5) base = cursor.unsigned(size)
      else if (kind === 6) add(cursor.unsigned(size), cursor.unsigned(size))
      else if (kind === 7) {
        const from = cursor.unsigned(size)
        add(from, from + cursor.uleb())
      } else throw new RangeError(`a range of kind ${kind}`)
    }
    return found
  }

  /** Yields one cursor, before each entry of a list. */
  *#entries(section: Section, start: number): Generator<Cursor> {
    let windowAt = start
    let cursor = section.cursor(windowAt, WINDOW_BYTES)
    for (let count = 0; count < MAX_RANGES; count++) {
      if (cursor.at + ENTRY_BYTES > cursor.bytes.length && windowAt + cursor.bytes.length < section.size) {
        windowAt += cursor.at
        cursor = section.cursor(windowAt, WINDOW_BYTES)
      }
      this.#budget.spend(1)
      yield cursor
    }
    throw new RangeError('a list of too many ranges')
  }
}
