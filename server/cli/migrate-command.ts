import { readConfig } from '../config.ts'
import { migrateDatabase, openDatabase } from './database.ts'

/** `faultline migrate`: pending migrations, one line each. */
export async function migrateCommand(): Promise<void> {
  const config = readConfig()
  const say = (line: string): void => console.log(line)
  const database = await openDatabase(config, say)
  try {
    const applied = await migrateDatabase(database.connectionString, say)
    say(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.length} migrations.`)
  } finally {
    await database.stop()
  }
}
