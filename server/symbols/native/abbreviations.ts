import { AT, FORM, TAG } from './dwarf-codes.ts'
import { fixedSize, type UnitFormat } from './dwarf-forms.ts'
import type { Budget, Section } from './section.ts'

/** The form of all entries with one code (DWARF 5, 7.5.3). */
export type Abbreviation = {
  readonly tag: number
  readonly hasChildren: boolean
  readonly names: readonly number[]
  readonly forms: readonly number[]
  readonly implicit: readonly number[]
  /** The bytes of an entry's attributes where that is the same for each entry, else -1. */
  readonly fixedSize: number
  /** Whether the index needs its attributes when the unit is walked. */
  readonly isCode: boolean
}

export type Abbreviations = ReadonlyMap<number, Abbreviation>

const MAX_ATTRIBUTES = 1_000
const FIRST_WINDOW_BYTES = 64 * 1024

/** Reads tables of abbreviations and keeps the last ones: units often share one. */
export class AbbreviationReader {
  readonly #section: Section
  readonly #budget: Budget
  readonly #tables = new Map<string, Abbreviations>()

  constructor(section: Section, budget: Budget) {
    this.#section = section
    this.#budget = budget
  }

  table(at: number, format: UnitFormat): Abbreviations {
    const key = `${at} ${format.version} ${format.addressSize} ${format.offsetSize}`
    const known = this.#tables.get(key)
    if (known !== undefined) return known
    const table = this.#read(at, format)
    if (this.#tables.size >= 32) this.#tables.delete(this.#tables.keys().next().value ?? '')
    this.#tables.set(key, table)
    return table
  }

  #read(at: number, format: UnitFormat): Abbreviations {
    if (at >= this.#section.size) throw new RangeError('abbreviations outside of their section')
    for (let length = FIRST_WINDOW_BYTES; ; length *= 8) {
      const isWhole = at + length >= this.#section.size
      this.#budget.spend(Math.min(length, this.#section.size - at) / 64)
      try {
        return this.#parse(at, length, format)
      } catch (error) {
        // The table continues after the window.
        if (!(error instanceof RangeError) || isWhole) throw error
      }
    }
  }

  #parse(at: number, length: number, format: UnitFormat): Abbreviations {
    const cursor = this.#section.cursor(at, length)
    const table = new Map<number, Abbreviation>()
    for (;;) {
      const code = cursor.uleb()
      if (code === 0) return table
      const tag = cursor.uleb()
      const hasChildren = cursor.u8() !== 0
      const names: number[] = []
      const forms: number[] = []
      const implicit: number[] = []
      let size = 0
      for (;;) {
        const name = cursor.uleb()
        const form = cursor.uleb()
        const value = form === FORM.implicitConst ? cursor.sleb() : 0
        if (name === 0 && form === 0) break
        if (names.length >= MAX_ATTRIBUTES) throw new RangeError('an abbreviation with too many attributes')
        names.push(name)
        forms.push(form)
        implicit.push(value)
        const bytes = fixedSize(form, format)
        size = bytes < 0 || size < 0 ? -1 : size + bytes
      }
      this.#budget.spend(1 + names.length)
      const hasCode = names.includes(AT.lowPc) || names.includes(AT.ranges)
      const isCode = (tag === TAG.subprogram || tag === TAG.inlinedSubroutine) && hasCode
      // The first of two entries with one code counts.
      if (!table.has(code)) table.set(code, { tag, hasChildren, names, forms, implicit, fixedSize: size, isCode })
    }
  }
}
