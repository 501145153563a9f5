/**
 * Reads numbers of a little-endian buffer in sequence. A read past the end throws a RangeError, which `damaged` and
 * the loop over units translate.
 */
export class Cursor {
  readonly bytes: Buffer
  readonly #view: DataView
  at: number

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.at = at
  }

  get ended(): boolean {
    return this.at >= this.bytes.length
  }

  skip(length: number): void {
    // A length of an attribute may be any number: what follows must be inside the buffer.
    if (!(length >= 0 && length <= this.bytes.length - this.at)) throw new RangeError('the data ends too early')
    this.at += length
  }

  u8(): number {
    return this.#view.getUint8(this.at++)
  }

  i8(): number {
    return this.#view.getInt8(this.at++)
  }

  u16(): number {
    const value = this.#view.getUint16(this.at, true)
    this.at += 2
    return value
  }

  u24(): number {
    return this.u16() + this.u8() * 0x1_00_00
  }

  u32(): number {
    const value = this.#view.getUint32(this.at, true)
    this.at += 4
    return value
  }

  /** Exact below 2^53. Larger values are no addresses of code. */
  u64(): number {
    const low = this.u32()
    return low + this.u32() * 0x1_00_00_00_00
  }

  /** An unsigned number of 1, 2, 4 or 8 bytes. */
  unsigned(size: number): number {
    if (size === 8) return this.u64()
    if (size === 4) return this.u32()
    if (size === 2) return this.u16()
    if (size === 1) return this.u8()
    throw new RangeError(`a number of ${size} bytes`)
  }

  /** DWARF 5, 7.6. Padded forms are allowed up to 16 bytes. */
  uleb(): number {
    let byte = this.#view.getUint8(this.at++)
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    let factor = 0x80
    for (let length = 1; length < 16; length++) {
      byte = this.#view.getUint8(this.at++)
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 0x80
    }
    throw new RangeError('a LEB128 number of more than 16 bytes')
  }

  sleb(): number {
    let value = 0
    let factor = 1
    for (let length = 0; length < 16; length++) {
      const byte = this.#view.getUint8(this.at++)
      value += (byte & 0x7f) * factor
      factor *= 0x80
      if (byte < 0x80) return (byte & 0x40) === 0 ? value : value - factor
    }
    throw new RangeError('a LEB128 number of more than 16 bytes')
  }

  /** Moves behind the NUL that ends the string. */
  text(): string {
    const end = this.bytes.indexOf(0, this.at)
    if (end < 0) throw new RangeError('a string without its end')
    const text = this.bytes.toString('utf8', this.at, Math.min(end, this.at + MAX_NAME_BYTES))
    this.at = end + 1
    return text
  }

  skipText(): void {
    const end = this.bytes.indexOf(0, this.at)
    if (end < 0) throw new RangeError('a string without its end')
    this.at = end + 1
  }
}

/** Longer names are cut: an index repeats a name in each part that uses it. */
export const MAX_NAME_BYTES = 8 * 1024
