import { z } from 'zod'
import { BackupError } from './backup-error.ts'
import { readJsonText } from '../../platform/kernel/json.api.ts'

/**
 * Where backups are: manifests, and in `files/` the files they name, each once. A backup exists from the moment its
 * manifest is there, which is written in one step; until then its files are drafts, or files that no manifest names.
 */
export type BackupPlace = {
  /** As the operator names it: the path of a folder, or `s3://bucket/prefix`. */
  readonly name: string
  /**
   * Makes it ready for a backup. A place that one process uses at a time is locked, and drafts of a backup that was cut off are
   * removed; of others they are removed when the database is locked for the backup.
   * @returns releases it
   * @throws BackupError when it cannot be used
   */
  open(dataDir: string): Promise<() => void>
  /** The names of entries that begin with `backup-`. */
  listManifests(): Promise<string[]>
  /** An entry; null when it is not there. */
  readText(entry: string): Promise<string | null>
  /** Writes an entry in one step: it is there whole, or not at all. */
  writeText(entry: string, text: string): Promise<void>
  /** Deletes entries and files (`files/…`). */
  remove(paths: readonly string[]): Promise<void>
  /** All files by their digest. */
  readFiles(): Promise<ReadonlyMap<string, PlacedFile>>
  readFile(sha256: string): AsyncIterable<Buffer>
  /** A file whose digest is not known yet. Its number is unique in a backup. */
  draft(number: number): Draft
  /** The files that a backup has finished so far: lines of JSON, for the next one if it is cut off. */
  readNotes(): Promise<string>
  addNote(line: string, storedBytes: number): Promise<void>
  clearNotes(): Promise<void>
  /** Whether drafts may be those of another process until the database is locked for the backup. */
  readonly isShared: boolean
  /** Removes drafts of a backup that was cut off, and those of this one. */
  removeDrafts(): Promise<void>
  /** Makes kept files last through a power cut. */
  sync(): Promise<void>
  /** Explains a failed operation. Returns errors that are none of the place unchanged. */
  explain(error: unknown): unknown
}

export type PlacedFile = {
  readonly bytes: number
  /** Whether another backup may have written it just now, and will name it. */
  readonly isFresh: boolean
}

export type Draft = {
  write(pieces: AsyncIterable<Buffer>): Promise<void>
  /** Gives it its name. */
  keep(sha256: string): Promise<void>
  drop(): Promise<void>
}

const MANIFEST = /^backup-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z)\.json$/

export const manifestEntry = (name: string): string => `backup-${name}.json`
const drillEntry = (name: string): string => `drill-${name}.json`
export const fileEntry = (sha256: string): string => `files/${sha256}`
/** An entry or a file, as messages name it. */
export const pathIn = (place: BackupPlace, entry: string): string => `${place.name}/${entry}`

/** Names of the backups, newest first. */
export async function listBackupNames(place: BackupPlace): Promise<string[]> {
  return (await place.listManifests())
    .flatMap((entry) => MANIFEST.exec(entry)?.[1] ?? [])
    .toSorted()
    .toReversed()
}

/** @throws BackupError when there is no such backup */
export async function readManifestText(place: BackupPlace, name: string): Promise<string> {
  const text = await place.readText(manifestEntry(name))
  if (text === null) throw new BackupError(`${place.name} has no backup ${name}. "backup list" shows the names.`)
  return text
}

const NamedFiles = z.object({ tables: z.array(z.object({ sha256: z.string() })) })

/**
 * Deletes all backups but the newest ones, and the files that no backup names. Deletes no file while a manifest cannot be
 * read: it may name any.
 * @param keep how many backups stay; null keeps all
 * @returns the number of deleted backups
 */
export async function pruneBackups(place: BackupPlace, keep: number | null): Promise<number> {
  const names = await listBackupNames(place)
  const old = keep === null ? [] : names.slice(keep)
  await place.remove(old.flatMap((name) => [manifestEntry(name), drillEntry(name)]))
  const named = new Set<string>()
  for (const name of names.slice(0, names.length - old.length)) {
    const [, text = ''] = (await readManifestText(place, name)).split('\n')
    const files = NamedFiles.safeParse(readJsonText(text))
    if (!files.success) return old.length
    for (const { sha256 } of files.data.tables) named.add(sha256)
  }
  const unused = [...(await place.readFiles())].filter(([sha256, { isFresh }]) => !named.has(sha256) && !isFresh)
  await place.remove(unused.map(([sha256]) => fileEntry(sha256)))
  return old.length
}

const DrillRecord = z.object({
  at: z.iso.datetime(),
  /** `not_run`: no scratch database could be made, which says nothing about the backup. */
  outcome: z.enum(['restorable', 'not_restorable', 'not_run']),
  problem: z.string().nullable(),
  seconds: z.number(),
})
export type DrillRecord = z.infer<typeof DrillRecord>

/** Writes how the restore drill of a backup ended. */
export const writeDrill = (place: BackupPlace, name: string, drill: DrillRecord): Promise<void> =>
  place.writeText(drillEntry(name), `${JSON.stringify(drill)}\n`)

/** @returns null when the backup had no drill */
export async function readDrill(place: BackupPlace, name: string): Promise<DrillRecord | null> {
  const text = await place.readText(drillEntry(name)).catch(() => null)
  return DrillRecord.safeParse(readJsonText(text ?? '')).data ?? null
}
