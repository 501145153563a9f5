import { z } from 'zod'
import type { Clock } from '../../platform/kernel/clock.ts'
import { dayPlus, utcDay } from '../../platform/kernel/day.ts'
import { readCanary } from '../../platform/storage/canary.queries.ts'
import { Database, type ReservedConnection } from '../../platform/storage/database.ts'
import { createPool } from '../../platform/storage/pool.ts'
import { BackupError, explainDatabaseError } from './backup-error.ts'
import { writeBackupFile } from './backup-file.ts'
import { type BackupPlace, listBackupNames, manifestEntry, pruneBackups, readManifestText } from './backup-place.ts'
import type { BackupKey } from './backup-key.ts'
import {
  allowLongWork,
  beginSnapshot,
  copyOutStatement,
  dayAfter,
  endTransaction,
  exportSnapshot,
  readFingerprint,
  isSameTable,
  joinSnapshot,
  lockForBackup,
  lockTables,
  readSource,
  selectMigrations,
  selectSequences,
  selectTables,
  selectTablesToLock,
  type TableToCopy,
} from './copied-tables.queries.ts'
import { BackedUpTable, type Manifest, readManifest, tableText, writeManifest } from './manifest.ts'

/** Shows how far the work is, in bytes. */
export type ShowProgress = (done: number, total: number, what: string) => void

export type BackupOptions = {
  readonly connectionString: string
  readonly place: BackupPlace
  /** The data folder of the installation: backups are not stored inside it. */
  readonly dataDir: string
  readonly version: string
  readonly clock: Clock
  readonly key: BackupKey | null
  /** How many backups stay; null keeps all. */
  readonly keep: number | null
  readonly progress: ShowProgress
  readonly signal: AbortSignal
}

export type BackupResult = {
  readonly name: string
  readonly folder: string
  readonly tables: number
  readonly rows: number
  /** Before compression. */
  readonly bytes: number
  /** Files that this backup names, and how much of them it wrote. */
  readonly storedBytes: number
  readonly writtenBytes: number
  readonly reusedFiles: number
  readonly deletedBackups: number
}

/** Tables that are read at the same time. One reader and its compression keep two processors busy. */
const READERS = 2
/** A reader may wait for the disk of the folder, and for the fingerprint of a large table. */
const SILENCE_MS = 3_600_000
/** Partitions of the last days are locked: packing may replace them. */
const LOCKED_DAYS = 14

/**
 * Writes a backup: one snapshot of the database, each table in a file of its own. Partitions of closed days that did not
 * change since the backup before are not read again. A run that is cut off leaves no backup; the next one uses its files.
 * @throws BackupError with one line for the operator
 */
export async function writeBackup(options: BackupOptions): Promise<BackupResult> {
  const { place } = options
  const close = await place.open(options.dataDir)
  const db = new Database(
    createPool({
      connectionString: options.connectionString,
      name: 'faultline backup',
      max: READERS + 1,
      silenceMs: SILENCE_MS,
      onError: () => {},
    }),
  )
  try {
    const lead = await db.reserve()
    try {
      return await backUp(db, lead, options)
    } finally {
      lead.release(true)
    }
  } catch (error) {
    if (isDiskFull(error)) await freeSpace(place).catch(() => {})
    throw explainDatabaseError(place.explain(error))
  } finally {
    await db.close()
    close()
  }
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')

/** Removes what an incomplete run wrote: others may need the disk, and the next run would not fit either. */
async function freeSpace(place: BackupPlace): Promise<void> {
  await place.clearNotes()
  await place.removeDrafts()
  await pruneBackups(place, null)
}

async function backUp(db: Database, lead: ReservedConnection, options: BackupOptions): Promise<BackupResult> {
  const { place, key, signal } = options
  await allowLongWork(lead)
  const other = await lockForBackup(lead)
  if (other !== null) throw new BackupError(`Another process runs a ${other} of this database. Wait until it ends.`)
  if (place.isShared) await place.removeDrafts()
  const source = await readSource(lead)
  const known = await readKnownFiles(place, key, source)
  const today = utcDay(options.clock.now())
  const locked = await selectTablesToLock(lead, dayPlus(today, -LOCKED_DAYS))
  await beginSnapshot(lead)
  await lockTables(lead, locked)
  const { snapshot, at, postgres } = await exportSnapshot(lead)
  const tables = await selectTables(lead)
  const facts = { ...(await selectMigrations(lead)), canary: await readCanary(lead) }
  const sequences = await selectSequences(lead)

  const copied = await copyTables(db, tables, { ...options, snapshot, source, known, today })
  await place.sync()
  const name = `${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`
  const manifest: Manifest = {
    format: 1,
    name,
    snapshotAt: at.toISOString(),
    finishedAt: options.clock.now().toISOString(),
    version: options.version,
    postgres,
    source,
    ...facts,
    keyId: key?.id ?? null,
    sequences,
    tables: copied.map(({ table }) => table),
  }
  await checkComplete(place, manifest)
  signal.throwIfAborted()
  await place.writeText(manifestEntry(name), writeManifest(manifest, key))
  await place.clearNotes()
  const deletedBackups = await pruneBackups(place, options.keep)
  const sum = (of: (one: Copied) => number): number => copied.reduce((total, one) => total + of(one), 0)
  return {
    name,
    folder: place.name,
    tables: copied.length,
    rows: sum(({ table }) => table.rows),
    bytes: sum(({ table }) => table.bytes),
    storedBytes: sum(({ table }) => table.storedBytes),
    writtenBytes: sum(({ table, isReused }) => (isReused ? 0 : table.storedBytes)),
    reusedFiles: sum(({ isReused }) => (isReused ? 1 : 0)),
    deletedBackups,
  }
}

/** A place without a lock may have lost files to another installation meanwhile. */
async function checkComplete(place: BackupPlace, { tables }: Manifest): Promise<void> {
  const files = await place.readFiles()
  const lost = tables.find(({ sha256, storedBytes }) => files.get(sha256)?.bytes !== storedBytes)
  if (lost !== undefined)
    throw new BackupError(
      `${place.name} has lost the file of ${tableText(lost)} during the backup. Give each installation a place of its own, and start the backup again.`,
    )
}

type Copied = { readonly table: BackedUpTable; readonly isReused: boolean }
type CopyOptions = BackupOptions & {
  readonly snapshot: string
  readonly source: string | null
  readonly known: ReadonlyMap<string, BackedUpTable>
  readonly today: string
}

/** Copies all tables, several at a time. The first error ends all of it. */
async function copyTables(db: Database, tables: readonly TableToCopy[], options: CopyOptions): Promise<Copied[]> {
  const failing = new AbortController()
  const signal = AbortSignal.any([options.signal, failing.signal])
  const totalBytes = tables.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  let doneBytes = 0
  let next = 0
  const copied: Copied[] = []
  const readOn = async (): Promise<void> => {
    const reader = await db.reserve()
    try {
      await allowLongWork(reader)
      for (let number = next++; number < tables.length; number = next++) {
        signal.throwIfAborted()
        const table = tables[number]
        if (table === undefined) return
        let readBytes = 0
        const show = (): void =>
          options.progress(doneBytes + Math.min(readBytes, table.sizeBytes), totalBytes, tableText(table))
        show()
        const one = await copyTable(reader, table, number, { ...options, signal }, (bytes) => {
          readBytes += bytes
          show()
        })
        if (one !== null) copied.push(one)
        doneBytes += table.sizeBytes
      }
    } catch (error) {
      failing.abort(error)
      throw error
    } finally {
      reader.release(true)
    }
  }
  const results = await Promise.allSettled(Array.from({ length: READERS }, readOn))
  signal.throwIfAborted()
  for (const result of results) if (result.status === 'rejected') throw result.reason
  options.progress(totalBytes, totalBytes, 'done')
  return copied.toSorted((a, b) => tableText(a.table).localeCompare(tableText(b.table)))
}

const UNDEFINED_TABLE = '42P01'

/**
 * Copies one table in a transaction of its own, so that locks do not add up. When it throws, the connection is unusable.
 * @returns null when retention dropped the table meanwhile
 */
async function copyTable(
  reader: ReservedConnection,
  table: TableToCopy,
  number: number,
  options: CopyOptions,
  onBytes: (bytes: number) => void,
): Promise<Copied | null> {
  await joinSnapshot(reader, options.snapshot)
  try {
    const copied = await copyOrReuse(reader, table, number, options, onBytes)
    await endTransaction(reader)
    return copied
  } catch (error) {
    const isGone = error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE
    if (!isGone || table.partition === null) throw error
    await options.place.draft(number).drop()
    await endTransaction(reader)
    return null
  }
}

async function copyOrReuse(
  reader: ReservedConnection,
  table: TableToCopy,
  number: number,
  { place, key, known, source, signal, today }: CopyOptions,
  onBytes: (bytes: number) => void,
): Promise<Copied> {
  const before = known.get(tableText(table))
  const isClosed = table.partition !== null && dayAfter(table.partition.bound) <= today
  const fingerprint = isClosed ? await readFingerprint(reader, table) : null
  // A column that a migration added changes no row, and the file has no field for it.
  const isSame = before?.fingerprint === fingerprint && before?.columns.join() === table.columns.join()
  if (before !== undefined && fingerprint !== null && isSame)
    return { table: { ...before, ...described(table) }, isReused: true }

  const rows = reader.copyTo(copyOutStatement(table))
  const draft = place.draft(number)
  const written = await writeBackupFile(rows, (pieces) => draft.write(pieces), { key, onBytes, signal })
  if (!(await isSameTable(reader, table)))
    throw new BackupError(`${tableText(table)} was replaced while it was read. Start the backup again.`)
  const made: BackedUpTable = { ...described(table), ...written, rows: rows.rowCount, fingerprint }
  if (before?.content === written.content) {
    await draft.drop()
    const { sha256, storedBytes } = before
    return { table: { ...made, sha256, storedBytes }, isReused: true }
  }
  await draft.keep(written.sha256)
  const line: UnfinishedLine = { table: made, source, keyId: key?.id ?? null }
  await place.addNote(JSON.stringify(line), made.storedBytes)
  return { table: made, isReused: false }
}

const described = ({ schema, name, columns, partition }: TableToCopy) => ({
  schema,
  name,
  columns: [...columns],
  partition:
    partition === null
      ? null
      : { ...partition, options: [...partition.options], statistics: { ...partition.statistics } },
})

const UnfinishedLine = z.object({ table: BackedUpTable, source: z.string().nullable(), keyId: z.string().nullable() })
type UnfinishedLine = z.infer<typeof UnfinishedLine>

/**
 * Files that a backup can use again, by the name of their table: those of the newest backup, and of a run after it that was
 * cut off. Only files of the same key, and fingerprints of the same database server.
 */
async function readKnownFiles(
  place: BackupPlace,
  key: BackupKey | null,
  source: string | null,
): Promise<Map<string, BackedUpTable>> {
  const known = new Map<string, BackedUpTable>()
  const files = await place.readFiles()
  const add = (table: BackedUpTable, from: string | null): void => {
    if (files.get(table.sha256)?.bytes !== table.storedBytes) return
    const isComparable = source !== null && from === source
    known.set(tableText(table), isComparable ? table : { ...table, fingerprint: null })
  }
  for (const name of await listBackupNames(place)) {
    const manifest = await readUsable(place, name, key)
    if (manifest === null) continue
    for (const table of manifest.tables) add(table, manifest.source)
    break
  }
  for (const text of (await place.readNotes()).split('\n')) {
    const line = unfinishedLine(text)
    if (line !== null && line.keyId === (key?.id ?? null)) add(line.table, line.source)
  }
  return known
}

async function readUsable(place: BackupPlace, name: string, key: BackupKey | null): Promise<Manifest | null> {
  try {
    return readManifest(await readManifestText(place, name), name, key)
  } catch {
    return null
  }
}

/** The last line of a run that was killed may be incomplete. */
function unfinishedLine(text: string): UnfinishedLine | null {
  try {
    return UnfinishedLine.parse(JSON.parse(text))
  } catch {
    return null
  }
}
