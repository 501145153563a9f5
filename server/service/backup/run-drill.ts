import { operatorCommand } from '../../config/manifest.ts'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../../platform/kernel/errors.ts'
import type { Config } from '../../config/config.ts'
import { readAuditKey } from '../../history/audit/audit-key.ts'
import { verifyChains } from '../../history/audit/verify-chains.ts'
import { DataDirInUseError, lockDataDir } from '../../platform/embedded-postgres/lock.ts'
import { startEmbeddedPostgres } from '../../platform/embedded-postgres/start.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { Database } from '../../platform/storage/database.ts'
import { createPool, isDatabaseAway } from '../../platform/storage/pool.ts'
import type { Sealer } from '../../platform/storage/seal.ts'
import { BackupError } from './backup-error.ts'
import { type BackupPlace, type DrillRecord, listBackupNames, writeDrill } from './backup-place.ts'
import type { BackupKey } from './backup-key.ts'
import { restoreBackup } from './restore-backup.ts'
import { type VerifiedBackup, verifyBackup } from './verify-backup.ts'
import type { ShowProgress } from './write-backup.ts'

type DrillOptions = {
  /** Its data folder gets the scratch database. */
  readonly config: Config
  readonly place: BackupPlace
  /** Null for the newest backup. */
  readonly name: string | null
  readonly key: BackupKey | null
  readonly sealer: Sealer
  readonly clock: Clock
  readonly progress: ShowProgress
  readonly signal: AbortSignal
}

export type DrillResult = {
  readonly name: string
  readonly folder: string
  readonly startedAt: Date
  readonly finishedAt: Date
  readonly outcome: DrillRecord['outcome']
  /** Null only for a restorable backup. */
  readonly problem: string | null
  readonly rows: number | null
  readonly seconds: number
}

/** No scratch database can be made or used here, which says nothing about the backup. */
class ScratchError extends BackupError {}

/** A restored database is larger than its rows: it has indexes and a log. */
const ROOM_FACTOR = 2
const SCRATCH = 'drill'

/**
 * Restores a backup into a scratch database of its own, verifies every table and every audit log there, deletes it again and
 * records the result beside the backup.
 * @throws BackupError when there is no backup; one that cannot be restored is a result
 */
export async function runDrill(options: DrillOptions): Promise<DrillResult> {
  const { clock, place } = options
  const startedAt = clock.now()
  const startedMs = clock.monotonicMs()
  const name = options.name ?? (await listBackupNames(place))[0]
  if (name === undefined)
    throw new BackupError(`${place.name} holds no backup. Make one with "${operatorCommand('backup')}".`)
  let rows: number | null = null
  let outcome: DrillRecord['outcome'] = 'restorable'
  let problem: string | null = null
  try {
    const backup = await verifyBackup(place, name, { ...options, opener: options.sealer })
    rows = await restoreOnce(backup, options)
  } catch (error) {
    options.signal.throwIfAborted()
    outcome = error instanceof ScratchError ? 'not_run' : 'not_restorable'
    problem = errorText(error)
  }
  const finishedAt = clock.now()
  const seconds = Math.round((clock.monotonicMs() - startedMs) / 100) / 10
  await writeDrill(place, name, { at: finishedAt.toISOString(), outcome, problem, seconds })
  return { name, folder: place.name, startedAt, finishedAt, outcome, problem, rows, seconds }
}

/** @returns the number of rows */
async function restoreOnce(backup: VerifiedBackup, options: DrillOptions): Promise<number> {
  const scratch = join(options.config.dataDir, SCRATCH)
  const remove = (): void => rmSync(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  await checkRoom(backup, options.config.dataDir)
  clearScratch(scratch, remove)
  const quiet = (): void => {}
  // A database that is deleted afterwards need not survive a power cut.
  const postgres = await startEmbeddedPostgres({
    dataDir: scratch,
    log: quiet,
    durability: 'none-for-tests',
    signal: options.signal,
  }).catch((error: unknown) => {
    throw new ScratchError(errorText(error), { cause: error })
  })
  try {
    const { connectionString } = postgres
    const restored = await restoreBackup(connectionString, backup, { ...options, log: quiet })
    await verifyAuditLogs(connectionString, scratch, options)
    return restored.rows
  } catch (error) {
    const isScratch = [error, error instanceof Error ? error.cause : null].some(isDatabaseAway)
    throw isScratch
      ? new ScratchError(`The scratch database ended: ${errorText(error)}`, {
          cause: error,
        })
      : error
  } finally {
    await postgres.stop()
    remove()
  }
}

/** Deletes what a drill that was killed has left. @throws ScratchError while another drill runs */
function clearScratch(scratch: string, remove: () => void): void {
  if (!existsSync(scratch)) return
  try {
    lockDataDir(scratch)()
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error
    throw new ScratchError('Another drill runs here. Start this again when it has ended.', { cause: error })
  }
  remove()
}

async function checkRoom({ manifest }: VerifiedBackup, dataDir: string): Promise<void> {
  const neededBytes = ROOM_FACTOR * manifest.tables.reduce((sum, { bytes }) => sum + bytes, 0)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const { bavail, bsize } = await statfs(dataDir)
  if (bavail * bsize < neededBytes)
    throw new ScratchError(
      `A drill needs ${gigabytes(neededBytes)} of free space in ${dataDir}, which has ${gigabytes(bavail * bsize)}. Free some, or run "backup drill" on another machine.`,
    )
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`

/** Without the signed heads, which are of the time after the backup. */
async function verifyAuditLogs(
  connectionString: string,
  scratch: string,
  { config, sealer, clock, signal }: DrillOptions,
): Promise<void> {
  const db = new Database(createPool({ connectionString, name: 'faultline drill', max: 2, onError: () => {} }))
  try {
    const auditKey = await readAuditKey(db, sealer)
    const lines: string[] = []
    const parts = { db, auditKey, clock, config: { ...config, dataDir: scratch } }
    const { broken } = await verifyChains(parts, (line) => lines.push(line), { signal })
    if (broken > 0)
      throw new BackupError(`The audit log in the backup is broken: ${lines.find((line) => line.includes('BROKEN'))}`)
  } finally {
    await db.close()
  }
}
