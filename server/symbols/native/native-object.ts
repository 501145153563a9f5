import type { Section } from './section.ts'

/** One image that a file has symbols of: a slice of a Mach-O file, an ELF file or a Breakpad file. */
export type NativeObject = {
  readonly kind: 'macho' | 'elf' | 'breakpad'
  /** As SDKs send it in `debug_meta.images[].debug_id`: lower-case UUID text, for Breakpad with an age other than 0. */
  readonly debugId: string
  /** The identifier of the code as the platform writes it, hexadecimal: LC_UUID or the GNU build id. */
  readonly codeId: string | null
  readonly cpuName: string
  readonly features: NativeFeatures
  /** The name of the file that the object says it belongs to. */
  readonly name: string | null
  /** Where the object is in the file. */
  readonly offset: number
  readonly size: number
}

type NativeFeatures = {
  readonly symtab: boolean
  readonly debug: boolean
  readonly unwind: boolean
  readonly sources: boolean
}

/** A range of addresses, the end excluded. */
export type AddressRange = { readonly start: number; readonly end: number }

/** The function symbols of an object. A size of 0 means: up to the next symbol. */
export type SymbolTable = {
  readonly count: number
  readonly addresses: Float64Array
  readonly sizes: Float64Array
  name(at: number): string
}

/** A Mach-O slice or an ELF file, as far as symbols need it. Addresses are those of the file. */
export type ObjectFile = {
  readonly object: NativeObject
  /** The address that the image's address at run time corresponds to. */
  readonly baseAddress: number
  /** Where code is. Entries of removed functions refer to other places. */
  readonly code: readonly AddressRange[]
  /** DWARF sections by their ELF names without the dot, such as `debug_info`. */
  debugSection(name: string): Section | undefined
  symbols(): SymbolTable
}

/** 16 bytes as the text of a UUID. */
export function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

export const isCode = (code: readonly AddressRange[], address: number): boolean =>
  code.some(({ start, end }) => address >= start && address < end)

/** Collects symbols, then sorts them by address. */
export class SymbolCollector {
  #addresses: number[] = []
  #sizes: number[] = []
  #names: number[] = []

  add(address: number, size: number, name: number): void {
    this.#addresses.push(address)
    this.#sizes.push(size)
    this.#names.push(name)
  }

  get count(): number {
    return this.#addresses.length
  }

  /** @param nameAt reads the name whose place was given to `add` */
  sorted(nameAt: (name: number) => string): SymbolTable {
    const order = Uint32Array.from(this.#addresses.keys())
    const addressOf = (at: number): number => this.#addresses[at] ?? 0
    const sizeOf = (at: number): number => this.#sizes[at] ?? 0
    // Where symbols share an address, one with a size comes first.
    order.sort((a, b) => addressOf(a) - addressOf(b) || sizeOf(b) - sizeOf(a) || a - b)
    const addresses = Float64Array.from(order, addressOf)
    const sizes = Float64Array.from(order, sizeOf)
    const names = Uint32Array.from(order, (at) => this.#names[at] ?? 0)
    // The table is used for as long as the index is built.
    this.#addresses = this.#sizes = this.#names = []
    return { count: order.length, addresses, sizes, name: (at) => nameAt(names[at] ?? 0) }
  }
}

/** A larger table belongs to no program that is known. */
export const MAX_SYMBOLS = 4_000_000
