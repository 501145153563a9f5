import { errorText } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { Database } from '../../platform/storage/database.ts'
import { createPool } from '../../platform/storage/pool.ts'
import { explainDatabaseError } from './backup-error.ts'
import { finishRun, insertRun } from './backup-runs.queries.ts'
import { emptySpoolFile } from '../../ingest/spool/spool-file.ts'
import { type BackupOptions, type BackupResult, writeBackup } from './write-backup.ts'

/**
 * Writes a backup, and records in the database that it did, or why it could not.
 * @param options with the data folder of an embedded database, whose spool file may have what the backup must contain
 * @throws BackupError with one line for the operator
 */
export async function runBackup(
  options: BackupOptions & { readonly spoolFileIn: string | null },
): Promise<BackupResult> {
  const { connectionString, clock } = options
  const db = new Database(createPool({ connectionString, name: 'faultline backups', max: 1, onError: () => {} }))
  const id = newId()
  try {
    await insertRun(db, { id, folder: options.place.name, startedAt: clock.now() })
    if (options.spoolFileIn !== null) await emptySpoolFile(db, options.spoolFileIn)
    const result = await writeBackup(options)
    await finishRun(db, id, clock.now(), result)
    return result
  } catch (error) {
    const problem = errorText(error)
    // The database may be the reason.
    await finishRun(db, id, clock.now(), { problem }).catch(() => {})
    throw explainDatabaseError(error)
  } finally {
    await db.close()
  }
}
