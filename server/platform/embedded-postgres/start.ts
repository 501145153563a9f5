import { chmodSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { abortable } from '../kernel/abortable.ts'
import { DatabaseStartError, DiskFullError } from '../storage/database-start-error.ts'
import { type BinarySet, prepareBinaries } from './binaries.ts'
import { CLUSTER_DATABASE, CLUSTER_USER, ensureCluster } from './cluster.ts'
import { lockDataDir } from './lock.ts'
import { stopOrphans } from './orphans.ts'
import { startPostmaster } from './postmaster.ts'
import { keepReserve } from './reserve.ts'
import { canEnter, initUser, isRoot, serverUser } from './run-as.ts'
import { type Durability, serverSettings, SOCKET_PORT } from './settings.ts'
import { findSocketDir, prepareSocketDir } from './socket-dir.ts'
import { supervise } from './supervise.ts'

/** The database's directory in the data directory. */
const CLUSTER_DIRECTORY = 'postgres'

export type EmbeddedPostgres = {
  /** For `pg` and libpq; uses a unix socket. */
  connectionString: string
  majorVersion: number
  /** Absolute, with links resolved. */
  dataDir: string
  /** Lines for the operator: a first initialisation, recovery after an unclean stop. */
  notes: string[]
  /** Stops the server and releases the data directory. Cuts open connections. */
  stop(): Promise<void>
  /** Resolves with the reason if the server ended by itself and could not be started again. */
  failed: Promise<string>
}

/**
 * Starts the embedded database on a data directory, which it creates when needed. For root it runs as another user. It
 * recovers after `kill -9`, is started again when it ends, and stops soon after our process ends for any reason.
 * @param options.dataDir the installation's directory; the database lives in `postgres/` below it
 * @throws DatabaseStartError with one line for the operator; the signal's reason
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string
  log: (line: string) => void
  binaries?: BinarySet
  durability?: Durability
  /** Aborts the start and leaves nothing running or locked; has no effect afterwards. */
  signal?: AbortSignal
}): Promise<EmbeddedPostgres> {
  const { log, binaries: set = 'pg18', durability = 'full', signal = new AbortController().signal } = options
  const dataDir = openDataDir(resolve(options.dataDir), durability)
  const clusterDir = join(dataDir, CLUSTER_DIRECTORY)
  const user = serverUser(clusterDir)
  if (!canEnter(dataDir, user)) {
    throw new DatabaseStartError(
      `The database runs as user ${user?.uid ?? process.getuid?.()}, which cannot enter ${dataDir}: let it enter ` +
        'the directories above (chmod o+x), or choose another FAULTLINE_DATA_DIR.',
    )
  }
  let release = () => {}
  let socketDir: string | undefined
  try {
    release = lockDataDir(dataDir)
    const binaries = prepareBinaries(set, dataDir, isRoot() ? [user, initUser()] : [undefined])
    const notes: string[] = []
    const orphan = await abortable(stopOrphans(clusterDir), signal)
    if (orphan) notes.push(orphan)
    const isNew = await ensureCluster({ clusterDir, binaries, owner: user, sync: durability === 'full', signal })
    if (isNew) notes.push(`created a new database in ${clusterDir}`)

    const sockets = prepareSocketDir(dataDir, user)
    socketDir = sockets
    const settings = serverSettings({ socketDir: sockets, majorVersion: binaries.majorVersion, durability })
    // Not for tests, which have many databases and delete them.
    const reserve = durability === 'full' ? keepReserve(dataDir) : null
    let diskFullAtMs = Number.NEGATIVE_INFINITY
    const onDiskFull = (): void => {
      diskFullAtMs = performance.now()
      reserve?.release()
    }
    const start = (until: AbortSignal) =>
      startPostmaster({ postgres: binaries.postgres, clusterDir, user, settings, log, onDiskFull, signal: until })
    const first = await start(signal)
      // Again, because the reserve was released.
      .catch((error: unknown) => {
        if (error instanceof DiskFullError && reserve !== null) return start(signal)
        throw error
      })
      .catch((error: unknown) => {
        reserve?.close()
        throw error
      })
    if (first.recovered) notes.push('the database recovered from an unclean stop')
    const diskWasFull = () => performance.now() - diskFullAtMs < DISK_FULL_MS
    const supervisor = supervise(first, { start, clusterDir, log, diskWasFull })

    return {
      connectionString: connectionString(sockets),
      majorVersion: binaries.majorVersion,
      dataDir,
      notes,
      failed: supervisor.failed,
      async stop() {
        reserve?.close()
        await supervisor.stop()
        rmSync(sockets, { recursive: true, force: true })
        release()
      },
    }
  } catch (error) {
    if (socketDir !== undefined) rmSync(socketDir, { recursive: true, force: true })
    release()
    throw explainFileError(error, dataDir)
  }
}

/**
 * How to reach the embedded database that another process runs on a data directory.
 * @returns null when its socket is not visible here, as in another container
 */
export function runningEmbeddedPostgres(given: string): { connectionString: string; dataDir: string } | null {
  const dataDir = realpathSync(resolve(given))
  const socketDir = findSocketDir(dataDir, serverUser(join(dataDir, CLUSTER_DIRECTORY)))
  return socketDir === null ? null : { connectionString: connectionString(socketDir), dataDir }
}

/** The server's end counts as caused by a full disk this long after it logged that. */
const DISK_FULL_MS = 10_000

/** The host parameter takes precedence over the authority, which URL parsers require. */
const connectionString = (socketDir: string): string =>
  `postgresql://${CLUSTER_USER}@localhost:${SOCKET_PORT}/${CLUSTER_DATABASE}?host=${encodeURIComponent(socketDir)}`

/** Creates the directory when needed: private, but for root the database's user can enter it. */
function openDataDir(given: string, durability: Durability): string {
  try {
    const firstCreated = mkdirSync(given, { recursive: true, mode: 0o700 })
    if (isRoot() && firstCreated !== undefined) {
      // Regardless of the umask. Others cannot list it, and its files have their own modes.
      for (let path = given; path.length >= firstCreated.length; path = dirname(path)) chmodSync(path, 0o711)
    }
    const dataDir = realpathSync(given)
    if (firstCreated === undefined) makePrivate(dataDir)
    // Test runs create it with mkdtemp, which other users cannot enter.
    if (durability === 'none-for-tests' && isRoot()) chmodSync(dataDir, statSync(dataDir).mode | 0o011)
    return dataDir
  } catch (error) {
    throw explainFileError(error, given)
  }
}

/** An existing data directory, such as one of an older version, may be readable by others. A shared directory stays. */
function makePrivate(dataDir: string): void {
  const { uid, mode } = statSync(dataDir)
  const entries = readdirSync(dataDir)
  const isOurs = entries.length === 0 || entries.includes(CLUSTER_DIRECTORY)
  if (!isOurs || uid !== process.getuid?.()) return
  // As root, the database's user must enter it.
  const wanted = isRoot() ? 0o711 : 0o700
  if ((mode & 0o777 & ~wanted) !== 0) chmodSync(dataDir, wanted)
}

/** Explains a failed file operation in the data directory to the operator. Returns other errors unchanged. */
function explainFileError(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error
  const reasons: Record<string, string> = {
    EACCES: 'this user may not write there',
    EPERM: 'this user may not write there',
    EROFS: 'it is read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    EEXIST: 'it is not a directory',
    ENOTDIR: 'it is not a directory',
  }
  const reason = reasons[String(error.code)] ?? error.message
  return new DatabaseStartError(
    `The data directory ${dataDir} cannot be used (${reason}): choose another FAULTLINE_DATA_DIR.`,
    {
      cause: error,
    },
  )
}
