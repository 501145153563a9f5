import { ByteWriter } from './byte-writer.ts'

/**
 * The directory of a source map's index: where each part begins. Parts with segments come first, in order of their first
 * line and column; parts with contents follow, in order of their first source and its line. All numbers are int32 and
 * zero-based.
 *
 *     version, parts with segments, parts with contents   3 × int32
 *     per part: line and column, or source and line        2 × int32
 */
export type PartStart = { readonly major: number; readonly minor: number }

/** Raised when the form of directory or parts changes; indexes of other versions are built again from their file. */
const SOURCE_MAP_INDEX_VERSION = 1

const HEADER_BYTES = 12
const ENTRY_BYTES = 8

export function writeDirectory(segments: readonly PartStart[], contents: readonly PartStart[]): Buffer {
  const out = new ByteWriter()
  for (const value of [SOURCE_MAP_INDEX_VERSION, segments.length, contents.length]) out.int32(value)
  for (const { major, minor } of [...segments, ...contents]) {
    out.int32(major)
    out.int32(minor)
  }
  return out.take()
}

/** @returns the number of the part with the segments before a position, and the next one; empty where nothing is before it */
export function findSegmentParts(directory: Buffer, line: number, column: number | null): number[] {
  const count = directory.readInt32LE(4)
  const part = findLast(directory, 0, count, line, column ?? 0)
  if (column !== null) return part < 0 ? [] : [part]
  // The first segment of the line may be the first one of the next part.
  const next = part + 1
  const isInNext = next < count && directory.readInt32LE(HEADER_BYTES + next * ENTRY_BYTES) === line
  return [...(part < 0 ? [] : [part]), ...(isInNext ? [next] : [])]
}

/** @returns the numbers of the parts that can have lines of a source, from `from` on and before `until` */
export function findContentParts(directory: Buffer, source: number, from: number, until: number): number[] {
  const segments = directory.readInt32LE(4)
  const count = directory.readInt32LE(8)
  const first = Math.max(0, findLast(directory, segments, count, source, from))
  const last = findLast(directory, segments, count, source, Math.max(from, until - 1))
  const parts: number[] = []
  for (let part = first; part <= last; part++) parts.push(segments + part)
  return parts
}

/** @returns the last of `count` parts that begins at or before a place; -1 when none does */
function findLast(directory: Buffer, offset: number, count: number, major: number, minor: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = HEADER_BYTES + (offset + middle) * ENTRY_BYTES
    const own = directory.readInt32LE(at)
    if (own > major || (own === major && directory.readInt32LE(at + 4) > minor)) high = middle
    else low = middle + 1
  }
  return low - 1
}
