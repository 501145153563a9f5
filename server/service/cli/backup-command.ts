import { resolve } from 'node:path'
import { callersFolder, readConfig, type Config } from '../../config.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { chooseDataDir } from '../../platform/embedded-postgres/data-dir.ts'
import { DatabaseStartError } from '../../platform/storage/pool.ts'
import { createSealer, existingEncryptionKeys, parseEncryptionKeys, type Sealer } from '../../platform/storage/seal.ts'
import { deriveBackupKey, type BackupKey } from '../backup/backup-key.ts'
import { restoreBackup } from '../backup/restore-backup.ts'
import { verifyBackup } from '../backup/verify-backup.ts'
import { writeBackup } from '../backup/write-backup.ts'
import { checkMigrated } from './check-migrated.ts'
import { openDatabase, openExistingDatabase } from './database.ts'
import { operatorError } from './operator-error.ts'
import { progressLine } from './progress-line.ts'
import { createStopper } from './stopper.ts'

/** `faultline backup` and `faultline restore` (docs/backup.md). */

/** A script that copies the backup afterwards must learn that there is none. */
const INCOMPLETE = { signalCode: 1 }

/** `faultline backup`: writes a backup of the database of a running service, or of one it starts meanwhile. */
export async function backupCommand(given: string | undefined, { keep }: { readonly keep?: number }): Promise<void> {
  const config = readConfig()
  const folder = folderOf(given, config)
  const stopper = createStopper(undefined, undefined, INCOMPLETE)
  await stopper.start(() =>
    operatorError(async () => {
      const { connectionString, dataDir, stop } = await openExistingDatabase(config, console.error, stopper.signal)
      stopper.onStop(stop)
      await checkMigrated(connectionString)
      const startedMs = performance.now()
      const done = await writeBackup({
        connectionString,
        folder,
        dataDir,
        version: config.version,
        key: keyOf(config),
        keep: keep ?? null,
        progress: progressLine(),
        signal: stopper.signal,
      })
      console.log(
        `${countedWord(done.rows, 'row')} in ${countedWord(done.tables, 'table')}, ${sizeText(done.bytes)}, stored in ${sizeText(done.storedBytes)}: ${sizeText(done.writtenBytes)} written, ${countedWord(done.reusedFiles, 'file')} of earlier backups used again.`,
      )
      if (done.deletedBackups > 0) console.log(`Deleted ${countedWord(done.deletedBackups, 'older backup')}.`)
      console.log(keysNote(config, dataDir))
      stopper.stop(`Backup ${done.name} is complete in ${done.folder}, after ${secondsSince(startedMs)}.`, 0)
    }),
  )
}

/** `faultline restore`: into an empty database only. */
export async function restoreCommand(given: string | undefined, { name }: { readonly name?: string }): Promise<void> {
  const config = readConfig()
  const folder = folderOf(given, config)
  const stopper = createStopper(undefined, undefined, INCOMPLETE)
  await stopper.start(() =>
    operatorError(async () => {
      const startedMs = performance.now()
      const { signal } = stopper
      const opener = sealerOf(config)
      const verified = await verifyBackup(folder, name ?? null, {
        key: keyOf(config),
        opener,
        progress: progressLine(),
        signal,
      })
      const { manifest } = verified
      console.log(`Restoring the backup ${manifest.name} of Faultline ${manifest.version}.`)
      const database = await openDatabase(config, console.error, signal)
      stopper.onStop(() => database.stop())
      const done = await restoreBackup(database.connectionString, verified, {
        progress: progressLine(),
        log: (line) => console.log(line),
        signal,
      })
      console.log(
        `Restored ${countedWord(done.rows, 'row')} in ${countedWord(done.tables, 'table')}, ${sizeText(done.bytes)}: each table has the rows and the content of the backup.`,
      )
      console.log(
        `Everything since ${manifest.snapshotAt} is missing: events, changes, and erasures of users. Request those erasures again (docs/backup.md).`,
      )
      stopper.stop(`The restore is complete, after ${secondsSince(startedMs)}. Start the service with npm start.`, 0)
    }),
  )
}

/** @throws DatabaseStartError when neither the command nor the settings name a folder */
function folderOf(given: string | undefined, config: Config): string {
  if (given !== undefined) return resolve(callersFolder(), given)
  if (config.backup.folder === null)
    throw new DatabaseStartError('Name a folder, such as "npm run admin -- backup /mnt/backups", or set BACKUP_FOLDER.')
  return config.backup.folder
}

const keyOf = ({ backup }: Config): BackupKey | null => (backup.key === null ? null : deriveBackupKey(backup.key))

/** @throws DatabaseStartError when the keys are nowhere: the service could not start on what is restored */
function sealerOf({ encryptionKeys, databaseUrl, ...config }: Config): Sealer {
  if (encryptionKeys !== null) return createSealer(parseEncryptionKeys(encryptionKeys))
  const { dataDir } = databaseUrl === null ? chooseDataDir(config.dataDir, config.dataDirIsExplicit) : config
  try {
    return createSealer(existingEncryptionKeys(dataDir))
  } catch (error) {
    throw new DatabaseStartError(
      `A restore needs the encryption keys of the installation that was backed up: put its file encryption-keys into ${dataDir}/keys, or set ENCRYPTION_KEYS.`,
      { cause: error },
    )
  }
}

const keysNote = ({ encryptionKeys }: Config, dataDir: string): string =>
  `The encryption keys are not in it. Keep ${encryptionKeys === null ? `${dataDir}/keys/encryption-keys` : 'ENCRYPTION_KEYS'} in another place: a restore needs them.`

const secondsSince = (startedMs: number): string => `${((performance.now() - startedMs) / 1_000).toFixed(1)} s`

/** `4.8 MB`, `1.2 GB` */
function sizeText(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${['bytes', 'kB', 'MB', 'GB'][power] ?? ''}`
}
