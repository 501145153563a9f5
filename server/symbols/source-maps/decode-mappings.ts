import { SymbolFileError } from '../index-file/built-index.ts'

/**
 * Decodes `mappings` of ECMA-426 ("Source map format"): lines of generated code separated by `;`, segments by `,`, and in
 * a segment one, four or five numbers in base64 VLQ: column, source, line, column and name. All but the first are relative
 * to the segment before, the column to the segment before in its line.
 */
type SegmentSink = {
  /** @returns false when nothing that follows is wanted */
  segment(line: number, column: number, source: number, sourceLine: number, sourceColumn: number, name: number): boolean
}

/** A segment that says only that no source belongs to its column has this as `source`, and a segment without a name as `name`. */
export const NONE = -1

/** The largest line or column: positions are stored as 32-bit integers. */
export const MAX_POSITION = 0x7fff_ffff

const COMMA = 0x2c
const SEMICOLON = 0x3b

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digits = new Int8Array(256).fill(-1)
for (let digit = 0; digit < ALPHABET.length; digit++) digits[ALPHABET.charCodeAt(digit)] = digit

type VlqCursor = { at: number }

/**
 * Reads a number in base64 VLQ: five bits a digit, the lowest first; a sixth bit says that more follow, and the lowest bit
 * of the number is its sign.
 */
export function readVlq(bytes: Uint8Array, cursor: VlqCursor, to: number): number {
  let value = 0
  for (let shift = 0; ; shift += 5) {
    const digit = cursor.at < to ? (digits[bytes[cursor.at] ?? 0] ?? -1) : -1
    if (digit < 0)
      throw new SymbolFileError('The mappings of the source map contain a character that is not base64 VLQ.')
    cursor.at++
    // The sign and 31 bits: six digits, and two bits of the seventh.
    if (shift === 30 && digit > 3) {
      throw new SymbolFileError('The mappings of the source map contain a number of more than 32 bits.')
    }
    value |= (digit & 31) << shift
    if (digit < 32) break
  }
  const half = value >>> 1
  if ((value & 1) === 0) return half
  return half === 0 ? -(2 ** 31) : -half
}

/**
 * @param sources how many sources the map names
 * @param names how many names it has; a segment with another name loses it
 * @throws SymbolFileError for what ECMA-426 calls an error
 */
export function decodeMappings(bytes: Uint8Array, sources: number, names: number, sink: SegmentSink): void {
  const to = bytes.length
  const cursor: VlqCursor = { at: 0 }
  let line = 0
  let column = 0
  let source = 0
  let sourceLine = 0
  let sourceColumn = 0
  let name = 0
  const hasMore = (): boolean => cursor.at < to && bytes[cursor.at] !== COMMA && bytes[cursor.at] !== SEMICOLON
  while (cursor.at < to) {
    const byte = bytes[cursor.at]
    if (byte === SEMICOLON) {
      line++
      column = 0
      cursor.at++
      continue
    }
    if (byte === COMMA) {
      cursor.at++
      continue
    }
    column += readVlq(bytes, cursor, to)
    if (column < 0 || column > MAX_POSITION) throw outOfRange('column', line)
    if (!hasMore()) {
      if (!sink.segment(line, column, NONE, 0, 0, NONE)) return
      continue
    }
    source += readVlq(bytes, cursor, to)
    if (!hasMore()) throw wrongLength(line)
    sourceLine += readVlq(bytes, cursor, to)
    if (!hasMore()) throw wrongLength(line)
    sourceColumn += readVlq(bytes, cursor, to)
    if (source < 0 || source >= sources) {
      throw new SymbolFileError(
        `The mappings of the source map point outside its sources: line ${line + 1} names source ${source} of ${sources}.`,
      )
    }
    if (sourceLine < 0 || sourceLine >= MAX_POSITION) throw outOfRange('line of a source', line)
    if (sourceColumn < 0 || sourceColumn >= MAX_POSITION) throw outOfRange('column of a source', line)
    let ownName = NONE
    if (hasMore()) {
      name += readVlq(bytes, cursor, to)
      if (hasMore()) throw wrongLength(line)
      if (name >= 0 && name < names) ownName = name
    }
    if (!sink.segment(line, column, source, sourceLine, sourceColumn, ownName)) return
  }
}

const outOfRange = (what: string, line: number): SymbolFileError =>
  new SymbolFileError(
    `The mappings of the source map have a ${what} that is negative or too large, in line ${line + 1}.`,
  )

const wrongLength = (line: number): SymbolFileError =>
  new SymbolFileError(
    `The mappings of the source map have a segment that has not one, four or five numbers, in line ${line + 1}.`,
  )
