import { existsSync } from 'node:fs'
import { readConfig, type Config } from '../../config/config.ts'
import { systemClock } from '../../platform/kernel/clock.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { Database } from '../../platform/storage/database.ts'
import { createPool, DatabaseStartError } from '../../platform/storage/pool.ts'
import { existingEncryptionKeys, parseEncryptionKeys, type Key } from '../../platform/storage/seal.ts'
import { checkBackups } from '../doctor/check-backups.ts'
import { checkAlerts, checkDatabase, checkKeys, checkQueues } from '../doctor/check-database.ts'
import { checkIntakeLog, checkMover } from '../doctor/check-intake-log.ts'
import { checkSettings } from '../doctor/check-settings.ts'
import { checkBodies, checkStores } from '../doctor/check-stores.ts'
import { checkDisk, checkKeyFile, checkMail, checkPublicAddress } from '../doctor/check-surroundings.ts'
import { checkVacuum } from '../doctor/check-vacuum.ts'
import { type Finding, ok, problem, reasonText } from '../doctor/finding.ts'
import { checkMigrated } from './check-migrated.ts'
import { openExistingDatabase } from './database.ts'
import { operatorError } from './operator-error.ts'
import { createStopper } from './stopper.ts'

/**
 * `faultline doctor`: checks an installation, prints a line for each part and what to do. It changes nothing. Exit code 1 when
 * it found a problem.
 */
export async function doctorCommand(): Promise<void> {
  const environment = readConfig()
  const stopper = createStopper(undefined, undefined, { signalCode: 1 })
  await stopper.start(() =>
    operatorError(async () => {
      let problems = 0
      let notes = 0
      const print = (findings: readonly (Finding | null)[]): void => {
        for (const finding of findings) {
          if (finding === null) continue
          if (finding.level === 'problem') problems++
          if (finding.level === 'note') notes++
          console.log(`${finding.level.padEnd(8)} ${finding.part}: ${finding.text}`)
        }
      }
      print(checkSettings(environment))
      print([
        await checkPublicAddress(environment),
        await checkMail(environment),
        ...(await checkStores(environment, systemClock)),
      ])
      print(await checkIntakeLog(environment))
      print(await checkWithDatabase(environment, stopper.signal, (stop) => stopper.onStop(stop)))
      stopper.stop(
        problems + notes === 0
          ? 'Everything is well.'
          : `${countedWord(problems, 'problem')}, ${countedWord(notes, 'note')}.`,
        problems === 0 ? 0 : 1,
      )
    }),
  )
}

async function checkWithDatabase(
  environment: Config,
  signal: AbortSignal,
  onStop: (stop: () => Promise<void>) => void,
): Promise<(Finding | null)[]> {
  const opened = await openExistingDatabase(environment, () => {}, signal).catch((error: unknown) => {
    if (error instanceof DatabaseStartError) return error
    throw error
  })
  if (opened instanceof DatabaseStartError) return [problem('database', opened.message)]
  onStop(opened.stop)
  const config = { ...environment, dataDir: opened.dataDir }
  const { connectionString, dataDir } = opened
  const disk = existsSync(dataDir) ? [await checkDisk(dataDir), checkKeyFile(dataDir)] : []
  const db = new Database(createPool({ connectionString, name: 'faultline doctor', max: 1, onError: () => {} }))
  onStop(() => db.close())
  const found: (Finding | null)[] = [...disk, ...(await checkDatabase(db, systemClock))]
  try {
    await checkMigrated(connectionString)
  } catch (error) {
    return [...found, problem('migrations', reasonText(error))]
  }
  return [
    ...found,
    ok('migrations', 'all are applied'),
    await checkKeys(db, keysOf(config)),
    ...(await checkQueues(db, systemClock)),
    ...(await checkVacuum(db)),
    ...(await checkMover(db, config, systemClock.now())),
    await checkBodies(db, config, systemClock),
    await checkAlerts(db),
    ...(await checkBackups(db, config, systemClock.now())),
  ]
}

function keysOf({ encryptionKeys, dataDir }: Config): readonly Key[] | Error {
  try {
    return encryptionKeys === null ? existingEncryptionKeys(dataDir) : parseEncryptionKeys(encryptionKeys)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
