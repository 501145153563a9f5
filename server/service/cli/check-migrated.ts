import { Database } from '../../platform/storage/database.ts'
import { pendingMigrations } from '../../platform/storage/migrate.ts'
import { refuseUnfinishedRestore } from '../backup/restore.queries.ts'
import { createPool, DatabaseStartError } from '../../platform/storage/pool.ts'

const UNDEFINED_TABLE = '42P01'

/** @throws DatabaseStartError when migrations are missing */
export async function checkMigrated(connectionString: string): Promise<void> {
  const db = new Database(createPool({ connectionString, name: 'faultline migrations', max: 1, onError: () => {} }))
  try {
    await refuseUnfinishedRestore(db)
    const pending = await pendingMigrations(db).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE) return null
      throw error
    })
    if (pending === null || pending.length > 0)
      throw new DatabaseStartError('The database is not up to date. Run the command "migrate" first.')
  } finally {
    await db.close()
  }
}
