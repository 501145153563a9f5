import { readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { DatabaseStartError } from '../storage/pool.ts'
import { bootId } from './processes.ts'

/** Who holds a lock; each beat writes it again. */
const Holder = z.object({
  pid: z.int().positive(),
  host: z.string(),
  bootId: z.string(),
  /** Process ids of another namespace name other processes. */
  namespace: z.string(),
  beatAt: z.iso.datetime(),
})
type Holder = z.infer<typeof Holder>

/** A running process has the data directory. */
export class DataDirInUseError extends DatabaseStartError {}

const BEAT_INTERVAL_MS = 10_000
/** A holder on another machine that was silent for this long has ended. */
const SILENT_AFTER_MS = 30_000

/**
 * Locks a data directory for this process, until it releases the lock or ends.
 *
 * The lock is one of the operating system: an exclusive transaction of SQLite, because Node has no `flock`. It is held
 * across PID and IPC namespaces, so that two containers cannot share a directory, and the kernel releases it after
 * `kill -9`. Some network file systems lock for one machine only; there the beats of the holder count.
 * @returns a function that releases the lock, and may be called again
 * @throws DataDirInUseError when a running process holds it
 */
export function lockDataDir(dataDir: string): () => void {
  const path = join(dataDir, 'faultline.lock')
  const guard = openGuard(dataDir, path)
  try {
    const other = readHolder(path)
    if (other !== null && isAliveElsewhere(other)) throw new DataDirInUseError(held(dataDir, other))
    writeHolder(path)
  } catch (error) {
    guard.close()
    throw error
  }
  const beating = setInterval(() => {
    try {
      writeHolder(path)
    } catch {
      // On a full disk: the lock of the operating system is held all the same.
    }
  }, BEAT_INTERVAL_MS)
  beating.unref()
  return () => {
    if (!guard.isOpen) return
    clearInterval(beating)
    if (readHolder(path)?.pid === process.pid) rmSync(path, { force: true })
    guard.close()
  }
}

/** @throws DataDirInUseError when a process of this machine holds the lock */
function openGuard(dataDir: string, path: string): DatabaseSync {
  // Never deleted: a process that has opened it would hold a lock that others do not see.
  const guard = new DatabaseSync(join(dataDir, 'faultline.guard'))
  try {
    guard.exec('begin exclusive')
    return guard
  } catch (error) {
    guard.close()
    if (!(error instanceof Error) || !('errcode' in error) || error.errcode !== SQLITE_BUSY) throw error
    throw new DataDirInUseError(held(dataDir, readHolder(path)), { cause: error })
  }
}

const SQLITE_BUSY = 5

const held = (dataDir: string, holder: Holder | null): string => {
  const who =
    holder === null
      ? ''
      : ` (process ${holder.pid}${holder.host === hostname() ? '' : ` on ${holder.host}`}${holder.namespace === namespace() ? '' : ', in another container'})`
  return `Faultline already runs on ${dataDir}${who}: stop it, or give this one its own FAULTLINE_DATA_DIR and PORT.`
}

/** Whether a holder runs elsewhere. The lock of the operating system has shown that none runs on this machine. */
function isAliveElsewhere({ host, bootId: boot, beatAt }: Holder): boolean {
  if (boot === bootId() || host === hostname()) return false
  // A clock may be ahead or behind.
  return Math.abs(Date.now() - Date.parse(beatAt)) < SILENT_AFTER_MS
}

/** Null when the file is missing or unreadable. */
function readHolder(path: string): Holder | null {
  try {
    return Holder.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return null
  }
}

/** Written to another file and renamed, so that the file is never incomplete. */
function writeHolder(path: string): void {
  const self: Holder = {
    pid: process.pid,
    host: hostname(),
    bootId: bootId(),
    namespace: namespace(),
    beatAt: new Date().toISOString(),
  }
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, `${JSON.stringify(self)}\n`, { mode: 0o600 })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
