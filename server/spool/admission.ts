import { statfs } from 'node:fs/promises'
import type { App } from '../context/app.ts'
import type { Backlog } from './spool.queries.ts'

/** What may wait before nothing more is taken. */
export type AdmissionLimits = {
  /** Undigested entries and bytes in the database. */
  readonly mostBacklogEntries: number
  readonly mostBacklogBytes: number
}

/** State of the database, read every {@link ASK_EVERY_MS}. */
export type AdmissionSources = {
  backlog(): Promise<Backlog>
  /** Free bytes and size of the volume the database writes to; null where that is not this machine's. */
  disk(): Promise<Disk | null>
}
export type Disk = { readonly freeBytes: number; readonly totalBytes: number }

export type Admission = {
  /** `busy`: digestion has too much to do already. `disk`: the volume is nearly full. */
  state(): 'open' | 'busy' | 'disk'
  /** As last asked. */
  disk(): Disk | null
  /** Asks now. */
  ask(): Promise<void>
  close(): void
}

const ASK_EVERY_MS = 1_000
/**
 * What was closed opens again below this share: otherwise it would close with the next request. A hundredth of a full
 * backlog is digested in a few seconds, so intake resumes soon after an overload ends.
 */
const REOPEN_SHARE = 0.99
/** A disk is not emptied by waiting. */
const REOPEN_DISK_SHARE = 0.9
/** PostgreSQL needs room for its log and for vacuuming: a twentieth of the volume, within these bounds, of a tiny one less. */
const MIN_FREE_BYTES = 256 * 1024 * 1024
const MAX_FREE_BYTES = 1024 * 1024 * 1024
const FREE_SHARE = 0.05
const MAX_FREE_SHARE = 0.2

const freeBytesNeeded = ({ totalBytes }: Disk): number =>
  Math.min(MAX_FREE_BYTES, totalBytes * MAX_FREE_SHARE, Math.max(MIN_FREE_BYTES, totalBytes * FREE_SHARE))

/** Decides once a second whether requests are accepted, so that no request queries for it (docs/decisions/admission-and-outcomes.md). */
export function watchAdmission(limits: AdmissionLimits, sources: AdmissionSources): Admission {
  let isBusy = false
  let isShort = false
  let disk: Disk | null = null
  let asking: Promise<void> | null = null

  const askBacklog = async (): Promise<void> => {
    const { entries, bytes } = await sources.backlog()
    const fill = Math.max(entries / limits.mostBacklogEntries, bytes / limits.mostBacklogBytes)
    isBusy = fill >= (isBusy ? REOPEN_SHARE : 1)
  }
  const askDisk = async (): Promise<void> => {
    disk = await sources.disk()
    isShort = disk !== null && disk.freeBytes * (isShort ? REOPEN_DISK_SHARE : 1) < freeBytesNeeded(disk)
  }
  // A database that does not answer is noticed where it is written to.
  const ask = (): Promise<void> =>
    (asking ??= Promise.allSettled([askBacklog(), askDisk()]).then(() => {
      asking = null
    }))

  const timer = setInterval(() => void ask(), ASK_EVERY_MS)
  timer.unref()
  void ask()
  return {
    state: () => (isShort ? 'disk' : isBusy ? 'busy' : 'open'),
    disk: () => disk,
    ask,
    close: () => clearInterval(timer),
  }
}

/** Of the volume that holds a directory. */
export async function diskOf(directory: string): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(directory)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

/** Less than the intake leaves free: what it took is still digested, until only what PostgreSQL itself needs is left. */
const MIN_FREE_TO_DIGEST_BYTES = 64 * 1024 * 1024

/** Digestion waits for room on the disk; what it has to do waits on the spool. */
export class NoRoomError extends Error {
  override message = 'The disk is nearly full.'
}

/** @throws NoRoomError when the embedded database's volume is nearly full */
export async function demandRoom({ databaseUrl, dataDir }: App['config']): Promise<void> {
  if (databaseUrl !== null) return
  if ((await diskOf(dataDir)).freeBytes < MIN_FREE_TO_DIGEST_BYTES) throw new NoRoomError()
}
