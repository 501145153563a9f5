import { createApp, createLog } from '../app.ts'
import { readConfig } from '../../config/config.ts'
import type { App } from '../../platform/context/app.ts'
import { existingEncryptionKeys } from '../../platform/storage/seal.ts'
import { checkMigrated } from './check-migrated.ts'
import { openExistingDatabase } from './database.ts'
import { operatorError } from './operator-error.ts'
import { createStopper } from './stopper.ts'

/**
 * Runs a command of the operator on the database of a running service, or on one it starts meanwhile. It applies no
 * migrations and creates no keys.
 * @param work returns the lines that say what it did
 */
export async function withApp(work: (app: App) => Promise<string | readonly string[]>): Promise<void> {
  const environment = readConfig()
  // The lines of the command are the answer; what it logs is in the audit log.
  const quiet = { ...environment, logLevel: 'warn' as const }
  const stopper = createStopper()
  await stopper.start(() =>
    operatorError(async () => {
      const { connectionString, dataDir, stop } = await openExistingDatabase(quiet, console.error, stopper.signal)
      stopper.onStop(stop)
      const config = { ...quiet, dataDir }
      if (config.encryptionKeys === null) existingEncryptionKeys(dataDir)
      await checkMigrated(connectionString)
      const app = await createApp(config, connectionString, 2, 'admin', { log: createLog(config) })
      stopper.onStop(() => app.close())
      const lines = [await work(app)].flat()
      for (const line of lines.slice(0, -1)) console.log(line)
      stopper.stop(lines.at(-1) ?? '', 0)
    }),
  )
}
