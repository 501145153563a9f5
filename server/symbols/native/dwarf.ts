import { AbbreviationReader } from './abbreviations.ts'
import { Cursor } from './cursor.ts'
import { FORM, TAG, UNIT } from './dwarf-codes.ts'
import { Entry, EntryReader, readUnits, readReference, skipEntry, unitAt } from './dwarf-units.ts'
import type { Attribute, Unit } from './dwarf-units.ts'
import { FunctionDraft } from './function-draft.ts'
import type { IndexWriter } from './index-writer.ts'
import { InlineTree } from './inline-tree.ts'
import { LineRows, readLineTable, type LineTable } from './line-table.ts'
import { isCode, type AddressRange, type ObjectFile } from './native-object.ts'
import { RangeReader, type UnitBases } from './range-lists.ts'
import { memorySection, type Budget, type Section } from './section.ts'
import type { SymbolNames } from './symbol-names.ts'
import { UnitCode } from './unit-code.ts'

/** Entries nested deeper come from damaged files. */
const MAX_DEPTH = 1_000
const MAX_ORIGINS = 16
/** More than the inlined functions of most files: where there are more, some are read again. */
const MAX_KEPT = 262_144

/**
 * Adds the functions of all units to an index (DWARF 2 to 5). A unit is read, used and let go; a damaged one is left
 * out.
 *
 * @returns whether any unit could be read
 */
export function addDwarf(file: ObjectFile, writer: IndexWriter, names: SymbolNames, budget: Budget): boolean {
  const info = file.debugSection('debug_info')
  const abbreviations = file.debugSection('debug_abbrev')
  if (info === undefined || abbreviations === undefined) return false
  const reader = new DwarfReader(file, info, abbreviations, writer, names, budget)
  let readable = 0
  for (const unit of reader.units) {
    try {
      reader.addUnit(unit)
      readable++
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }
  return readable > 0
}

type Scope = { readonly tree: InlineTree | undefined; readonly node: number }
const OUTSIDE: Scope = { tree: undefined, node: 0 }

class DwarfReader {
  readonly units: readonly Unit[]
  readonly #code: readonly AddressRange[]
  readonly #info: Section
  readonly #line: Section | undefined
  readonly #str: Section
  readonly #lineStr: Section
  readonly #strOffsets: Section
  readonly #ranges: RangeReader
  readonly #entries: EntryReader
  readonly #writer: IndexWriter
  readonly #symbols: SymbolNames
  readonly #budget: Budget
  readonly #entry = new Entry()
  readonly #other = new Entry()
  readonly #draft = new FunctionDraft()
  readonly #rows = new LineRows()
  /** Names of inlined functions by the offset of their entry, and texts by their offset in `.debug_str`: the last ones. */
  readonly #names = new Map<number, number>()
  readonly #strings = new Map<number, number>()
  readonly #bases = new Map<Unit, UnitBases>()

  constructor(
    file: ObjectFile,
    info: Section,
    abbreviations: Section,
    writer: IndexWriter,
    symbols: SymbolNames,
    budget: Budget,
  ) {
    const empty = memorySection(Buffer.alloc(0))
    this.#code = file.code
    this.#info = info
    this.#line = file.debugSection('debug_line')
    this.#str = file.debugSection('debug_str') ?? empty
    this.#lineStr = file.debugSection('debug_line_str') ?? empty
    this.#strOffsets = file.debugSection('debug_str_offsets') ?? empty
    this.#ranges = new RangeReader(
      {
        ranges: file.debugSection('debug_ranges'),
        rnglists: file.debugSection('debug_rnglists'),
        addr: file.debugSection('debug_addr'),
      },
      budget,
    )
    this.#entries = new EntryReader(info, new AbbreviationReader(abbreviations, budget))
    this.#writer = writer
    this.#symbols = symbols
    this.#budget = budget
    this.units = readUnits(info)
  }

  addUnit(unit: Unit): void {
    // Its functions are part of the units that import it.
    if (unit.type === UNIT.partial) return
    const cursor = new Cursor(this.#info.read(unit.start, unit.end - unit.start), unit.entries - unit.start)
    this.#entries.current = { unit, bytes: cursor.bytes }
    const table = this.#entries.abbreviationsOf(unit)
    const first = table.get(cursor.uleb())
    if (first === undefined) return
    const entry = this.#entry
    entry.read(cursor, first, unit.format)
    const bases = this.#basesOf(entry, unit)
    this.#bases.clear()
    this.#bases.set(unit, bases)
    const code = new UnitCode(
      this.#draft,
      this.#writer,
      entry.stmtList.form === 0
        ? undefined
        : this.#lineTable(entry.stmtList.value, this.#attributeText(entry.compDir, unit, cursor.bytes), unit),
      this.#budget,
    )
    if (!first.hasChildren) {
      code.addRest(this.#symbols)
      return
    }

    const scopes: Scope[] = [OUTSIDE]
    while (!cursor.ended && scopes.length > 0) {
      const offset = unit.start + cursor.at
      const number = cursor.uleb()
      const scope = scopes.at(-1) ?? OUTSIDE
      if (number === 0) {
        scopes.pop()
        // The scope that began with a function ends with it.
        if (scope.tree !== undefined && scope.tree !== scopes.at(-1)?.tree) this.#finish(scope.tree, unit, code)
        continue
      }
      const abbreviation = table.get(number)
      if (abbreviation === undefined) throw new RangeError('an entry with an unknown abbreviation')
      let inner = scope
      if (!abbreviation.isCode) skipEntry(cursor, abbreviation, unit.format)
      else {
        entry.read(cursor, abbreviation, unit.format)
        inner = this.#scopeOf(abbreviation.tag, offset, scope, unit, bases)
      }
      if (!abbreviation.hasChildren) {
        if (inner.tree !== undefined && inner.tree !== scope.tree) this.#finish(inner.tree, unit, code)
      } else if (scopes.push(inner) > MAX_DEPTH) throw new RangeError('entries are nested too deeply')
    }
    code.addRest(this.#symbols)
  }

  /** @returns the scope of the children of the function or inlined call that `#entry` holds */
  #scopeOf(tag: number, offset: number, scope: Scope, unit: Unit, bases: UnitBases): Scope {
    const entry = this.#entry
    const ranges = this.#ranges.rangesOf(entry, unit, bases)
    if (tag === TAG.subprogram) {
      const own = ranges.filter(({ start }) => isCode(this.#code, start))
      const [first] = own
      if (first === undefined) return OUTSIDE
      // The entry point is in the first range that is listed.
      return { tree: new InlineTree(offset, first.start, own), node: 0 }
    }
    if (scope.tree === undefined || ranges.length === 0) return scope
    const origin = entry.origin.form === 0 ? offset : readReference(entry.origin, unit)
    return { tree: scope.tree, node: scope.tree.add(scope.node, origin, entry.callFile, entry.callLine, ranges) }
  }

  #finish(tree: InlineTree, unit: Unit, code: UnitCode): void {
    const name = this.#symbols.at(tree.symbolAddress, this.#readName(tree.entry, unit))
    code.add(tree, name, (origin) => this.#nameOf(origin, unit))
  }

  #lineTable(at: number, compDir: string, unit: Unit): LineTable | undefined {
    if (this.#line === undefined) return undefined
    try {
      return readLineTable(
        { line: this.#line, str: this.#str, lineStr: this.#lineStr },
        at,
        { compDir, addressSize: unit.format.addressSize },
        this.#code,
        this.#rows,
        this.#budget,
      )
    } catch (error) {
      // Names without lines are better than nothing.
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  #basesOf(entry: Entry, unit: Unit): UnitBases {
    const { format } = unit
    // The tables of a unit without these attributes begin behind the first header (7.26).
    const header = format.offsetSize === 4 ? 8 : 16
    const bases = {
      addresses: entry.addrBase >= 0 ? entry.addrBase : format.version >= 5 ? header : 0,
      rangeLists: entry.rnglistsBase >= 0 ? entry.rnglistsBase : header + 4,
      stringOffsets: entry.strOffsetsBase >= 0 ? entry.strOffsetsBase : format.version >= 5 ? header : 0,
      low: 0,
    }
    return { ...bases, low: entry.lowPc.form === 0 ? 0 : this.#ranges.address(entry.lowPc, unit, bases) }
  }

  /** The name of an entry that many calls may refer to. */
  #nameOf(start: number, current: Unit): number {
    let name = this.#names.get(start)
    if (name === undefined) {
      name = this.#readName(start, current)
      keep(this.#names, start, name)
    }
    return name
  }

  /**
   * The name of an entry, the linkage name before the plain one, its own or the name of the entry it completes
   * (DW_AT_abstract_origin and DW_AT_specification), in whichever unit.
   */
  #readName(start: number, current: Unit): number {
    let name = 0
    let offset = start
    for (let step = 0; step < MAX_ORIGINS && offset >= 0; step++) {
      const unit = offset >= current.entries && offset < current.end ? current : unitAt(this.units, offset)
      const entry = this.#other
      const bytes = unit === undefined ? undefined : this.#entries.read(unit, offset, entry)
      if (unit === undefined || bytes === undefined) break
      const origin = entry.origin.form === 0 ? -1 : readReference(entry.origin, unit)
      const plain = { ...entry.name }
      const linkage = this.#attributeName(entry.linkageName, unit, bytes)
      if (linkage !== 0) {
        name = linkage
        break
      }
      if (name === 0) name = this.#attributeName(plain, unit, bytes)
      offset = origin
    }
    return name
  }

  #attributeName(attribute: Attribute, unit: Unit, bytes: Buffer): number {
    if (attribute.form === 0) return 0
    if (attribute.form !== FORM.strp) return this.#writer.text(this.#attributeText(attribute, unit, bytes))
    let number = this.#strings.get(attribute.value)
    if (number === undefined) {
      number = this.#writer.text(this.#str.text(attribute.value))
      keep(this.#strings, attribute.value, number)
    }
    return number
  }

  /** @param bytes what the entry was read from */
  #attributeText({ form, value }: Attribute, unit: Unit, bytes: Buffer): string {
    switch (form) {
      case FORM.string:
        return new Cursor(bytes, value).text()
      case FORM.strp:
        return this.#str.text(value)
      case FORM.lineStrp:
        return this.#lineStr.text(value)
      case FORM.strx:
      case FORM.strx1:
      case FORM.strx2:
      case FORM.strx3:
      case FORM.strx4:
      case FORM.gnuStrIndex: {
        const size = unit.format.offsetSize
        const at = this.#stringOffsets(unit) + value * size
        return this.#str.text(this.#strOffsets.cursor(at, size).unsigned(size))
      }
      default:
        return ''
    }
  }

  #stringOffsets(unit: Unit): number {
    let bases = this.#bases.get(unit)
    if (bases === undefined) {
      const entry = new Entry()
      this.#entries.read(unit, unit.entries, entry)
      bases = this.#basesOf(entry, unit)
      this.#bases.set(unit, bases)
    }
    return bases.stringOffsets
  }
}

function keep(map: Map<number, number>, key: number, value: number): void {
  if (map.size >= MAX_KEPT) map.clear()
  map.set(key, value)
}
