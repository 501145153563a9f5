import { closeSync, openSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { compressZstd } from '../../platform/kernel/zstd-encoder.ts'
import { MAX_DIRECTORY_BYTES, MAX_PART_BYTES, type PartSink, SymbolFileError } from './built-index.ts'

/**
 * An index in a file: the parts, then the directory, each compressed.
 * `lengths` has the length of the directory first, then those of the parts.
 */
export type PackedIndex = { readonly path: string; readonly lengths: readonly number[] }

/**
 * Writes an index while it is built.
 *
 * @param build gives each part to the sink, and returns the directory
 * @throws SymbolFileError when a part or the directory is too large to be looked up
 */
export function packIndex(path: string, build: (addPart: PartSink) => Buffer): PackedIndex {
  const file = openSync(path, 'w', 0o600)
  const write = (bytes: Buffer, maxBytes: number): number => {
    if (bytes.length > maxBytes)
      throw new SymbolFileError(
        'A class or function of the file has so many members or names that it cannot be looked up.',
      )
    const packed = compressZstd(bytes)
    writeFileSync(file, packed)
    return packed.length
  }
  try {
    const lengths: number[] = []
    const directory = build((part) => void lengths.push(write(part, MAX_PART_BYTES)))
    return { path, lengths: [write(directory, MAX_DIRECTORY_BYTES), ...lengths] }
  } finally {
    closeSync(file)
  }
}

/** Reads the directory, then the parts, as they are compressed. */
export async function* readPacked({ path, lengths: [directory = 0, ...parts] }: PackedIndex): AsyncGenerator<Buffer> {
  const file = await open(path)
  const read = async (position: number, length: number): Promise<Buffer> =>
    (await file.read(Buffer.allocUnsafeSlow(length), 0, length, position)).buffer
  try {
    yield await read(
      parts.reduce((sum, length) => sum + length, 0),
      directory,
    )
    let position = 0
    for (const length of parts) {
      yield await read(position, length)
      position += length
    }
  } finally {
    await file.close()
  }
}
