import { statfs } from 'node:fs/promises'
import type { App } from '../../platform/context/app.ts'
import { readBacklog, readBacklogs } from './project-backlog.ts'
import type { Backlog, OwnBacklog } from './spool.queries.ts'

/** Maximum backlog, above which no request is accepted. The last part of it is a reserve, see {@link RESERVE_FROM}. */
export type AdmissionLimits = {
  readonly maxBacklogEntries: number
  readonly maxBacklogBytes: number
}

/** Bytes that the spool may hold. */
export const MAX_BACKLOG_BYTES = 4 * 1024 * 1024 * 1024

/** Read every {@link REFRESH_EVERY_MS}. */
type AdmissionSources = {
  backlog(): Promise<Pick<Backlog, 'entries' | 'bytes'>>
  /** That of each project; read only while the reserve is in use. */
  backlogs(): Promise<readonly OwnBacklog[]>
  /** The volume that the database writes to; null when it is not on this machine. */
  disk(): Promise<Disk | null>
}
export type Disk = { readonly freeBytes: number; readonly totalBytes: number }

/** Whose request it is. */
export type Owner = { readonly projectNumber: number; readonly orgId: string }

export type Admission = {
  /**
   * `busy`: the backlog is full, or its reserve is in use and the owner is over its share. `disk`: the volume is nearly
   * full.
   * @param owner null for what concerns all
   */
  state(owner: Owner | null): 'open' | 'busy' | 'disk'
  /** Whether the reserve is in use and the owner is over its share. */
  isOverShare(owner: Owner): boolean
  /** As read last. */
  disk(): Disk | null
  /** Reads both sources now. */
  refresh(): Promise<void>
  close(): void
}

const REFRESH_EVERY_MS = 1_000
/** From this fill on, the rest is for projects and organisations that have less than these parts of the maximum. */
const RESERVE_FROM = 0.8
const PROJECT_SHARE = 0.25
const ORG_SHARE = 0.5
/**
 * A full backlog admits requests again below this share; otherwise the next request would fill it again. A hundredth of
 * it is digested in a few seconds, so intake resumes soon after an overload.
 */
const REOPEN_SHARE = 0.99
/** For the disk, which waiting does not empty. */
const REOPEN_DISK_SHARE = 0.9
/**
 * PostgreSQL needs space for its log and for vacuuming: a twentieth of the volume within these bounds, less on a tiny
 * volume.
 */
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
  let refreshing: Promise<void> | null = null

  /** Projects and organisations that are over their share while the reserve is in use. */
  let over: ReadonlySet<number | string> = new Set()

  const fillOf = ({ entries, bytes }: Pick<Backlog, 'entries' | 'bytes'>): number =>
    Math.max(entries / limits.maxBacklogEntries, bytes / limits.maxBacklogBytes)
  const isAbove = (fill: number, max: number, wasAbove: boolean): boolean => fill >= (wasAbove ? REOPEN_SHARE : 1) * max
  const refreshBacklog = async (): Promise<void> => {
    const fill = fillOf(await sources.backlog())
    isBusy = isAbove(fill, 1, isBusy)
    over = isAbove(fill, RESERVE_FROM, over.size > 0) ? overShare(await sources.backlogs()) : new Set()
  }
  const overShare = (backlogs: readonly OwnBacklog[]): Set<number | string> => {
    const next = new Set<number | string>()
    const check = (owner: number | string, share: number, own: readonly OwnBacklog[]): void => {
      const sum = { entries: 0, bytes: 0 }
      for (const { entries, bytes } of own) {
        sum.entries += entries
        sum.bytes += bytes
      }
      if (isAbove(fillOf(sum), share, over.has(owner))) next.add(owner)
    }
    for (const own of backlogs) check(own.projectNumber, PROJECT_SHARE, [own])
    for (const [orgId, own] of Map.groupBy(backlogs, ({ orgId }) => orgId)) check(orgId, ORG_SHARE, own)
    return next
  }
  const refreshDisk = async (): Promise<void> => {
    disk = await sources.disk()
    isShort = disk !== null && disk.freeBytes * (isShort ? REOPEN_DISK_SHARE : 1) < freeBytesNeeded(disk)
  }
  // A database that does not answer is noticed when the spool writes to it.
  const refresh = (): Promise<void> =>
    (refreshing ??= Promise.allSettled([refreshBacklog(), refreshDisk()]).then(() => {
      refreshing = null
    }))

  const isOverShare = ({ projectNumber, orgId }: Owner): boolean => over.has(projectNumber) || over.has(orgId)

  const timer = setInterval(() => void refresh(), REFRESH_EVERY_MS)
  timer.unref()
  void refresh()
  return {
    state(owner) {
      if (isShort) return 'disk'
      return isBusy || (owner !== null && isOverShare(owner)) ? 'busy' : 'open'
    },
    isOverShare,
    disk: () => disk,
    refresh,
    close: () => clearInterval(timer),
  }
}

/** Watches the backlog of the spool and the volume of the embedded database; the disk of another one is its operator's concern. */
export const watchSpool = (app: App, limits: AdmissionLimits): Admission =>
  watchAdmission(limits, {
    backlog: () => readBacklog(app),
    backlogs: () => readBacklogs(app),
    disk: () => (app.config.databaseUrl === null ? readDisk(app.config.dataDir) : Promise.resolve(null)),
  })

/** The volume that holds a directory. */
export async function readDisk(directory: string): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(directory)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

/**
 * Less than the intake leaves free, so that accepted requests are still digested while PostgreSQL has enough for
 * itself.
 */
const MIN_FREE_TO_DIGEST_BYTES = 64 * 1024 * 1024

/** Digestion retries when the disk has space again; its requests stay in the spool. */
export class DiskNearlyFullError extends Error {
  override message = 'The disk is nearly full.'
}

/** @throws DiskNearlyFullError when the embedded database's volume is nearly full */
export async function requireDiskSpace({ databaseUrl, dataDir }: App['config']): Promise<void> {
  if (databaseUrl !== null) return
  if ((await readDisk(dataDir)).freeBytes < MIN_FREE_TO_DIGEST_BYTES) throw new DiskNearlyFullError()
}
