import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp, type AppParts } from '#server/service/app.ts'
import { migrateDatabase } from '#server/service/cli/database.ts'
import { readConfig } from '#server/config/config.ts'
import type { App } from '#server/platform/context/app.ts'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'

export type NewDatabase = {
  readonly connectionString: string
  /** For all processes: it holds the generated keys. */
  readonly dataDir: string
  /** A further process's worth of connections; closed with the database. */
  openApp(parts?: AppParts): Promise<App>
}

/** A migrated database of its own, for as long as `work` runs. */
export async function onNewDatabase<T>(work: (database: NewDatabase) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-torture-'))
  chmodSync(folder, 0o755)
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'database'), log: () => {} })
  const apps: App[] = []
  try {
    const { connectionString } = postgres
    const dataDir = join(folder, 'service')
    await migrateDatabase(connectionString, () => {}, new AbortController().signal)
    return await work({
      connectionString,
      dataDir,
      async openApp(parts) {
        const config = readConfig({ FAULTLINE_DATA_DIR: dataDir, LOG_LEVEL: 'fatal' })
        const app = await createApp(config, connectionString, 4, 'torture', parts)
        apps.push(app)
        return app
      },
    })
  } finally {
    for (const app of apps) await app.close()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
