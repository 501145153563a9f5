import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { AppError, invalid, tooLarge } from '../../platform/kernel/errors.ts'

/** Bounds of an archive that a client sends (design: size limits). */
const MAX_ENTRIES = 2_000
const MAX_BYTES = 2 * 1024 ** 3
const MAX_RATIO = 100
/** A small archive may be compressed better. */
const FREE_BYTES = 1024 * 1024

export type Unpacked = { readonly name: string; readonly path: string }

/**
 * Writes the files of a zip archive to a folder, under names of ours. Archives in it are not opened.
 * @param wants which entries are written
 * @throws AppError invalid (no archive, unsafe names, damaged), too_large
 */
export async function unzip(path: string, folder: string, wants: (name: string) => boolean): Promise<Unpacked[]> {
  try {
    return await unpack(path, folder, wants)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw invalid('The zip archive is damaged, or has names that are not allowed.')
  }
}

async function unpack(path: string, folder: string, wants: (name: string) => boolean): Promise<Unpacked[]> {
  // Refuses absolute names, names with `..`, and sizes that differ from the directory.
  const zip: ZipFile = await openPromise(path, { validateEntrySizes: true, strictFileNames: true })
  const unpacked: Unpacked[] = []
  try {
    if (zip.entryCount > MAX_ENTRIES)
      throw tooLarge(`A zip archive may have at most ${MAX_ENTRIES.toLocaleString('en')} entries.`)
    let bytes = 0
    let packed = 0
    for await (const entry of zip.eachEntry()) {
      bytes += entry.uncompressedSize
      packed += entry.compressedSize
      if (bytes > MAX_BYTES || (bytes > FREE_BYTES && bytes > packed * MAX_RATIO))
        throw tooLarge('The zip archive unpacks to too much: at most 2 GiB, and 100 times its size.')
      if (isLink(entry)) throw invalid('The zip archive has a symbolic link.')
      if (entry.fileName.endsWith('/') || !wants(entry.fileName)) continue
      const target = join(folder, `entry-${unpacked.length}`)
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target, { mode: 0o600 }))
      unpacked.push({ name: entry.fileName, path: target })
    }
    return unpacked
  } finally {
    zip.close()
  }
}

const FILE_TYPE = 0o170000
const LINK = 0o120000
/** The upper half of the attributes is the mode of Unix. */
const isLink = ({ externalFileAttributes }: Entry): boolean => ((externalFileAttributes >>> 16) & FILE_TYPE) === LINK
