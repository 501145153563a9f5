import { closeSync, openSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { compressZstd } from '../../platform/kernel/zstd-encoder.ts'
import { type BuiltIndex, MAX_DIRECTORY_BYTES, MAX_PART_BYTES, SymbolFileError } from './built-index.ts'

/** An index in a file: the directory and the parts, each compressed, with the length of each. */
export type PackedIndex = { readonly path: string; readonly lengths: readonly number[] }

/** @throws SymbolFileError when a part or the directory is too large to be looked up */
export function packIndex(path: string, { directory, parts }: BuiltIndex): PackedIndex {
  if (directory.length > MAX_DIRECTORY_BYTES || parts.some(({ length }) => length > MAX_PART_BYTES))
    throw new SymbolFileError(
      'A class or function of the file has so many members or names that it cannot be looked up.',
    )
  const file = openSync(path, 'w', 0o600)
  try {
    const lengths = [directory, ...parts].map((bytes) => {
      const packed = compressZstd(bytes)
      writeFileSync(file, packed)
      return packed.length
    })
    return { path, lengths }
  } finally {
    closeSync(file)
  }
}

/** Reads the directory, then the parts, as they are compressed. */
export async function* readPacked({ path, lengths }: PackedIndex): AsyncGenerator<Buffer> {
  const file = await open(path)
  try {
    for (const length of lengths) yield (await file.read(Buffer.allocUnsafeSlow(length), 0, length)).buffer
  } finally {
    await file.close()
  }
}
