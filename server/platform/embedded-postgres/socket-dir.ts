import { createHash } from 'node:crypto'
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseStartError } from '../storage/pool.ts'
import type { RunAs } from './run-as.ts'
import { SOCKET_PORT } from './settings.ts'

/** Longest path a socket may have: 107 bytes on Linux, 103 on macOS. */
const longestPathBytes = 103

/**
 * Prepares a directory for the server's socket that only its user can enter: below the data directory if the path is
 * short enough, else below the system's temporary directory. Removes files of an earlier server, so call it only under
 * the lock of the data directory.
 */
export function prepareSocketDir(dataDir: string, user: RunAs): string {
  for (const directory of candidates(dataDir)) {
    if (!makePrivate(directory, user)) continue
    // Files of a server that was killed. If another process has its id now, PostgreSQL would not start.
    for (const name of readdirSync(directory)) if (name.startsWith('.s.PGSQL.')) rmSync(join(directory, name))
    return directory
  }
  throw new DatabaseStartError(
    `No private directory for the database's socket could be created below ${dataDir} or ${tmpdir()}.`,
  )
}

/**
 * The socket directory of the server that runs on a data directory; null when there is none that this process can see.
 * @param dataDir absolute, with links resolved
 */
export function findSocketDir(dataDir: string, user: RunAs): string | null {
  const self = process.getuid?.() ?? 0
  for (const directory of candidates(dataDir)) {
    const found = lstatSync(directory, { throwIfNoEntry: false })
    // A directory of another user could lead to a database of his.
    if (found?.isDirectory() !== true || (found.uid !== (user?.uid ?? self) && found.uid !== self)) continue
    if (existsSync(join(directory, `.s.PGSQL.${SOCKET_PORT}`))) return directory
  }
  return null
}

function candidates(dataDir: string): string[] {
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  return [
    join(dataDir, 'run'),
    ...[tmpdir(), '/tmp'].flatMap((temporary) => [0, 1, 2].map((n) => join(temporary, `faultline-${digest}-${n}`))),
  ].filter((directory) => Buffer.byteLength(`${directory}/.s.PGSQL.${SOCKET_PORT}.lock`) <= longestPathBytes)
}

/** @returns false when another user owns a directory of that name */
function makePrivate(directory: string, user: RunAs): boolean {
  try {
    mkdirSync(directory, { mode: 0o700 })
    if (user) chownSync(directory, user.uid, user.gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false
  }
  const found = lstatSync(directory)
  const self = process.getuid?.() ?? 0
  if (!found.isDirectory() || (found.uid !== (user?.uid ?? self) && found.uid !== self)) return false
  chmodSync(directory, 0o700)
  if (user) chownSync(directory, user.uid, user.gid)
  return true
}
