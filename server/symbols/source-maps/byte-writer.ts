/** Bytes that grow as they are written. Variable-length integers have seven bits a byte, the lowest first. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(64 * 1024)
  length = 0

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.length++] = value
  }

  int32(value: number): void {
    this.#reserve(4)
    this.length = this.#bytes.writeInt32LE(value, this.length)
  }

  /** @param value not negative, below 2^32 */
  varint(value: number): void {
    this.#reserve(5)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#bytes[this.length++] = rest
  }

  /** @param value a difference of two numbers of 31 bits, which therefore fits 32 with its sign */
  signed(value: number): void {
    this.varint(((value << 1) ^ (value >> 31)) >>> 0)
  }

  raw(bytes: Buffer): void {
    this.#reserve(bytes.length)
    bytes.copy(this.#bytes, this.length)
    this.length += bytes.length
  }

  /** @returns a copy of the bytes; the writer is empty after it */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.length))
    this.length = 0
    return taken
  }

  #reserve(more: number): void {
    if (this.length + more <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.length + more))
    this.#bytes.copy(grown, 0, 0, this.length)
    this.#bytes = grown
  }
}

/** Reads what {@link ByteWriter} wrote. */
export class ByteReader {
  readonly #bytes: Buffer
  /** Where the next byte is. */
  at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  byte(): number {
    return this.#bytes[this.at++] ?? 0
  }

  varint(): number {
    let value = 0
    let shift = 0
    for (;;) {
      const byte = this.byte()
      value |= (byte & 0x7f) << shift
      if (byte <= 0x7f) return value >>> 0
      shift += 7
    }
  }

  signed(): number {
    const value = this.varint()
    return (value >>> 1) ^ -(value & 1)
  }
}
