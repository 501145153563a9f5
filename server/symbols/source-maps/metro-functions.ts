import { MAX_POSITION, readVlq } from './decode-mappings.ts'
import { FunctionRanges, type FunctionPlace } from './function-ranges.ts'
import { SymbolFileError } from '../index-file/built-index.ts'

/**
 * Reads a function map of Metro: the first element of a source's entry in `x_facebook_sources`, `{names, mappings}` (the
 * format is described in Metro's documentation, "Source map format"). In `mappings` lines are separated by `;`, segments
 * by `,`; the numbers of a segment are column, name and line in base64 VLQ, relative to the segment before; the column
 * begins at 0 in each line of the map, the line at 1.
 *
 * @returns null when the entry holds no function map, or a damaged one: the positions of its source are right without it
 */
export function readMetroFunctions(entry: unknown): FunctionRanges | null {
  const map: unknown = Array.isArray(entry) ? entry[0] : null
  if (typeof map !== 'object' || map === null || !('names' in map) || !('mappings' in map)) return null
  const { names, mappings } = map
  if (!Array.isArray(names) || typeof mappings !== 'string') return null
  try {
    const places = decodePlaces(Buffer.from(mappings, 'latin1'), names)
    places.sort((a, b) => a.line - b.line || a.column - b.column)
    return new FunctionRanges(places)
  } catch (error) {
    if (error instanceof SymbolFileError) return null
    throw error
  }
}

const COMMA = 0x2c
const SEMICOLON = 0x3b
const MAX_NAME = 500

function decodePlaces(bytes: Buffer, names: readonly unknown[]): FunctionPlace[] {
  const places: FunctionPlace[] = []
  const cursor = { at: 0 }
  let line = 0
  let column = 0
  let nameIndex = 0
  const isInSegment = (): boolean =>
    cursor.at < bytes.length && bytes[cursor.at] !== COMMA && bytes[cursor.at] !== SEMICOLON
  for (; cursor.at < bytes.length; cursor.at++) {
    if (isInSegment()) {
      column += readVlq(bytes, cursor, bytes.length)
      if (isInSegment()) nameIndex += readVlq(bytes, cursor, bytes.length)
      if (isInSegment()) line += readVlq(bytes, cursor, bytes.length)
      while (isInSegment()) readVlq(bytes, cursor, bytes.length)
      const name = names[nameIndex]
      if (line < 0 || line > MAX_POSITION || column < 0 || column > MAX_POSITION || typeof name !== 'string') {
        throw new SymbolFileError('The function map points outside its source or its names.')
      }
      places.push({ line, column, name: name.slice(0, MAX_NAME) })
    }
    if (bytes[cursor.at] === SEMICOLON) column = 0
  }
  return places
}
