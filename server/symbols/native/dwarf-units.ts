import type { Abbreviation, AbbreviationReader, Abbreviations } from './abbreviations.ts'
import { Cursor } from './cursor.ts'
import { AT, FORM, UNIT } from './dwarf-codes.ts'
import { readForm, type UnitFormat } from './dwarf-forms.ts'
import type { Section } from './section.ts'

/** Header of a unit of `.debug_info` (DWARF 5, 7.5.1). */
export type Unit = {
  /** Offset of the header, of the first entry and of the end. */
  readonly start: number
  readonly entries: number
  readonly end: number
  readonly abbreviationsAt: number
  readonly format: UnitFormat
  readonly type: number
}

const MAX_UNIT_BYTES = 256 * 1024 * 1024

/** @returns the headers of all units, without type units, up to the first that is damaged */
export function readUnits(info: Section): Unit[] {
  const units: Unit[] = []
  let start = 0
  while (start + 11 < info.size) {
    const cursor = new Cursor(info.read(start, Math.min(40, info.size - start)))
    let length = cursor.u32()
    let offsetSize = 4
    if (length === 0xffff_ffff) {
      length = cursor.u64()
      offsetSize = 8
    }
    const end = start + cursor.at + length
    if (end > info.size || length < 7) break
    const version = cursor.u16()
    if (version >= 2 && version <= 5) {
      const type = version === 5 ? cursor.u8() : UNIT.compile
      let addressSize = version === 5 ? cursor.u8() : 0
      const abbreviationsAt = cursor.unsigned(offsetSize)
      if (version < 5) addressSize = cursor.u8()
      if (type === UNIT.skeleton || type === UNIT.splitCompile) cursor.skip(8)
      const isUsable = (addressSize === 4 || addressSize === 8) && length <= MAX_UNIT_BYTES
      if (isUsable && type !== UNIT.type && type !== UNIT.splitType) {
        const format = { version, addressSize, offsetSize }
        units.push({ start, entries: start + cursor.at, end, abbreviationsAt, format, type })
      }
    }
    start = end
  }
  return units
}

/** @returns the unit that holds an offset of `.debug_info` */
export function unitAt(units: readonly Unit[], offset: number): Unit | undefined {
  let [low, high] = [0, units.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((units[middle]?.end ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  const unit = units[low]
  return unit !== undefined && offset >= unit.entries ? unit : undefined
}

/** An attribute as it is written. The form says what the value means. */
export type Attribute = { form: number; value: number }

/** The attributes of one entry that symbols need. One object is used again for each entry. */
export class Entry {
  readonly name: Attribute = { form: 0, value: 0 }
  readonly linkageName: Attribute = { form: 0, value: 0 }
  readonly lowPc: Attribute = { form: 0, value: 0 }
  readonly highPc: Attribute = { form: 0, value: 0 }
  readonly ranges: Attribute = { form: 0, value: 0 }
  readonly origin: Attribute = { form: 0, value: 0 }
  readonly compDir: Attribute = { form: 0, value: 0 }
  readonly stmtList: Attribute = { form: 0, value: 0 }
  callFile = 0
  callLine = 0
  addrBase = -1
  rnglistsBase = -1
  strOffsetsBase = -1

  read(cursor: Cursor, abbreviation: Abbreviation, format: UnitFormat): void {
    this.name.form = this.linkageName.form = this.lowPc.form = this.highPc.form = 0
    this.ranges.form = this.origin.form = this.compDir.form = this.stmtList.form = 0
    this.callFile = this.callLine = 0
    this.addrBase = this.rnglistsBase = this.strOffsetsBase = -1
    const { names, forms, implicit } = abbreviation
    for (let at = 0; at < forms.length; at++) {
      let form = forms[at] ?? 0
      if (form === FORM.indirect) form = cursor.uleb()
      const value = readForm(cursor, form, format, implicit[at] ?? 0)
      const target = this.#attribute(names[at] ?? 0, value)
      if (target !== undefined) {
        target.form = form
        target.value = value
      }
    }
  }

  #attribute(name: number, value: number): Attribute | undefined {
    switch (name) {
      case AT.name:
        return this.name
      case AT.linkageName:
      case AT.mipsLinkageName:
        return this.linkageName
      case AT.lowPc:
        return this.lowPc
      case AT.highPc:
        return this.highPc
      case AT.ranges:
        return this.ranges
      case AT.abstractOrigin:
      case AT.specification:
        return this.origin
      case AT.compDir:
        return this.compDir
      case AT.stmtList:
        return this.stmtList
      case AT.callFile:
        this.callFile = value
        return undefined
      case AT.callLine:
        // Damaged files have any number.
        this.callLine = value >= 0 && value <= 0xffff_ffff ? value : 0
        return undefined
      case AT.addrBase:
      case AT.gnuAddrBase:
        this.addrBase = value
        return undefined
      case AT.rnglistsBase:
        this.rnglistsBase = value
        return undefined
      case AT.strOffsetsBase:
        this.strOffsetsBase = value
        return undefined
      default:
        return undefined
    }
  }
}

export function skipEntry(cursor: Cursor, abbreviation: Abbreviation, format: UnitFormat): void {
  if (abbreviation.fixedSize >= 0) {
    cursor.skip(abbreviation.fixedSize)
    return
  }
  for (let form of abbreviation.forms) {
    if (form === FORM.indirect) form = cursor.uleb()
    readForm(cursor, form, format, 0)
  }
}

/** @returns the offset in `.debug_info` that a reference leads to, or -1 where it leads to another file */
export function readReference({ form, value }: Attribute, unit: Unit): number {
  switch (form) {
    case FORM.ref1:
    case FORM.ref2:
    case FORM.ref4:
    case FORM.ref8:
    case FORM.refUdata:
      return unit.start + value
    case FORM.refAddr:
      return value
    default:
      return -1
  }
}

const ENTRY_BYTES = 1_024
const MAX_ENTRY_BYTES = 64 * 1024

/** Reads single entries of any unit, for references from one unit to another. */
export class EntryReader {
  readonly #info: Section
  readonly #abbreviations: AbbreviationReader
  /** The unit that is in memory, as a whole. */
  current: { readonly unit: Unit; readonly bytes: Buffer } | undefined

  constructor(info: Section, abbreviations: AbbreviationReader) {
    this.#info = info
    this.#abbreviations = abbreviations
  }

  abbreviationsOf(unit: Unit): Abbreviations {
    return this.#abbreviations.table(unit.abbreviationsAt, unit.format)
  }

  /**
   * Reads the entry at an offset of `.debug_info` into `entry`.
   *
   * @returns the bytes that inline strings of the entry are in, or undefined where no entry begins
   */
  read(unit: Unit, offset: number, entry: Entry): Buffer | undefined {
    const table = this.abbreviationsOf(unit)
    if (unit === this.current?.unit) {
      const cursor = new Cursor(this.current.bytes, offset - unit.start)
      const abbreviation = table.get(cursor.uleb())
      if (abbreviation === undefined) return undefined
      entry.read(cursor, abbreviation, unit.format)
      return cursor.bytes
    }
    for (let length = ENTRY_BYTES; ; length = MAX_ENTRY_BYTES) {
      const isWhole = length === MAX_ENTRY_BYTES || offset + length >= unit.end
      const cursor = this.#info.cursor(offset, Math.min(length, unit.end - offset))
      try {
        const abbreviation = table.get(cursor.uleb())
        if (abbreviation === undefined) return undefined
        entry.read(cursor, abbreviation, unit.format)
        return cursor.bytes
      } catch (error) {
        if (!(error instanceof RangeError)) throw error
        if (isWhole) return undefined
      }
    }
  }
}
