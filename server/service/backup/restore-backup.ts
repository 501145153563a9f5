import { migrateJobs } from '../../platform/jobs/run-jobs.ts'
import { Database, type ReservedConnection } from '../../platform/storage/database.ts'
import { migrate, readMigrations } from '../../platform/storage/migrate.ts'
import { createPool } from '../../platform/storage/pool.ts'
import { BackupError, explainDatabaseError } from './backup-error.ts'
import { readBackupFile } from './backup-file.ts'
import { contentDigest } from './backup-key.ts'
import { allowLongWork, copyOutStatement, lockForRestore, selectMigrations } from './copied-tables.queries.ts'
import { type BackedUpTable, tableText } from './manifest.ts'
import {
  analyzeAll,
  begin,
  beginRestore,
  commit,
  copyInStatement,
  countRows,
  createPartition,
  emptyTable,
  endRestore,
  findForeignTable,
  finishStep,
  planRestore,
  readRestoreState,
  type RestoreStep,
  runStep,
  selectMadeTables,
  selectRestoredTables,
  selectSteps,
  setSequence,
  allowMemory,
} from './restore.queries.ts'
import type { VerifiedBackup } from './verify-backup.ts'
import type { ShowProgress } from './write-backup.ts'

type RestoreResult = { readonly tables: number; readonly rows: number; readonly bytes: number }

type RestoreOptions = {
  readonly progress: ShowProgress
  /** Lines about migrations. */
  readonly log: (line: string) => void
  readonly signal: AbortSignal
}

/** Tables that are filled, and indexes that are made, at the same time. */
const WRITERS = 2
/** A large index, or a foreign key of a large table, takes minutes without an answer. */
const SILENCE_MS = 6 * 3_600_000

/**
 * Restores a verified backup into an empty database: the migrations of its version, the rows, then indexes, foreign keys,
 * triggers and sequences, then newer migrations. Each table is one transaction, which commits when what was written, read
 * back, is what the backup has. A restore that was cut off continues when it is started again.
 * @throws BackupError with one line for the operator
 */
export async function restoreBackup(
  connectionString: string,
  backup: VerifiedBackup,
  options: RestoreOptions,
): Promise<RestoreResult> {
  const db = new Database(
    createPool({
      connectionString,
      name: 'faultline restore',
      max: WRITERS + 2,
      silenceMs: SILENCE_MS,
      onError: () => {},
    }),
  )
  try {
    const lead = await db.reserve()
    try {
      await allowLongWork(lead)
      return await restore(db, lead, connectionString, backup, options)
    } finally {
      lead.release(true)
    }
  } catch (error) {
    throw explainDatabaseError(backup.place.explain(error))
  } finally {
    await db.close()
  }
}

async function restore(
  db: Database,
  lead: ReservedConnection,
  connectionString: string,
  backup: VerifiedBackup,
  { progress, log, signal }: RestoreOptions,
): Promise<RestoreResult> {
  const { manifest } = backup
  if (!(await lockForRestore(lead))) throw new BackupError('Another process restores into this database.')
  if (!(await beginOrContinue(db, manifest.name, log))) {
    const wanted = new Set(manifest.migrations.map(({ name }) => name))
    const ofBackup = readMigrations().filter(({ name }) => wanted.has(name))
    await migrate(lead, () => {}, ofBackup)
    await migrateJobs(connectionString)
    const known = await knownTables(db, backup, log)
    await db.tx((tx) => planRestore(tx, known.map(tableText)))
  }
  const steps = await selectSteps(db)
  await fillTables(db, backup, steps, { progress, signal })
  await runInParallel(db, indexSteps(steps), signal, { progress, what: 'making indexes' }, async (on, step) => {
    await runStep(on, step)
    await finishStep(on, step.id)
  })
  for (const step of steps.filter(({ kind }) => kind === 'foreign key' || kind === 'trigger')) {
    signal.throwIfAborted()
    await runStep(lead, step)
    await finishStep(lead, step.id)
  }
  for (const sequence of manifest.sequences) await setSequence(lead, sequence)
  await analyzeAll(lead)
  const restored = await selectRestoredTables(lead)
  const tables = manifest.tables.filter((table) => restored.has(tableText(table)))
  const rows = await recount(lead, tables)
  await migrate(lead, log)
  await db.tx(endRestore)
  return { tables: tables.length, rows, bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0) }
}

/** @returns whether a restore of the same backup was cut off after its plan was made */
async function beginOrContinue(db: Database, name: string, log: (line: string) => void): Promise<boolean> {
  const state = await readRestoreState(db)
  if (state === null) {
    const foreign = await findForeignTable(db)
    if (foreign !== null)
      throw new BackupError(
        `The database is not empty (it has ${foreign}), and a restore replaces nothing. Name a new FAULTLINE_DATA_DIR, or an empty database in DATABASE_URL.`,
      )
    await db.tx((tx) => beginRestore(tx, name))
    return false
  }
  if (state.backup !== name)
    throw new BackupError(
      `A restore of the backup ${state.backup} was cut off in this database. Continue it with --name ${state.backup}, or use an empty database.`,
    )
  log('a restore of this backup was cut off here: it continues')
  return state.isPrepared
}

/**
 * The tables that the migrations made. Others, which someone added to the database, are left out: a backup is needed most
 * when they cannot be moved away any more.
 */
async function knownTables(
  db: Database,
  { manifest }: VerifiedBackup,
  log: (line: string) => void,
): Promise<readonly BackedUpTable[]> {
  const made = new Set((await selectMadeTables(db)).map(tableText))
  const newest = (await selectMigrations(db)).jobMigrations.at(-1) ?? 0
  if (manifest.jobMigrations.some((id) => id > newest))
    throw new BackupError('The backup was made by a version of Faultline with a newer job queue. Run that version.')
  const isKnown = (table: BackedUpTable): boolean => made.has(table.partition?.of ?? tableText(table))
  for (const table of manifest.tables)
    if (!isKnown(table)) log(`left out: the table ${tableText(table)}, which is none of Faultline`)
  return manifest.tables.filter(isKnown)
}

async function fillTables(
  db: Database,
  backup: VerifiedBackup,
  steps: readonly RestoreStep[],
  { progress, signal }: Pick<RestoreOptions, 'progress' | 'signal'>,
): Promise<void> {
  const byName = new Map(backup.manifest.tables.map((table) => [tableText(table), table]))
  const waiting = steps
    .filter(({ kind }) => kind === 'table')
    .flatMap((step) => {
      const table = byName.get(step.name)
      return table === undefined ? [] : [{ step, table }]
    })
    .toSorted((a, b) => b.table.bytes - a.table.bytes)
  const totalBytes = backup.manifest.tables.reduce((sum, { bytes }) => sum + bytes, 0)
  let doneBytes = totalBytes - waiting.reduce((sum, { table }) => sum + table.bytes, 0)
  await runInParallel(db, waiting, signal, null, async (on, { step, table }) => {
    await fillTable(on, backup, table, step, (bytes) => {
      doneBytes += bytes
      progress(doneBytes, totalBytes, tableText(table))
    })
  })
}

/** When it throws, the connection is unusable, and with it the transaction. */
async function fillTable(
  on: ReservedConnection,
  { place, key }: VerifiedBackup,
  table: BackedUpTable,
  step: RestoreStep,
  onBytes: (bytes: number) => void,
): Promise<void> {
  await begin(on)
  if (table.partition !== null) await createPartition(on, table)
  // Most tables of a small installation are empty, and emptying one makes new files.
  else if (table.rows > 0 || (await countRows(on, table)) > 0) await emptyTable(on, table)
  if (table.rows > 0) await copyRows(on, { place, key }, table, onBytes)
  await finishStep(on, step.id)
  await commit(on)
}

/** Copies the rows of a table and compares what the database has then with the backup. */
async function copyRows(
  on: ReservedConnection,
  { place, key }: Pick<VerifiedBackup, 'place' | 'key'>,
  table: BackedUpTable,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const read = contentDigest(key)
  const rows = await on.copyFrom(copyInStatement(table), counted(readBackupFile(place.readFile(table.sha256), key)))
  if (rows !== table.rows || read.digest('hex') !== table.content)
    throw new BackupError(`The file of ${tableText(table)} has not the rows that the backup names. Use another backup.`)
  const written = contentDigest(key)
  for await (const piece of on.copyTo(copyOutStatement(table))) if (Buffer.isBuffer(piece)) written.update(piece)
  if (written.digest('hex') !== table.content)
    throw new BackupError(`${tableText(table)} has other rows in the database than in the backup.`)

  async function* counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      read.update(piece)
      onBytes(piece.length)
      yield piece
    }
  }
}

const indexSteps = (steps: readonly RestoreStep[]): RestoreStep[] => steps.filter(({ kind }) => kind === 'index')

/** Works on all items, several at a time, each worker with its own connection. The first error ends all of it. */
async function runInParallel<Item>(
  db: Database,
  items: readonly Item[],
  signal: AbortSignal,
  shown: { readonly progress: ShowProgress; readonly what: string } | null,
  work: (on: ReservedConnection, item: Item) => Promise<void>,
): Promise<void> {
  const failing = new AbortController()
  const stopping = AbortSignal.any([signal, failing.signal])
  let next = 0
  let done = 0
  const workOn = async (): Promise<void> => {
    const on = await db.reserve()
    try {
      await allowLongWork(on)
      await allowMemory(on)
      for (let item = items[next++]; item !== undefined; item = items[next++]) {
        stopping.throwIfAborted()
        await work(on, item)
        shown?.progress(++done, items.length, shown.what)
      }
    } catch (error) {
      failing.abort(error)
      throw error
    } finally {
      on.release(true)
    }
  }
  const results = await Promise.allSettled(Array.from({ length: WRITERS }, workOn))
  stopping.throwIfAborted()
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function recount(on: ReservedConnection, tables: readonly BackedUpTable[]): Promise<number> {
  let total = 0
  for (const table of tables) {
    const rows = await countRows(on, table)
    if (rows !== table.rows)
      throw new BackupError(`${tableText(table)} has ${rows} rows in the database and ${table.rows} in the backup.`)
    total += rows
  }
  return total
}
