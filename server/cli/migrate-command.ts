import { readConfig } from '../config.ts'
import { migrateDatabase, openDatabase } from './database.ts'
import { createStopper } from './stopper.ts'

/** `faultline migrate`: pending migrations, one line each. A signal takes back the one that runs. */
export async function migrateCommand(): Promise<void> {
  const config = readConfig()
  const say = (line: string): void => console.log(line)
  const stopper = createStopper()
  await stopper.start(async () => {
    const database = await openDatabase(config, say, stopper.signal)
    stopper.last(() => database.stop())
    const applied = await migrateDatabase(database.connectionString, say, stopper.signal)
    stopper.stop(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.length} migrations.`, 0)
  })
}
