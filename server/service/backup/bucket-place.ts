import type { S3Settings } from '../../config/object-store.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'
import { ObjectStore, PART_BYTES, S3Error } from '../../platform/objects/object-store.ts'
import { BackupError } from './backup-error.ts'
import type { BackupPlace, Draft, PlacedFile } from './backup-place.ts'

/**
 * Backups below a prefix of a bucket, with the names of those in a folder. A bucket has no lock: a file that no backup names
 * stays for a day, because a backup of another installation may be writing it, and a backup verifies before its manifest that
 * its files are there.
 */
const DRAFTS = 'drafts/'
const FILES = 'files/'
const NOTES = 'unfinished.ndjson'
/** Smaller files are written again after an interruption: each note writes all of them. */
const MIN_NOTED_BYTES = 1024 * 1024

export function bucketPlace(
  address: string,
  settings: S3Settings,
  options: { readonly clock: Clock; readonly signal: AbortSignal; readonly retryScale?: number },
): BackupPlace {
  const store = new ObjectStore(address, settings, options)
  const run = newId()
  let notes = ''
  let known: ReadonlyMap<string, PlacedFile> = new Map()
  const readFiles = async (): Promise<ReadonlyMap<string, PlacedFile>> => {
    const files = new Map<string, PlacedFile>()
    const fresh = options.clock.now().getTime() - DAY_MS
    for (const { key, bytes, modifiedAt } of await store.list(FILES))
      files.set(key.slice(FILES.length), { bytes, isFresh: modifiedAt.getTime() > fresh })
    known = files
    return files
  }
  const removeDrafts = async (): Promise<void> => {
    for (const under of [DRAFTS, FILES]) await store.abortUploads(under)
    for (const { key } of await store.list(DRAFTS)) await store.remove(key)
  }
  const explain = (error: unknown): unknown =>
    error instanceof S3Error
      ? new BackupError(`${store.name} cannot be used: ${error.message} Backups that it holds are unchanged.`, {
          cause: error,
        })
      : error
  /** Reads are made by several callers, some of which show the message as it is. */
  const explained = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw explain(error)
    }
  }
  const readText = async (entry: string): Promise<string | null> =>
    (await explained(store.get(entry)))?.toString() ?? null
  return {
    name: store.name,
    async open() {
      await explained(readFiles())
      notes = (await readText(NOTES)) ?? ''
      return () => {}
    },
    listManifests: async () => (await explained(store.list('backup-'))).map(({ key }) => key),
    readText,
    writeText: (entry, text) => explained(store.put(entry, Buffer.from(text))),
    async remove(paths) {
      for (const path of paths) await explained(store.remove(path))
    },
    readFiles: () => explained(readFiles()),
    readFile: (sha256) => store.read(FILES + sha256),
    draft: (number) => draftIn(store, `${DRAFTS}${run}-${number}`, (sha256) => known.get(sha256)?.bytes ?? null),
    readNotes: async () => (await readText(NOTES)) ?? '',
    async addNote(line, storedBytes) {
      notes += `${line}\n`
      if (storedBytes >= MIN_NOTED_BYTES) await store.put(NOTES, Buffer.from(notes))
    },
    clearNotes: () => explained(store.remove(NOTES)),
    isShared: true,
    removeDrafts,
    sync: () => Promise.resolve(),
    explain,
  }
}

/** A small file waits in memory for its name; a large one is uploaded under another, and copied inside of the store. */
function draftIn(store: ObjectStore, key: string, sizeOfKept: (sha256: string) => number | null): Draft {
  let small: Buffer<ArrayBuffer> | null = null
  let bytes = 0
  return {
    async write(pieces) {
      const parts = inParts(pieces)
      const first: Buffer<ArrayBuffer>[] = []
      for (let next = await parts.next(); next.done !== true; next = await parts.next())
        if (first.push(next.value) === 2) break
      if (first.length < 2) {
        small = first[0] ?? Buffer.alloc(0)
        bytes = small.length
        return
      }
      await store.upload(
        key,
        (async function* all() {
          for (let part = first.shift(); part !== undefined; part = first.shift()) {
            bytes += part.length
            yield part
          }
          for await (const part of parts) {
            bytes += part.length
            yield part
          }
        })(),
      )
    },
    async keep(sha256) {
      if (sizeOfKept(sha256) === bytes) return this.drop()
      if (small !== null) await store.put(FILES + sha256, small)
      else await store.copy(key, FILES + sha256, bytes)
      await this.drop()
    },
    async drop() {
      const isUploaded = small === null && bytes > 0
      small = null
      if (isUploaded) await store.remove(key)
    },
  }
}

/** Joins pieces into parts of an upload. */
async function* inParts(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer<ArrayBuffer>> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    waiting.push(piece)
    size += piece.length
    if (size < PART_BYTES) continue
    const joined = Buffer.concat(waiting)
    yield joined.subarray(0, PART_BYTES)
    // Pieces are much smaller than a part.
    waiting = [joined.subarray(PART_BYTES)]
    size = joined.length - PART_BYTES
  }
  if (size > 0) yield Buffer.concat(waiting)
}
