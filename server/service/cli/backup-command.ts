import { operatorCommand } from '../../config/manifest.ts'
import { resolve } from 'node:path'
import { errorText } from '../../platform/kernel/errors.ts'
import { readConfig, type Config } from '../../config/config.ts'
import { callersFolder } from '../../config/upload.ts'
import { systemClock } from '../../platform/kernel/clock.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { countedWord, bytesText } from '../../platform/kernel/value-text.ts'
import { chooseDataDir } from '../../platform/embedded-postgres/data-dir.ts'
import { Database } from '../../platform/storage/database.ts'
import { createPool, DatabaseStartError } from '../../platform/storage/pool.ts'
import { createSealer, existingEncryptionKeys, parseEncryptionKeys, type Sealer } from '../../platform/storage/seal.ts'
import { deriveBackupKey, type BackupKey } from '../backup/backup-key.ts'
import {
  type BackupPlace,
  type DrillRecord,
  listBackupNames,
  readDrill,
  readManifestText,
} from '../backup/backup-place.ts'
import { insertDrill } from '../backup/backup-runs.queries.ts'
import { readManifest } from '../backup/manifest.ts'
import { openPlace } from '../backup/open-place.ts'
import { runBackup } from '../backup/run-backup.ts'
import { type DrillResult, runDrill } from '../backup/run-drill.ts'
import { restoreBackup } from '../backup/restore-backup.ts'
import { verifyBackup } from '../backup/verify-backup.ts'
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
  const stopper = createStopper(undefined, undefined, INCOMPLETE)
  await stopper.start(() =>
    operatorError(async () => {
      const place = placeOf(given, config, stopper.signal)
      const { connectionString, dataDir, stop } = await openExistingDatabase(config, console.error, stopper.signal)
      stopper.onStop(stop)
      await checkMigrated(connectionString)
      const startedMs = performance.now()
      const done = await runBackup({
        clock: systemClock,
        connectionString,
        place,
        dataDir,
        spoolFileIn: config.databaseUrl === null ? dataDir : null,
        version: config.version,
        key: keyOf(config),
        keep: keep ?? null,
        progress: progressLine(),
        signal: stopper.signal,
      })
      console.log(
        `${countedWord(done.rows, 'row')} in ${countedWord(done.tables, 'table')}, ${bytesText(done.bytes)}, stored in ${bytesText(done.storedBytes)}: ${bytesText(done.writtenBytes)} written, ${countedWord(done.reusedFiles, 'file')} of earlier backups used again.`,
      )
      if (done.deletedBackups > 0) console.log(`Deleted ${countedWord(done.deletedBackups, 'older backup')}.`)
      console.log(keysNote(config, dataDir))
      if (config.blocks.url !== null)
        console.log(
          `Bodies of events that were moved to ${config.blocks.url} are not in it. Keep versions or a replica of that bucket (docs/backup.md).`,
        )
      stopper.stop(`Backup ${done.name} is complete in ${done.folder}, after ${secondsSince(startedMs)}.`, 0)
    }),
  )
}

/** `faultline restore`: into an empty database only. */
export async function restoreCommand(given: string | undefined, { name }: { readonly name?: string }): Promise<void> {
  const config = readConfig()
  const stopper = createStopper(undefined, undefined, INCOMPLETE)
  await stopper.start(() =>
    operatorError(async () => {
      const startedMs = performance.now()
      const { signal } = stopper
      const place = placeOf(given, config, signal)
      const opener = sealerOf(config)
      const verified = await verifyBackup(place, name ?? null, {
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
        `Restored ${countedWord(done.rows, 'row')} in ${countedWord(done.tables, 'table')}, ${bytesText(done.bytes)}: each table has the rows and the content of the backup.`,
      )
      console.log(
        `Everything since ${manifest.snapshotAt} is missing: events, changes, and erasures of users. Request those erasures again (docs/backup.md).`,
      )
      stopper.stop(`The restore is complete, after ${secondsSince(startedMs)}. Start the service with npm start.`, 0)
    }),
  )
}

/** `faultline backup list`: reads the folder only, so that it works where nothing is installed yet. */
export async function listBackupsCommand(given: string | undefined): Promise<void> {
  const config = readConfig()
  await operatorError(async () => {
    const place = placeOf(given, config, new AbortController().signal)
    const names = await listBackupNames(place)
    for (const name of names) console.log(`${name}  ${await describeBackup(place, name, keyOf(config))}`)
    console.log(
      names.length === 0
        ? `${place.name} holds no backup.`
        : `${countedWord(names.length, 'backup')} in ${place.name}.`,
    )
  })
}

async function describeBackup(place: BackupPlace, name: string, key: BackupKey | null): Promise<string> {
  const drill = await readDrill(place, name)
  const state = drill === null ? 'not restored yet' : describeDrill(drill)
  try {
    const { tables, keyId } = readManifest(await readManifestText(place, name), name, key)
    const sum = (of: (table: (typeof tables)[number]) => number): number =>
      tables.reduce((total, table) => total + of(table), 0)
    return `${countedWord(
      sum(({ rows }) => rows),
      'row',
    )}, stored in ${bytesText(sum(({ storedBytes }) => storedBytes))}${keyId === null ? '' : ', encrypted'}; ${state}`
  } catch (error) {
    return errorText(error)
  }
}

function describeDrill({ at, outcome, problem, seconds }: DrillRecord): string {
  const day = at.slice(0, 10)
  if (outcome === 'restorable') return `restorable: a drill restored it on ${day} in ${seconds} s`
  return outcome === 'not_restorable'
    ? `NOT RESTORABLE on ${day}: ${problem}`
    : `the drill could not run on ${day}: ${problem}`
}

/** `faultline backup drill`: restores a backup into a scratch database and says whether it could. Exit code 1 if not. */
export async function drillCommand(given: string | undefined, { name }: { readonly name?: string }): Promise<void> {
  const environment = readConfig()
  const stopper = createStopper(undefined, undefined, INCOMPLETE)
  await stopper.start(() =>
    operatorError(async () => {
      const place = placeOf(given, environment, stopper.signal)
      const sealer = sealerOf(environment)
      const { dataDir } =
        environment.databaseUrl === null
          ? chooseDataDir(environment.dataDir, environment.dataDirIsExplicit)
          : environment
      const config = { ...environment, dataDir }
      const drill = await runDrill({
        config,
        place,
        name: name ?? null,
        key: keyOf(config),
        sealer,
        clock: systemClock,
        progress: progressLine(),
        signal: stopper.signal,
      })
      await recordDrill(config, drill, stopper.signal)
      stopper.stop(
        drill.outcome === 'restorable'
          ? `The backup ${drill.name} is restorable: ${countedWord(drill.rows ?? 0, 'row')} restored and compared in ${drill.seconds} s.`
          : drill.outcome === 'not_restorable'
            ? `The backup ${drill.name} is NOT RESTORABLE. ${drill.problem}`
            : `The drill could not run. ${drill.problem}`,
        drill.outcome === 'restorable' ? 0 : 1,
      )
    }),
  )
}

/** For the dashboard. On a machine without the installation the result is in the folder only. */
async function recordDrill(config: Config, drill: DrillResult, signal: AbortSignal): Promise<void> {
  const database = await openExistingDatabase(config, () => {}, signal).catch((error: unknown) => {
    if (error instanceof DatabaseStartError) return null
    throw error
  })
  if (database === null) return
  const { connectionString } = database
  const db = new Database(createPool({ connectionString, name: 'faultline drill', max: 1, onError: () => {} }))
  try {
    await checkMigrated(connectionString)
    await insertDrill(db, { id: newId(), ...drill })
  } finally {
    await db.close()
    await database.stop()
  }
}

/** @throws DatabaseStartError when neither the command nor the settings name a folder, or it cannot be used */
function placeOf(given: string | undefined, config: Config, signal: AbortSignal): BackupPlace {
  const folder = given ?? config.backup.folder
  if (folder === null)
    throw new DatabaseStartError(
      `Name a folder, such as "${operatorCommand('backup /mnt/backups')}", or set BACKUP_FOLDER.`,
    )
  const isPath = given !== undefined && !given.startsWith('s3:')
  return openPlace(isPath ? resolve(callersFolder(), folder) : folder, { s3: config.s3, clock: systemClock, signal })
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
