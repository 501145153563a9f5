import { readConfig } from '../../config/config.ts'
import { migrateDatabase, openDatabase } from './database.ts'
import { createStopper } from './stopper.ts'

/** `faultline migrate`: applies pending migrations, one line each. A signal rolls back the running one. */
export async function migrateCommand(): Promise<void> {
  const config = readConfig()
  const print = (line: string): void => console.log(line)
  const stopper = createStopper()
  await stopper.start(async () => {
    const database = await openDatabase(config, print, stopper.signal)
    stopper.onStop(() => database.stop())
    const applied = await migrateDatabase(database.connectionString, print, stopper.signal)
    stopper.stop(
      applied.length === 0
        ? 'The database is up to date.'
        : `Applied ${applied.length} ${applied.length === 1 ? 'migration' : 'migrations'}.`,
      0,
    )
  })
}
