import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../../config/config.ts'
import { migrateJobs } from '../../platform/jobs/run-jobs.ts'
import { abortable } from '../../platform/kernel/abortable.ts'
import { chooseDataDir } from '../../platform/embedded-postgres/data-dir.ts'
import { DataDirInUseError } from '../../platform/embedded-postgres/lock.ts'
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../../platform/embedded-postgres/start.ts'
import { DatabaseStartError } from '../../platform/storage/pool.ts'
import { checkExternalDatabase } from '../../platform/storage/external.ts'
import { migrate } from '../../platform/storage/migrate.ts'
import { refuseUnfinishedRestore } from '../backup/restore.queries.ts'

/** Further threads divide the parts of the spool: two for one part, and for each thread those of locks, heavy rows and messages. */
const CONNECTIONS_PER_DIGEST_THREAD = 5

export type OpenDatabase = {
  readonly connectionString: string
  /** Lines for the operator, printed once at start. */
  readonly notes: readonly string[]
  /** The directory for files of this installation: FAULTLINE_DATA_DIR, or the directory the database was moved to. */
  readonly dataDir: string
  /** Resolves with the reason when an embedded database has ended for good. */
  readonly failed: Promise<string>
  stop(): Promise<void>
}

/**
 * Connects to DATABASE_URL, or starts the embedded database. Returns when it is reachable.
 * @param signal aborts, and stops what was started
 * @throws DatabaseStartError with one line for the operator, or the signal's reason
 */
export async function openDatabase(
  config: Config,
  progress: (line: string) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<OpenDatabase> {
  if (config.databaseUrl !== null) {
    await abortable(checkExternalDatabase(config.databaseUrl), signal)
    return {
      connectionString: config.databaseUrl,
      notes: [],
      dataDir: config.dataDir,
      failed: new Promise(() => {}),
      stop: () => Promise.resolve(),
    }
  }
  const { dataDir, note } = chooseDataDir(config.dataDir, config.dataDirIsExplicit)
  progress('starting the database')
  const moreConnections = CONNECTIONS_PER_DIGEST_THREAD * (config.digestThreads - 1)
  const postgres = await startEmbeddedPostgres({ dataDir, log: progress, signal, moreConnections })
  return {
    connectionString: postgres.connectionString,
    notes: [...(note === undefined ? [] : [note]), ...postgres.notes],
    dataDir: postgres.dataDir,
    failed: postgres.failed,
    stop: () => postgres.stop(),
  }
}

/**
 * As {@link openDatabase}, for a command: it also works beside a running service, on its database.
 * @throws DatabaseStartError with one line for the operator, or the signal's reason
 */
export async function openExistingDatabase(
  config: Config,
  progress: (line: string) => void,
  signal: AbortSignal,
): Promise<Pick<OpenDatabase, 'connectionString' | 'dataDir' | 'stop'>> {
  if (config.databaseUrl !== null) return openDatabase(config, progress, signal)
  const { dataDir } = chooseDataDir(config.dataDir, config.dataDirIsExplicit)
  if (!existsSync(join(dataDir, 'postgres'))) throw new DatabaseStartError(`There is no database in ${dataDir}.`)
  try {
    return await openDatabase(config, progress, signal)
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error
    const running = runningEmbeddedPostgres(dataDir)
    if (running === null)
      throw new DatabaseStartError(
        `${error.message.replace(/:.*/, '')}, and its database cannot be reached from here: run this where the service runs.`,
        { cause: error },
      )
    return { ...running, stop: () => Promise.resolve() }
  }
}

/**
 * Applies pending migrations. @returns their names
 * @param signal aborts, and rolls back the running migration
 * @throws the signal's reason
 */
export async function migrateDatabase(
  connectionString: string,
  progress: (line: string) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<string[]> {
  signal.throwIfAborted()
  const client = new pg.Client({ connectionString, application_name: 'faultline migrate' })
  // The next statement reports an error that occurs between two statements.
  client.on('error', () => {})
  const disconnect = (): void => void client.connection.stream.destroy()
  signal.addEventListener('abort', disconnect, { once: true })
  try {
    await client.connect()
    // Where the server supports it, a long statement or the wait for another migration ends with this connection.
    await client.query('set client_connection_check_interval = 1000').catch(() => {})
    await refuseUnfinishedRestore(client)
    const applied = await migrate(client, progress)
    await client.end()
    await abortable(migrateJobs(connectionString), signal)
    return applied
  } catch (error) {
    await client.end()
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', disconnect)
  }
}
