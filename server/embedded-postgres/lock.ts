import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { DatabaseStartError } from '../storage/database-start-error.ts'
import { identify, type ProcessIdentity } from './processes.ts'

const Holder = z.object({ pid: z.int().positive(), startedAt: z.string() })

/**
 * Locks a data directory for this process. The lock file names its holder by process id and start time, so that after
 * `kill -9` or a reboot it is recognised as stale even when another process has that id.
 * @returns a function that releases the lock
 * @throws DatabaseStartError when a running process holds it
 */
export function lockDataDir(dataDir: string): () => void {
  const path = join(dataDir, 'faultline.lock')
  const self = identify(process.pid)
  if (!self) throw new DatabaseStartError('This process cannot find itself in the process table: is /proc mounted?')

  // Written to another file and linked, so that the lock never exists without its content.
  const own = `${path}.${process.pid}-${randomUUID()}`
  try {
    writeFileSync(own, `${JSON.stringify(self)}\n`, { mode: 0o600 })
    for (let attempt = 0; attempt < 20; attempt++) {
      if (tryLink(own, path)) return () => releaseOwn(path, self)
      const holder = readHolder(path)
      if (holder && isHolderAlive(holder)) throw new DatabaseStartError(held(dataDir, holder))
      removeStale(path)
    }
  } finally {
    rmSync(own, { force: true })
  }
  throw new DatabaseStartError(`${path} could not be locked, because other starts lock it as well. Try again.`)
}

const held = (dataDir: string, holder: ProcessIdentity): string =>
  `Faultline already runs on ${dataDir} (process ${holder.pid}): stop it, or give this one its own ` +
  'FAULTLINE_DATA_DIR and PORT.'

const isHolderAlive = (holder: ProcessIdentity): boolean => identify(holder.pid)?.startedAt === holder.startedAt

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/**
 * The holder; undefined when the file is missing or unreadable. An unreadable file is stale, because locks are never
 * incomplete.
 */
function readHolder(path: string): ProcessIdentity | undefined {
  try {
    return Holder.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** Removes a stale lock. If another start replaced it meanwhile, its lock is put back. */
function removeStale(path: string): void {
  const aside = `${path}.stale-${process.pid}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const moved = readHolder(aside)
  if (moved && isHolderAlive(moved)) tryLink(aside, path)
  rmSync(aside, { force: true })
}

function releaseOwn(path: string, self: ProcessIdentity): void {
  const holder = readHolder(path)
  if (holder?.pid === self.pid && holder.startedAt === self.startedAt) rmSync(path, { force: true })
}
