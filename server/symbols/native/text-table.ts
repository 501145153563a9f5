const CHUNK_BYTES = 1024 * 1024

/**
 * Texts by number, each once. They are bytes beside the heap: a file may have hundreds of megabytes of names, which each
 * collection would go through as strings.
 */
export class TextTable {
  readonly #chunks: Buffer[] = []
  #chunkUsed = 0
  #count = 1
  /** Chunk, start and end of each text. */
  #places = new Uint32Array(3 * 1024)
  /** The number of a text at the place that its hash says, or at the next ones; 0 where there is none. */
  #slots = new Uint32Array(2 * 1024)

  /** @returns the number of a text, 0 for the empty one */
  add(text: string): number {
    if (text === '') return 0
    let chunk = this.#chunks.at(-1)
    const most = 3 * text.length
    if (chunk === undefined || this.#chunkUsed + most > chunk.length) {
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, most))
      this.#chunks.push(chunk)
      this.#chunkUsed = 0
    }
    // A text that is known is overwritten by the next one.
    const bytes = chunk.subarray(this.#chunkUsed, this.#chunkUsed + chunk.write(text, this.#chunkUsed))
    const slot = this.#slotOf(bytes)
    const known = this.#slots[slot] ?? 0
    if (known > 0) return known
    if (2 * this.#count >= this.#slots.length) {
      this.#grow()
      return this.add(text)
    }
    const number = this.#count++
    this.#slots[slot] = number
    this.#places.set([this.#chunks.length - 1, this.#chunkUsed, this.#chunkUsed + bytes.length], 3 * number)
    this.#chunkUsed += bytes.length
    return number
  }

  bytes(number: number): Buffer {
    const at = 3 * number
    const chunk = number === 0 ? undefined : this.#chunks[this.#places[at] ?? 0]
    return chunk?.subarray(this.#places[at + 1], this.#places[at + 2]) ?? Buffer.alloc(0)
  }

  /** @returns the slot of a text, or the free one that it belongs to */
  #slotOf(bytes: Buffer): number {
    const last = this.#slots.length - 1
    let slot = hashOf(bytes) & last
    for (let number = this.#slots[slot] ?? 0; number > 0; number = this.#slots[slot] ?? 0) {
      if (this.bytes(number).equals(bytes)) break
      slot = (slot + 1) & last
    }
    return slot
  }

  #grow(): void {
    const places = this.#places
    this.#places = new Uint32Array(2 * places.length)
    this.#places.set(places)
    this.#slots = new Uint32Array(2 * this.#slots.length)
    for (let number = 1; number < this.#count; number++) this.#slots[this.#slotOf(this.bytes(number))] = number
  }
}

/** FNV-1a. */
function hashOf(bytes: Buffer): number {
  let hash = 0x811c_9dc5
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x0100_0193)
  return hash ^ (hash >>> 15)
}
