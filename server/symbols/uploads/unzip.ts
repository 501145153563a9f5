import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { AppError, invalid, tooLarge } from '../../platform/kernel/errors.ts'

/** Bounds of an archive that a client sends (design: size limits). */
export const MAX_ENTRIES = 2_000
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
  const { size: archiveBytes } = await stat(path)
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
      if (packed > archiveBytes) throw invalid('The entries of the zip archive overlap.')
      if (bytes > MAX_BYTES || (bytes > FREE_BYTES && bytes > packed * MAX_RATIO))
        throw tooLarge('The zip archive unpacks to too much: at most 2 GiB, and 100 times its size.')
      if (isLink(entry)) throw invalid('The zip archive has a symbolic link.')
      if (entry.fileName.endsWith('/') || !wants(entry.fileName)) continue
      if (entry.isEncrypted()) throw invalid('The zip archive is encrypted.')
      await requireSameHeader(zip, entry)
      const target = join(folder, `entry-${unpacked.length}`)
      await pipeline(
        await zip.openReadStreamPromise(entry),
        checksumOf(entry),
        createWriteStream(target, { mode: 0o600 }),
      )
      unpacked.push({ name: entry.fileName, path: target })
    }
    return unpacked
  } finally {
    zip.close()
  }
}

/** The header before the content must agree with the directory: readers differ in which of them they believe. */
async function requireSameHeader(zip: ZipFile, entry: Entry): Promise<void> {
  const local = await zip.readLocalFileHeaderPromise(entry)
  if (!local.fileName.equals(entry.fileNameRaw) || local.compressionMethod !== entry.compressionMethod)
    throw invalid('The directory of the zip archive does not agree with its content.')
}

/** @returns a stream that fails when what it passes on has another checksum than the directory says */
function checksumOf({ crc32: expected }: Entry): Transform {
  let checksum = 0
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      checksum = crc32(bytes, checksum)
      done(null, bytes)
    },
    flush: (done) => done(checksum === expected ? null : invalid('The zip archive is damaged: a checksum is wrong.')),
  })
}

const FILE_TYPE = 0o170000
const LINK = 0o120000
/** The upper half of the attributes is the mode of Unix. */
const isLink = ({ externalFileAttributes }: Entry): boolean => ((externalFileAttributes >>> 16) & FILE_TYPE) === LINK
