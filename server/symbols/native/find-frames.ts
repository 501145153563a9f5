import { SymbolFileError, type PartReader } from '../index-file/built-index.ts'
import { demangle } from '../names/demangle.ts'
import { Cursor } from './cursor.ts'
import { DIRECTORY_MAGIC, PART_HEADER_BYTES } from './index-writer.ts'
import { readingFile } from './section.ts'

/** A function at an address. Where several share it, each was inlined into the next one. */
export type NativeFrame = {
  readonly functionName: string | null
  /** The name as the compiler wrote it, often mangled. */
  readonly rawName: string | null
  readonly file: string | null
  readonly line: number | null
  /** Where the function begins, relative to the image: for inlined calls, the function they are inlined into. */
  readonly symbolAddress: number
}

/** Deeper chains come from damaged files. */
const MAX_CHAIN = 200

/** @returns the parts that `findFrames` needs for an address relative to the image: one or none */
export function nativeParts(directory: Buffer, address: bigint | number): number[] {
  if (directory.length < 8 || directory.readUInt32LE() !== DIRECTORY_MAGIC) {
    throw new SymbolFileError('The index of the file is damaged.')
  }
  const wanted = Number(address)
  let [low, high] = [0, Math.min(directory.readUInt32LE(4), (directory.length - 8) / 8)]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (directory.readDoubleLE(8 + 8 * middle) <= wanted) low = middle + 1
    else high = middle
  }
  return low === 0 ? [] : [low - 1]
}

/**
 * @param address relative to the image, of an instruction that is running or called: see `lookupAddress`
 * @returns the function there, innermost inlined call first, or nothing where no function is known
 */
export function findFrames(directory: Buffer, part: PartReader, address: bigint | number): NativeFrame[] {
  const [number] = nativeParts(directory, address)
  return number === undefined ? [] : readingFile(() => framesOf(part(number), Number(address)))
}

function framesOf(part: Buffer, address: number): NativeFrame[] {
  const offset = address - part.readDoubleLE()
  const count = part.readUInt32LE(8)
  const textPlaces = PART_HEADER_BYTES + 8 * count
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (part.readUInt32LE(PART_HEADER_BYTES + 4 * middle) <= offset) low = middle + 1
    else high = middle
  }
  if (low === 0) return []
  const recordAt = low - 1
  const record = new Cursor(part, part.readUInt32LE(PART_HEADER_BYTES + 4 * (count + recordAt)))
  const start = address - offset + part.readUInt32LE(PART_HEADER_BYTES + 4 * recordAt) - record.uleb()

  const textsAt: number[] = []
  for (let left = record.uleb(); left > 0; left--) textsAt.push(record.uleb())
  const text = (reference: number): string | null => {
    const place = reference === 0 ? undefined : textsAt[reference - 1]
    if (place === undefined) return null
    const at = textPlaces + 4 * place
    return part.toString('utf8', part.readUInt32LE(at), part.readUInt32LE(at + 4))
  }

  if (address >= start + record.uleb()) return []
  const symbolAddress = start - unzigzag(record.uleb())
  // Four numbers for each node: parent, name, file and line of the call.
  const nodes = [0, record.uleb(), 0, 0]
  for (let left = 4 * record.uleb(); left > 0; left--) nodes.push(record.uleb())

  let [rowAddress, node, file, line] = [start, 0, 0, 0]
  for (let left = record.uleb(); left > 0; left--) {
    const head = record.uleb()
    rowAddress += Math.floor(head / 4)
    if (rowAddress > address) break
    if ((head & 2) !== 0) node = record.uleb()
    if ((head & 1) !== 0) file = record.uleb()
    line += unzigzag(record.uleb())
  }

  const frames: NativeFrame[] = []
  for (; frames.length < MAX_CHAIN;) {
    const rawName = text(nodes[4 * node + 1] ?? 0)
    const functionName = rawName === null ? null : demangle(rawName)
    frames.push({ functionName, rawName, file: text(file), line: line === 0 ? null : line, symbolAddress })
    if (node === 0) break
    file = nodes[4 * node + 2] ?? 0
    line = nodes[4 * node + 3] ?? 0
    node = nodes[4 * node] ?? 0
  }
  return frames
}

const unzigzag = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2)
