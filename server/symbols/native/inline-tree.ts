import type { AddressRange } from './native-object.ts'

/** A function and the calls that were inlined into it, as the entries of a unit nest them. */
export class InlineTree {
  /** Offset of the function's entry. */
  readonly entry: number
  readonly symbolAddress: number
  readonly ranges: readonly AddressRange[]
  /** By node; node 0 is the function. */
  readonly parents: number[] = [0]
  readonly origins: number[] = [0]
  readonly callFiles: number[] = [0]
  readonly callLines: number[] = [0]
  readonly #depths: number[] = [0]
  readonly #intervals: { start: number; end: number; node: number; depth: number }[]

  constructor(entry: number, symbolAddress: number, ranges: readonly AddressRange[]) {
    this.entry = entry
    this.symbolAddress = symbolAddress
    this.ranges = ranges
    this.#intervals = ranges.map(({ start, end }) => ({ start, end, node: 0, depth: 0 }))
  }

  /**
   * @param origin offset of the entry that names the inlined function
   * @returns the new node
   */
  add(parent: number, origin: number, callFile: number, callLine: number, ranges: readonly AddressRange[]): number {
    const node = this.parents.push(parent) - 1
    const depth = (this.#depths[parent] ?? 0) + 1
    this.#depths.push(depth)
    this.origins.push(origin)
    this.callFiles.push(callFile)
    this.callLines.push(callLine)
    for (const { start, end } of ranges) this.#intervals.push({ start, end, node, depth })
    return node
  }

  /**
   * Flattens the nested ranges.
   *
   * @returns where the innermost node changes, by address; node -1 is outside of the function
   */
  changes(): { readonly address: number; readonly node: number }[] {
    const changes: { address: number; node: number }[] = []
    const change = (address: number, node: number): void => {
      const last = changes.at(-1)
      if (last?.address === address) last.node = node
      else changes.push({ address, node })
    }
    const open: { end: number; node: number }[] = []
    const close = (until: number): void => {
      for (let top = open.at(-1); top !== undefined && top.end <= until; top = open.at(-1)) {
        open.pop()
        change(top.end, open.at(-1)?.node ?? -1)
      }
    }
    this.#intervals.sort((a, b) => a.start - b.start || a.depth - b.depth || b.end - a.end)
    for (const { start, end, node } of this.#intervals) {
      close(start)
      const outer = open.at(-1)
      // A call outside of its function comes from a damaged file.
      if (outer === undefined && node > 0) continue
      open.push({ end: Math.min(end, outer?.end ?? end), node })
      change(start, node)
    }
    close(Infinity)
    return changes
  }
}
