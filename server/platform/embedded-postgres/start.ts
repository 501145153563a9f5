import { chmodSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errorText } from '../kernel/errors.ts'
import { abortable } from '../kernel/abortable.ts'
import { DatabaseStartError, DiskFullError } from '../storage/pool.ts'
import { type BinarySet, hasPackage, prepareBinaries } from './binaries.ts'
import { CLUSTER_DATABASE, CLUSTER_USER, ensureCluster } from './cluster.ts'
import { lockDataDir } from './lock.ts'
import { stopOrphans } from './orphans.ts'
import { startPostmaster, type Postmaster } from './postmaster.ts'
import { canEnter, initUser, isRoot, serverUser } from './run-as.ts'
import { type Durability, serverSettings, SOCKET_PORT } from './settings.ts'
import { findSocketDir, prepareSocketDir } from './socket-dir.ts'
import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat, statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

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
  /** Beside those of a service with one digest thread. */
  moreConnections?: number
  /** Aborts the start and leaves nothing running or locked; has no effect afterwards. */
  signal?: AbortSignal
}): Promise<EmbeddedPostgres> {
  const { log, binaries: set = 'pg18', durability = 'full', signal = new AbortController().signal } = options
  const { moreConnections = 0 } = options
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
    const { majorVersion } = binaries
    const settings = serverSettings({ socketDir: sockets, majorVersion, durability, moreConnections })
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

/** Whether the packages contain a PostgreSQL for this machine. */
export const isEmbeddedPostgresInstalled = (): boolean => hasPackage('pg18')

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

/** Three segments of PostgreSQL's log: enough to replay it, write a checkpoint and answer queries. */
const RESERVE_BYTES = 48 * 1024 * 1024
/** The reserve is written only when this many times its size is free. */
const ROOM_FACTOR = 8
const PIECE_BYTES = 1024 * 1024
const FILE = 'reserve'
const FIRST_AFTER_MS = 5_000
const EVERY_MS = 30_000

/** Disk space that is released when the disk is full (docs/decisions/database-outages.md). */
type Reserve = {
  /** Deletes the file immediately. */
  release(): void
  close(): void
}

/**
 * Keeps a file of {@link RESERVE_BYTES} beside the cluster. PostgreSQL ends when it cannot extend its log, and cannot
 * start again on a full disk: then the file is deleted, so that the database starts and can be read. It is written
 * again when enough space is free.
 */
export function keepReserve(dataDir: string): Reserve {
  const path = join(dataDir, FILE)
  let closed = false
  let writing: Promise<void> = Promise.resolve()
  const keep = (): void => {
    writing = writing.then(() => (closed ? undefined : fillReserve(dataDir))).catch(() => {})
  }
  const first = setTimeout(keep, FIRST_AFTER_MS)
  const timer = setInterval(keep, EVERY_MS)
  first.unref()
  timer.unref()
  return {
    release: () => rmSync(path, { force: true }),
    close() {
      closed = true
      clearTimeout(first)
      clearInterval(timer)
    },
  }
}

/** Writes the reserve unless it exists or too little space is free. */
export async function fillReserve(dataDir: string): Promise<void> {
  const path = join(dataDir, FILE)
  const existing = await stat(path).catch(() => null)
  if (existing?.size === RESERVE_BYTES) return
  const { bavail, bsize } = await statfs(dataDir)
  if (bavail * bsize < RESERVE_BYTES * ROOM_FACTOR) return
  // Random bytes, because some file systems do not allocate zeros.
  const piece = randomBytes(PIECE_BYTES)
  const draft = `${path}.draft`
  const file = await open(draft, 'w', 0o600)
  try {
    for (let written = 0; written < RESERVE_BYTES; written += PIECE_BYTES) await file.write(piece)
    await file.datasync()
    await rename(draft, path)
  } finally {
    await file.close()
    await rm(draft, { force: true })
  }
}

/** Maximum restarts within a minute. */
const RESTARTS_PER_MINUTE = 3
/** Pause between attempts on a full disk. They never end, because an operator will free space. */
const FULL_DISK_PAUSE_MS = 1_000

type Supervisor = {
  stop(): Promise<void>
  /** Resolves with the reason when the server could not be started again. */
  readonly failed: Promise<string>
}

/** Starts the server again, at the same address, when it ends by itself. */
export function supervise(
  first: Postmaster,
  options: {
    /** Must leave nothing running when the signal aborts. */
    start: (signal: AbortSignal) => Promise<Postmaster>
    clusterDir: string
    log: (line: string) => void
    /** Whether the server recently logged that the disk is full. Such ends do not count as restarts. */
    diskWasFull: () => boolean
  },
): Supervisor {
  const { start, clusterDir, log, diskWasFull } = options
  let current = first
  const stopping = new AbortController()
  let restarting: Promise<void> | undefined
  const restarts: number[] = []
  const { promise: failed, resolve: fail } = Promise.withResolvers<string>()

  const startAgain = async (reason: string): Promise<void> => {
    const now = performance.now()
    if (!diskWasFull()) restarts.push(now)
    if (restarts.filter((at) => now - at < 60_000).length > RESTARTS_PER_MINUTE) {
      fail(`PostgreSQL ${reason}, and did so ${restarts.length} times: giving up`)
      return
    }
    log(`PostgreSQL ${reason}: starting it again`)
    try {
      // It has ended; this ends its watchdog.
      await current.stop()
      await abortable(stopOrphans(clusterDir), stopping.signal)
      await delay(50 * restarts.length)
      const next = await startWithDiskSpace()
      if (next === null) return
      current = next
      watch(next)
      // `stop` was called while it was starting.
      if (stopping.signal.aborted) await next.stop()
    } catch (error) {
      // `stop` was called: this is no failure of the server.
      if (stopping.signal.aborted) return
      fail(errorText(error))
    }
  }

  /** Starts the server, and waits as long as the disk is full. @returns null after `stop` */
  const startWithDiskSpace = async (): Promise<Postmaster | null> => {
    for (let isLogged = false; !stopping.signal.aborted; isLogged = true) {
      try {
        return await start(stopping.signal)
      } catch (error) {
        if (!(error instanceof DiskFullError)) throw error
        if (!isLogged) log('The disk is full: PostgreSQL starts again when space is free')
        await delay(FULL_DISK_PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
    return null
  }

  function watch(postmaster: Postmaster): void {
    void postmaster.ended.then((reason) => {
      if (!stopping.signal.aborted) restarting = startAgain(reason)
    })
  }
  watch(first)

  return {
    failed,
    async stop() {
      stopping.abort()
      await restarting
      await current.stop()
    },
  }
}
