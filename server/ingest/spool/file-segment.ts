import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
  writevSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FileSync } from './file-sync.ts'
import { type FileRow, HEAD_BYTES, newToken, recordHead, SEGMENT_BYTES } from './file-records.ts'

type Sync = { readonly resolve: () => void; readonly reject: (error: unknown) => void }

/** A segment of the spool's file that is written. */
export class FileSegment {
  /** Where the next record begins. */
  end = 0
  /** Ids of its present use; null before the first one. */
  ids: { readonly first: number; last: number } | null = null
  /** It takes no further rows: what a failed write or sync left on disk is not known. */
  isBroken = false
  readonly #path: string
  readonly #file: number
  readonly #syncs: FileSync
  #token = newToken()
  #isSyncing = false
  #waiting: Sync[] = []

  private constructor(path: string, syncs: FileSync) {
    this.#path = path
    this.#file = openSync(path, 'r+')
    this.#syncs = syncs
  }

  /** Opens one that holds nothing. @returns null for what is not a whole segment, which is removed */
  static open(path: string, syncs: FileSync): FileSegment | null {
    if (statSync(path).size === SEGMENT_BYTES) return new FileSegment(path, syncs)
    rmSync(path)
    return null
  }

  /** Makes a segment whose blocks are all written, so that a sync has no sizes or places of blocks to write. */
  static async create(path: string, syncs: FileSync): Promise<FileSegment> {
    const folder = dirname(path)
    const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined
    try {
      await using file = await open(path, 'wx', 0o600)
      const zeros = Buffer.alloc(1024 * 1024)
      for (let at = 0; at < SEGMENT_BYTES; at += zeros.length) await file.write(zeros, 0, zeros.length, at)
      await file.sync()
      for (const parent of isNew ? [folder, dirname(folder)] : [folder]) {
        await using directory = await open(parent)
        await directory.sync()
      }
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    }
    return new FileSegment(path, syncs)
  }

  /** Begins its next use. */
  begin(): void {
    this.#token = newToken()
    this.end = 0
    this.ids = null
  }

  hasRoom(rows: number, bytes: number): boolean {
    return this.end + rows * HEAD_BYTES + bytes <= SEGMENT_BYTES
  }

  /**
   * Writes rows whose ids follow one another; resolves when they are on disk.
   * @throws the error of the disk; then it takes no further rows, and only those before are read from it
   */
  async append(rows: readonly FileRow[]): Promise<void> {
    if (this.isBroken) throw new Error('an earlier write to the segment failed')
    const pieces = rows.flatMap((row) => [recordHead(this.#token, row), row.bytes])
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
    const [first, last] = [rows[0]?.id ?? 0, rows.at(-1)?.id ?? 0]
    this.isBroken = true
    const written = writevSync(this.#file, pieces, this.end)
    if (written !== bytes) throw new Error(`${written} of ${bytes} bytes were written`)
    this.isBroken = false
    this.end += bytes
    if (this.ids === null) this.ids = { first, last }
    else this.ids.last = last
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      if (!this.#isSyncing) void this.#sync()
    })
  }

  /** One sync at a time, for all that was written before it: the system reports a failure once. */
  async #sync(): Promise<void> {
    this.#isSyncing = true
    while (this.#waiting.length > 0) {
      const covered = this.#waiting.splice(0)
      try {
        await this.#syncs.sync(this.#file)
        for (const { resolve } of covered) resolve()
      } catch (error) {
        this.isBroken = true
        // Rows that were written meanwhile may have been lost with it.
        for (const { reject } of [...covered, ...this.#waiting.splice(0)]) reject(error)
      }
    }
    this.#isSyncing = false
  }

  /** @returns fewer bytes where the file is shorter */
  read(at: number, bytes: number): Buffer {
    const buffer = Buffer.alloc(bytes)
    return buffer.subarray(0, readSync(this.#file, buffer, 0, bytes, at))
  }

  /** Ends what it holds. All of its rows must be settled. */
  async clear(): Promise<void> {
    overwriteHead(this.#file)
    await this.#syncs.sync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }

  remove(): void {
    this.close()
    rmSync(this.#path, { force: true })
  }
}

/** As {@link FileSegment.clear}, at the start. */
export function clearSegment(path: string): void {
  const file = openSync(path, 'r+')
  try {
    overwriteHead(file)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

function overwriteHead(file: number): void {
  writeSync(file, Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
}
