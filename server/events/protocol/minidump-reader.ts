/** Reads bytes of an untrusted file: positions outside of it are null, and nothing throws. */
export class BoundedReader {
  readonly #bytes: Buffer
  readonly #bigEndian: boolean

  constructor(bytes: Buffer, bigEndian: boolean) {
    this.#bytes = bytes
    this.#bigEndian = bigEndian
  }

  has(at: number, bytes: number): boolean {
    return at >= 0 && bytes >= 0 && at + bytes <= this.#bytes.length
  }

  u16(at: number): number | null {
    if (!this.has(at, 2)) return null
    return this.#bigEndian ? this.#bytes.readUInt16BE(at) : this.#bytes.readUInt16LE(at)
  }

  u32(at: number): number | null {
    if (!this.has(at, 4)) return null
    return this.#bigEndian ? this.#bytes.readUInt32BE(at) : this.#bytes.readUInt32LE(at)
  }

  u64(at: number): bigint | null {
    if (!this.has(at, 8)) return null
    return this.#bigEndian ? this.#bytes.readBigUInt64BE(at) : this.#bytes.readBigUInt64LE(at)
  }

  /** A view, cut at the end of the file. */
  bytes(at: number, length: number): Buffer {
    return at < 0 || at > this.#bytes.length ? Buffer.alloc(0) : this.#bytes.subarray(at, at + Math.max(0, length))
  }

  /** A length-prefixed UTF-16 string of at most `max` units; null when it is empty or outside of the file. */
  utf16(at: number, max: number): string | null {
    const length = this.u32(at)
    if (at === 0 || length === null || length === 0) return null
    const units = Buffer.from(this.bytes(at + 4, Math.min(length - (length % 2), max * 2)))
    if (this.#bigEndian && units.length % 2 === 0) units.swap16()
    const text = units.toString('utf16le')
    const end = text.indexOf('\0')
    const clean = (end === -1 ? text : text.slice(0, end)).toWellFormed()
    return clean === '' ? null : clean
  }

  /** A zero-terminated UTF-8 string within `length` bytes. */
  utf8(at: number, length: number): string | null {
    const bytes = this.bytes(at, length)
    const end = bytes.indexOf(0)
    const text = bytes.toString('utf8', 0, end === -1 ? bytes.length : end)
    return text === '' ? null : text
  }
}
