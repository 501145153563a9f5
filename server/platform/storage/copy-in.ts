import { DAY_MS } from '../kernel/day.ts'

/**
 * Rows in PostgreSQL's binary COPY format (documentation: COPY, "Binary Format"). The text format would send bodies as
 * hexadecimal, twice their size.
 */

const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
const TRAILER = Buffer.from([0xff, 0xff])
const EPOCH_2000_MS = 946_684_800_000

/** Collects fields of rows; `finish` returns the stream. Small fields share buffers, bodies are not copied. */
export class CopyRows {
  #parts: Buffer[] = [HEADER]
  #buffer = Buffer.allocUnsafe(64 * 1024)
  #used = 0
  #flushed = 0
  /** Cached: most rows of a batch have the same day. */
  #lastDay = ''
  #lastDayNumber = 0

  row(fields: number): void {
    this.#room(2)
    this.#used = this.#buffer.writeInt16BE(fields, this.#used)
  }

  nothing(): void {
    this.#room(4)
    this.#used = this.#buffer.writeInt32BE(-1, this.#used)
  }

  /** 32 hex digits, or the hyphenated form. */
  uuid(text: string): void {
    this.#room(20)
    this.#used = this.#buffer.writeInt32BE(16, this.#used)
    const written = this.#buffer.write(text.includes('-') ? text.replaceAll('-', '') : text, this.#used, 16, 'hex')
    if (written !== 16) throw new Error(`not a uuid: ${text}`)
    this.#used += 16
  }

  text(value: string | null): void {
    if (value === null) return this.nothing()
    this.#room(4 + value.length * 3)
    const size = this.#buffer.write(value, this.#used + 4, 'utf8')
    this.#buffer.writeInt32BE(size, this.#used)
    this.#used += 4 + size
  }

  time(value: Date | null): void {
    if (value === null) return this.nothing()
    const sinceMs = value.getTime() - EPOCH_2000_MS
    const sinceMicros = sinceMs * 1000
    if (Number.isSafeInteger(sinceMicros)) return this.int64(sinceMicros)
    // Three hundred years from now: clients send such times.
    this.#room(12)
    this.#used = this.#buffer.writeInt32BE(8, this.#used)
    this.#used = this.#buffer.writeBigInt64BE(BigInt(sinceMs) * 1000n, this.#used)
  }

  /** `2026-11-20`. */
  day(value: string): void {
    this.#room(8)
    this.#used = this.#buffer.writeInt32BE(4, this.#used)
    if (value !== this.#lastDay) {
      this.#lastDay = value
      this.#lastDayNumber = (Date.parse(`${value}T00:00:00Z`) - EPOCH_2000_MS) / DAY_MS
    }
    this.#used = this.#buffer.writeInt32BE(this.#lastDayNumber, this.#used)
  }

  int16(value: number): void {
    this.#room(6)
    this.#used = this.#buffer.writeInt32BE(2, this.#used)
    this.#used = this.#buffer.writeInt16BE(value, this.#used)
  }

  int32(value: number): void {
    this.#room(8)
    this.#used = this.#buffer.writeInt32BE(4, this.#used)
    this.#used = this.#buffer.writeInt32BE(value, this.#used)
  }

  /** @throws RangeError when the value is no whole number below 2^53 */
  int64(value: number | null): void {
    if (value === null) return this.nothing()
    if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number: ${value}`)
    this.#room(12)
    this.#used = this.#buffer.writeInt32BE(8, this.#used)
    // In two halves, which allocates no bigint.
    const high = Math.floor(value / 2 ** 32)
    this.#used = this.#buffer.writeInt32BE(high, this.#used)
    this.#used = this.#buffer.writeUInt32BE(value - high * 2 ** 32, this.#used)
  }

  float64(value: number): void {
    this.#room(12)
    this.#used = this.#buffer.writeInt32BE(8, this.#used)
    this.#used = this.#buffer.writeDoubleBE(value, this.#used)
  }

  /** For a `jsonb` column, whose format begins with a version. */
  json(text: string | null): void {
    if (text === null) return this.nothing()
    this.#room(5 + text.length * 3)
    const size = this.#buffer.write(text, this.#used + 5, 'utf8')
    this.#buffer.writeInt32BE(size + 1, this.#used)
    this.#buffer.writeUInt8(1, this.#used + 4)
    this.#used += 5 + size
  }

  bytes(value: Buffer): void {
    this.#room(4)
    this.#used = this.#buffer.writeInt32BE(value.length, this.#used)
    if (value.length > 16 * 1024) {
      this.#flush()
      this.#parts.push(value)
      return
    }
    this.#room(value.length)
    this.#used += value.copy(this.#buffer, this.#used)
  }

  finish(): Buffer[] {
    this.#flush()
    this.#parts.push(TRAILER)
    return this.#parts
  }

  #room(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.length) return
    this.#flush()
    this.#buffer = Buffer.allocUnsafe(Math.max(256 * 1024, bytes))
    this.#used = 0
    this.#flushed = 0
  }

  #flush(): void {
    if (this.#used > this.#flushed) this.#parts.push(this.#buffer.subarray(this.#flushed, this.#used))
    this.#flushed = this.#used
  }
}
