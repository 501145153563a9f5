import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseStartError } from '../database-start-error.ts'
import { type BinarySet, prepareBinaries } from './binaries.ts'
import { CLUSTER_DATABASE, CLUSTER_USER, ensureCluster } from './cluster.ts'
import { lockDataDir } from './lock.ts'
import { stopOrphans } from './orphans.ts'
import { type Postmaster, startPostmaster } from './postmaster.ts'
import { canEnter, initUser, isRoot, serverUser } from './run-as.ts'
import { type Durability, serverSettings, SOCKET_PORT } from './settings.ts'
import { prepareSocketDir } from './socket-dir.ts'

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
 * @throws DatabaseStartError with one line for the operator
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string
  log: (line: string) => void
  binaries?: BinarySet
  durability?: Durability
}): Promise<EmbeddedPostgres> {
  const { log, binaries: set = 'pg18', durability = 'full' } = options
  const dataDir = openDataDir(options.dataDir, durability)
  const clusterDir = join(dataDir, 'postgres')
  const user = serverUser(clusterDir)
  if (!canEnter(dataDir, user)) {
    throw new DatabaseStartError(
      `The database runs as user ${user?.uid ?? process.getuid?.()}, which cannot enter ${dataDir}: allow it to pass ` +
        'through the directories above (chmod o+x), or choose another FAULTLINE_DATA_DIR.',
    )
  }
  const release = lockDataDir(dataDir)
  try {
    const binaries = prepareBinaries(set, dataDir, isRoot() ? [user, initUser()] : [undefined])
    const notes: string[] = []
    const orphan = await stopOrphans(clusterDir)
    if (orphan) notes.push(orphan)
    const isNew = await ensureCluster({ clusterDir, binaries, owner: user, sync: durability === 'full' })
    if (isNew) notes.push(`created a new database in ${clusterDir}`)

    const socketDir = prepareSocketDir(dataDir, user)
    const settings = serverSettings({ socketDir, majorVersion: binaries.majorVersion, durability })
    const start = () => startPostmaster({ postgres: binaries.postgres, clusterDir, user, settings, log })
    const first = await start()
    if (first.recovered) notes.push('the database recovered from an unclean stop')
    const supervisor = supervise(first, { start, clusterDir, log })

    return {
      connectionString: connectionString(socketDir),
      majorVersion: binaries.majorVersion,
      dataDir,
      notes,
      failed: supervisor.failed,
      async stop() {
        await supervisor.stop()
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

/** The host parameter wins over the authority, which only satisfies URL parsers. */
const connectionString = (socketDir: string): string =>
  `postgresql://${CLUSTER_USER}@localhost:${SOCKET_PORT}/${CLUSTER_DATABASE}?host=${encodeURIComponent(socketDir)}`

/** Creates the directory when needed: private, but passable for the database's user where we are root. */
function openDataDir(given: string, durability: Durability): string {
  try {
    mkdirSync(given, { recursive: true, mode: isRoot() ? 0o711 : 0o700 })
    const dataDir = realpathSync(given)
    // Test runs make theirs with mkdtemp, which lets nobody pass.
    if (durability === 'none-for-tests' && isRoot()) chmodSync(dataDir, statSync(dataDir).mode | 0o011)
    return dataDir
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason =
      code === 'EACCES' || code === 'EPERM'
        ? 'this user may not write there'
        : code === 'ENOSPC'
          ? 'the disk is full'
          : message
    throw new DatabaseStartError(
      `The data directory ${given} cannot be used (${reason}): choose another FAULTLINE_DATA_DIR.`,
      { cause: error },
    )
  }
}

/** Starts within a minute after which we stop bringing a dying server back. */
const restartsPerMinute = 3

/** Brings the server back when it dies without being asked to, with the same address. */
function supervise(
  first: Postmaster,
  { start, clusterDir, log }: { start: () => Promise<Postmaster>; clusterDir: string; log: (line: string) => void },
): { stop(): Promise<void>; failed: Promise<string> } {
  let current = first
  let isStopping = false
  let restarting: Promise<void> | undefined
  const restarts: number[] = []
  const { promise: failed, resolve: fail } = Promise.withResolvers<string>()

  const bringBack = async (reason: string): Promise<void> => {
    const now = performance.now()
    restarts.push(now)
    if (restarts.filter((at) => now - at < 60_000).length > restartsPerMinute) {
      fail(`PostgreSQL ${reason}, and did so ${restarts.length} times: giving up`)
      return
    }
    log(`PostgreSQL ${reason}: starting it again`)
    try {
      await stopOrphans(clusterDir)
      await delay(50 * restarts.length)
      const next = await start()
      current = next
      watch(next)
      // Asked to stop while it was coming up.
      if (isStopping) await next.stop()
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error))
    }
  }

  function watch(postmaster: Postmaster): void {
    void postmaster.ended.then((reason) => {
      if (!isStopping) restarting = bringBack(reason)
    })
  }
  watch(first)

  return {
    failed,
    async stop() {
      isStopping = true
      await restarting
      await current.stop()
    },
  }
}
