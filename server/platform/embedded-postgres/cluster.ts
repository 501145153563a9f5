import { spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseStartError } from '../storage/pool.ts'
import type { Binaries } from './binaries.ts'
import { signal as sendSignal } from './processes.ts'
import { initUser, isRoot, type RunAs } from './run-as.ts'

/** Superuser and database inside the cluster. */
export const CLUSTER_USER = 'faultline'
export const CLUSTER_DATABASE = 'faultline'

/**
 * Creates the cluster unless it exists, in a temporary directory that is renamed at the end, so that an existing cluster
 * is complete.
 * @returns whether it was created
 * @throws DatabaseStartError when it belongs to another major version, or cannot be created
 */
export async function ensureCluster(options: {
  clusterDir: string
  binaries: Binaries
  owner: RunAs
  sync: boolean
  /** Stops and deletes the incomplete cluster. */
  signal: AbortSignal
}): Promise<boolean> {
  const { clusterDir, binaries, owner, signal } = options
  const workshop = join(dirname(clusterDir), '.postgres-init')
  // With retries: an initdb whose parent was killed may still write its last files.
  rmSync(workshop, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })

  if (existsSync(clusterDir)) {
    checkVersion(clusterDir, binaries.majorVersion)
    if (isRoot() && owner && statSync(clusterDir).uid !== owner.uid) giveTo(clusterDir, owner)
    return false
  }

  const maker = initUser()
  mkdirSync(workshop, { mode: 0o700 })
  if (maker) chownSync(workshop, maker.uid, maker.gid)
  const made = join(workshop, 'cluster')
  try {
    await runTool(binaries.initdb, initArguments(made, binaries.majorVersion, options.sync), maker, signal)
    await runTool(
      binaries.postgres,
      [
        '--single',
        '-D',
        made,
        '-c',
        'log_min_messages=fatal',
        ...(options.sync ? [] : ['-c', 'fsync=off']),
        'postgres',
      ],
      maker,
      signal,
      `CREATE DATABASE ${CLUSTER_DATABASE}\n`,
    )
  } catch (error) {
    if (signal.aborted) rmSync(workshop, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    throw error
  }
  if (owner) giveTo(made, owner)
  renameSync(made, clusterDir)
  if (options.sync) syncDirectory(dirname(clusterDir))
  rmSync(workshop, { recursive: true, force: true })
  return true
}

/**
 * UTF-8 text, compared byte by byte, so that the order of an index does not depend on a library that a system upgrade may
 * change. Connections need no password, because only their user can enter the socket's directory.
 */
function initArguments(directory: string, majorVersion: number, sync: boolean): string[] {
  return [
    `--pgdata=${directory}`,
    `--username=${CLUSTER_USER}`,
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    '--locale=C',
    ...(majorVersion >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
    '--data-checksums',
    ...(sync ? [] : ['--no-sync']),
  ]
}

function checkVersion(clusterDir: string, wanted: number): void {
  const file = join(clusterDir, 'PG_VERSION')
  if (!existsSync(file)) {
    throw new DatabaseStartError(
      `${clusterDir} exists but holds no PostgreSQL data: move it away, or choose another FAULTLINE_DATA_DIR.`,
    )
  }
  const found = readFileSync(file, 'utf8').trim()
  if (found === String(wanted)) return
  throw new DatabaseStartError(
    `${clusterDir} was created by PostgreSQL ${found}, and this version of Faultline contains PostgreSQL ${wanted}: ` +
      `go back to the earlier version of Faultline and move the data by backup and restore (docs/running.md).`,
  )
}

function giveTo(path: string, { uid, gid }: { uid: number; gid: number }): void {
  lchownSync(path, uid, gid)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) giveTo(inner, { uid, gid })
    else lchownSync(inner, uid, gid)
  }
}

function syncDirectory(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Runs a tool of PostgreSQL to its end, or until the signal aborts.
 * @throws DatabaseStartError with its output when it fails; the signal's reason
 */
async function runTool(binary: string, args: string[], user: RunAs, signal: AbortSignal, input = ''): Promise<void> {
  signal.throwIfAborted()
  const child = spawn(binary, args, {
    ...user,
    env: TOOL_ENVIRONMENT,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  // Kills its process group, which has the servers it started. The incomplete cluster is deleted anyway.
  const end = (): void => {
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL')
  }
  signal.addEventListener('abort', end, { once: true })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  }).finally(() => signal.removeEventListener('abort', end))
  signal.throwIfAborted()
  if (code !== 0) throw new DatabaseStartError(explainInit(said))
}

/** Without the caller's PG* and locale variables. */
export const TOOL_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

function explainInit(said: string): string {
  if (/No space left on device/i.test(said)) return 'The disk is full: PostgreSQL could not create its data directory.'
  if (/could not look up effective user ID/i.test(said)) {
    return `The user id ${process.getuid?.()} has no entry in /etc/passwd, which PostgreSQL needs once to create its data: add one, or set DATABASE_URL.`
  }
  const lines = said.split('\n').map((line) => line.trim())
  const reason =
    lines.find((line) => /error|fatal|could not|detail/i.test(line)) ?? lines.findLast((line) => line !== '')
  return `PostgreSQL could not create its data directory: ${reason ?? 'it gave no reason'}.`
}
