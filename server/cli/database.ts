import pg from 'pg'
import type { Config } from '../config.ts'
import { migrateJobs } from '../jobs/run-jobs.ts'
import { chooseDataDir } from '../storage/embedded/data-dir.ts'
import { startEmbeddedPostgres } from '../storage/embedded/start.ts'
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
 * @throws DatabaseStartError with one line for the operator
 */
export async function openDatabase(config: Config, progress: (line: string) => void): Promise<OpenDatabase> {
  if (config.databaseUrl !== null) {
    await checkExternalDatabase(config.databaseUrl)
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
  const postgres = await startEmbeddedPostgres({ dataDir, log: progress })
  return {
    connectionString: postgres.connectionString,
    notes: [...(note === undefined ? [] : [note]), ...postgres.notes],
    dataDir: postgres.dataDir,
    failed: postgres.failed,
    stop: () => postgres.stop(),
  }
}

/** Applies pending migrations; returns their names. */
export async function migrateDatabase(connectionString: string, progress: (line: string) => void): Promise<string[]> {
  const client = new pg.Client({ connectionString, application_name: 'faultline migrate' })
  // What breaks between two statements is told by the next one.
  client.on('error', () => {})
  await client.connect()
  try {
    const applied = await migrate(client, progress)
    await migrateJobs(connectionString)
    return applied
  } finally {
    await client.end()
  }
}
