import pg from 'pg'
import type { Config } from '../config.ts'
import { migrateJobs } from '../jobs/run-jobs.ts'
import { abortable } from '../kernel/abortable.ts'
import { chooseDataDir } from '../embedded-postgres/data-dir.ts'
import { startEmbeddedPostgres } from '../embedded-postgres/start.ts'
import { checkExternalDatabase } from '../storage/external.ts'
import { migrate } from '../storage/migrate.ts'

export type OpenDatabase = {
  readonly connectionString: string
  /** What an operator should read once. */
  readonly notes: readonly string[]
  /** Where files of this installation go: FAULTLINE_DATA_DIR, or where the database had to move. */
  readonly dataDir: string
  /** Settles, with the reason, when an embedded database is gone for good. */
  readonly failed: Promise<string>
  stop(): Promise<void>
}

/**
 * The database the configuration names, up and reachable: DATABASE_URL, or the embedded one, started here.
 * @param signal gives up, with nothing left running
 * @throws DatabaseStartError with one line for the operator; the signal's reason
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
  const postgres = await startEmbeddedPostgres({ dataDir, log: progress, signal })
  return {
    connectionString: postgres.connectionString,
    notes: [...(note === undefined ? [] : [note]), ...postgres.notes],
    dataDir: postgres.dataDir,
    failed: postgres.failed,
    stop: () => postgres.stop(),
  }
}

/**
 * Applies pending migrations; returns their names.
 * @param signal breaks off: the file that is being applied is taken back
 * @throws the signal's reason
 */
export async function migrateDatabase(
  connectionString: string,
  progress: (line: string) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<string[]> {
  signal.throwIfAborted()
  const client = new pg.Client({ connectionString, application_name: 'faultline migrate' })
  // What breaks between two statements is told by the next one.
  client.on('error', () => {})
  const breakOff = (): void => void client.connection.stream.destroy()
  signal.addEventListener('abort', breakOff, { once: true })
  try {
    await client.connect()
    // The server looks whether we are still there, where it can: a long statement, or the wait for somebody else's
    // migration, ends with us.
    await client.query('set client_connection_check_interval = 1000').catch(() => {})
    const applied = await migrate(client, progress)
    await client.end()
    await abortable(migrateJobs(connectionString), signal)
    return applied
  } catch (error) {
    await client.end()
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', breakOff)
  }
}
