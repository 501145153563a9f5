import { chmodSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
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
import { prepareSocketDir } from './socket-dir.ts'
import { supervise } from './supervise.ts'

export type EmbeddedPostgres = {
  /** For `pg` and libpq alike; leads through a unix socket. */
  connectionString: string
  majorVersion: number
  /** As given, absolute, links resolved. */
  dataDir: string
  /** What an operator should read once: a first initialisation, recovery after an unclean stop. */
  notes: string[]
  /** Stops the server and gives the data directory back. Close your connections before; those left are cut. */
  stop(): Promise<void>
  /** Settles, with the reason, only when the server ended by itself and could not be brought back. */
  failed: Promise<string>
}

/**
 * Starts the database that comes with Faultline on a data directory of its own, creating it when needed. Runs it
 * unprivileged when we are root, recovers from whatever a `kill -9` left behind, restarts it should it die, and stops
 * it soon after we die ourselves, however that happens.
 * @param options.dataDir the installation's directory; the database lives in `postgres/` below it
 * @throws DatabaseStartError with one line for the operator; the signal's reason
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string
  log: (line: string) => void
  binaries?: BinarySet
  durability?: Durability
  /** Gives up a start that is under way, with nothing left running or locked; no matter once it has started. */
  signal?: AbortSignal
}): Promise<EmbeddedPostgres> {
  const { log, binaries: set = 'pg18', durability = 'full', signal = new AbortController().signal } = options
  const dataDir = openDataDir(resolve(options.dataDir), durability)
  const clusterDir = join(dataDir, 'postgres')
  const user = serverUser(clusterDir)
  if (!canEnter(dataDir, user)) {
    throw new DatabaseStartError(
      `The database runs as user ${user?.uid ?? process.getuid?.()}, which cannot enter ${dataDir}: allow it to pass ` +
        'through the directories above (chmod o+x), or choose another FAULTLINE_DATA_DIR.',
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
    // Databases of tests are many and thrown away.
    const reserve = durability === 'full' ? keepReserve(dataDir) : null
    let diskFullAtMs = Number.NEGATIVE_INFINITY
    const onDiskFull = (): void => {
      diskFullAtMs = performance.now()
      reserve?.release()
    }
    const start = (until: AbortSignal) =>
      startPostmaster({ postgres: binaries.postgres, clusterDir, user, settings, log, onDiskFull, signal: until })
    const first = await start(signal)
      // What was set aside for this is free now.
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

/** How long after the server found no room its end counts as caused by that. */
const DISK_FULL_MS = 10_000

/** The host parameter wins over the authority, which only satisfies URL parsers. */
const connectionString = (socketDir: string): string =>
  `postgresql://${CLUSTER_USER}@localhost:${SOCKET_PORT}/${CLUSTER_DATABASE}?host=${encodeURIComponent(socketDir)}`

/** Creates the directory when needed: private, but passable for the database's user where we are root. */
function openDataDir(given: string, durability: Durability): string {
  try {
    const firstCreated = mkdirSync(given, { recursive: true, mode: 0o700 })
    if (isRoot() && firstCreated !== undefined) {
      // Whatever the umask says. Nobody can list it, and what lies in it has modes of its own.
      for (let path = given; path.length >= firstCreated.length; path = dirname(path)) chmodSync(path, 0o711)
    }
    const dataDir = realpathSync(given)
    // Test runs make theirs with mkdtemp, which lets nobody pass.
    if (durability === 'none-for-tests' && isRoot()) chmodSync(dataDir, statSync(dataDir).mode | 0o011)
    return dataDir
  } catch (error) {
    throw explainFileError(error, given)
  }
}

/** A failed file operation in the data directory, in words for the operator. Other errors stay as they are. */
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
