import { SymbolFileError } from '../index-file/built-index.ts'

/**
 * Reads a large JSON text (RFC 8259) by pieces: a piece is a place in the bytes, and becomes a value only when it is
 * decoded. A map of 64 MiB is mostly `mappings` and `sourcesContent`, which are never in memory as one value.
 *
 * Brackets are counted without recursion, so depth costs nothing. Pieces that are never decoded are not checked further.
 */
export type JsonPiece = { readonly from: number; readonly to: number }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Every name that is read is shorter, escapes included. */
const MAX_NAME_BYTES = 200

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const broken = (): SymbolFileError =>
  new SymbolFileError('The file is not complete JSON. It may have been cut off on its way; upload it again.')

export class JsonText {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** @returns the whole text as one piece, without spaces around it */
  whole(): JsonPiece {
    const from = this.#skipSpace(0)
    const to = this.#skipValue(from)
    if (this.#skipSpace(to) !== this.bytes.length) throw broken()
    return { from, to }
  }

  isObject(piece: JsonPiece): boolean {
    return this.bytes[piece.from] === OPEN_OBJECT
  }

  isArray(piece: JsonPiece): boolean {
    return this.bytes[piece.from] === OPEN_ARRAY
  }

  isText(piece: JsonPiece): boolean {
    return this.bytes[piece.from] === QUOTE
  }

  /** @returns those members of an object that are wanted; the last one where a name occurs twice */
  members(piece: JsonPiece, wanted: ReadonlySet<string>): Map<string, JsonPiece> {
    const members = new Map<string, JsonPiece>()
    for (const [name, value] of this.#entries(piece, true)) if (wanted.has(name)) members.set(name, value)
    return members
  }

  *elements(piece: JsonPiece): Generator<JsonPiece> {
    for (const [, value] of this.#entries(piece, false)) yield value
  }

  /** @returns the value of a piece */
  decode(piece: JsonPiece): unknown {
    try {
      return JSON.parse(this.bytes.toString('utf8', piece.from, piece.to))
    } catch {
      throw broken()
    }
  }

  *#entries(piece: JsonPiece, hasNames: boolean): Generator<[string, JsonPiece]> {
    let at = this.#skipSpace(piece.from + 1)
    if (at === piece.to - 1) return
    for (;;) {
      let name = ''
      if (hasNames) {
        if (this.bytes[at] !== QUOTE) throw broken()
        const end = this.#skipText(at)
        name = this.#readName({ from: at, to: end })
        at = this.#skipSpace(end)
        if (this.bytes[at] !== COLON) throw broken()
        at = this.#skipSpace(at + 1)
      }
      const to = this.#skipValue(at)
      yield [name, { from: at, to }]
      at = this.#skipSpace(to)
      if (at === piece.to - 1) return
      if (at >= piece.to || this.bytes[at] !== COMMA) throw broken()
      at = this.#skipSpace(at + 1)
    }
  }

  /** @returns the name of a member; one that is longer than any known name as it is written */
  #readName(piece: JsonPiece): string {
    const name = this.bytes.toString('latin1', piece.from + 1, Math.min(piece.to - 1, piece.from + MAX_NAME_BYTES))
    return name.includes('\\') && piece.to - piece.from < MAX_NAME_BYTES ? String(this.decode(piece)) : name
  }

  #skipSpace(at: number): number {
    let end = at
    while (isSpace(this.bytes[end])) end++
    return end
  }

  #skipText(at: number): number {
    const { bytes } = this
    for (let end = bytes.indexOf(QUOTE, at + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
      // A quote ends the text unless it is escaped: after an odd number of backslashes.
      let escape = end
      while (bytes[escape - 1] === BACKSLASH) escape--
      if ((end - escape) % 2 === 0) return end + 1
    }
    throw broken()
  }

  #skipValue(at: number): number {
    const { bytes } = this
    const first = bytes[at]
    if (first === QUOTE) return this.#skipText(at)
    if (first !== OPEN_ARRAY && first !== OPEN_OBJECT) return this.#skipWord(at)
    let depth = 0
    for (let end = at; end < bytes.length; end++) {
      const byte = bytes[end]
      if (byte === QUOTE) end = this.#skipText(end) - 1
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++
      else if ((byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) && --depth === 0) {
        if ((first === OPEN_ARRAY) !== (byte === CLOSE_ARRAY)) throw broken()
        return end + 1
      }
    }
    throw broken()
  }

  /** Skips a number, `true`, `false` or `null`. */
  #skipWord(at: number): number {
    const { bytes } = this
    let end = at
    for (; end < bytes.length; end++) {
      const byte = bytes[end] ?? 0
      const isPart = (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a)
      if (!isPart && byte !== 0x2d && byte !== 0x2b && byte !== 0x2e && byte !== 0x45) break
    }
    if (end === at) throw broken()
    return end
  }
}
