import type { IndexWriter } from './index-writer.ts'
import type { SymbolTable } from './native-object.ts'

/** Names of functions by the symbols at their addresses. */
export class SymbolNames {
  readonly #symbols: SymbolTable
  readonly #writer: IndexWriter

  constructor(symbols: SymbolTable, writer: IndexWriter) {
    this.#symbols = symbols
    this.#writer = writer
  }

  /** @returns the number of the first symbol at or after an address */
  firstFrom(address: number): number {
    const { addresses, count } = this.#symbols
    let [low, high] = [0, count]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((addresses[middle] ?? 0) < address) low = middle + 1
      else high = middle
    }
    return low
  }

  /** @returns the address of the first symbol after `address` */
  after(address: number): number {
    let at = this.firstFrom(address)
    while (at < this.#symbols.count && this.#symbols.addresses[at] === address) at++
    return this.#symbols.addresses[at] ?? Infinity
  }

  /** @returns the last symbol at or before an address, unless it ends before */
  before(address: number): { readonly address: number; readonly name: number } | undefined {
    const { addresses, sizes } = this.#symbols
    let at = this.firstFrom(address)
    if (addresses[at] !== address) at = at === 0 ? 0 : this.firstFrom(addresses[at - 1] ?? 0)
    const [start, size] = [addresses[at] ?? Infinity, sizes[at] ?? 0]
    if (start > address || (size > 0 && start + size <= address)) return undefined
    return { address: start, name: this.#writer.text(this.#symbols.name(at)) }
  }

  /**
   * The name of a function that begins at an address. Symbols have the whole name where debug information has only a
   * plain one. Its own name stays where a symbol has it too, also with the suffix of a clone such as `.constprop.0`.
   *
   * @param own the name in the debug information
   */
  at(address: number, own: number): number {
    const { addresses, count } = this.#symbols
    const ownText = this.#writer.textOf(own)
    let name = 0
    for (let at = this.firstFrom(address); at < count && addresses[at] === address; at++) {
      const symbol = this.#symbols.name(at)
      if (symbol === ownText || (ownText !== '' && symbol.startsWith(`${ownText}.`))) return own
      if (name === 0) name = this.#writer.text(symbol)
    }
    return name === 0 ? own : name
  }
}
