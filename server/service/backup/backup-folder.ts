import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { DataDirInUseError, lockDataDir } from '../../platform/embedded-postgres/lock.ts'
import { BackupError, explainFolderError } from './backup-error.ts'

/**
 * A folder of backups: manifests, and in `files/` the files they name, each once. A backup exists from the moment its
 * manifest is renamed into place; until then its files are drafts, or files that no manifest names.
 */
const FILES = 'files'
const DRAFTS = 'drafts'
const MANIFEST = /^backup-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z)\.json$/
const OURS = /^(?:backup-.*\.json|drill-.*\.json|files|drafts|unfinished\.ndjson|faultline\.(?:guard|lock))/

export const filePath = (folder: string, sha256: string): string => join(folder, FILES, sha256)
export const draftPath = (folder: string, number: number): string => join(folder, DRAFTS, String(number))
export const manifestPath = (folder: string, name: string): string => join(folder, `backup-${name}.json`)
export const unfinishedPath = (folder: string): string => join(folder, 'unfinished.ndjson')
const drillPath = (folder: string, name: string): string => join(folder, `drill-${name}.json`)

/**
 * Makes a folder ready for a backup, for its owner only, and locks it. Removes drafts of a backup that was cut off.
 * @returns its path with links resolved, and a function that releases it
 * @throws BackupError when it is inside the data folder, holds other things, is in use or cannot be written
 */
export async function openBackupFolder(given: string, dataDir: string): Promise<{ folder: string; close: () => void }> {
  const wanted = resolve(given)
  const inside = relative(realOf(dataDir), realOf(wanted))
  if (inside === '' || !(inside === '..' || inside.startsWith(`..${sep}`)))
    throw new BackupError(
      `The backup folder ${wanted} is inside the data folder ${dataDir}: what destroys one destroys both. Name a folder outside of it, on another disk.`,
    )
  let release = (): void => {}
  try {
    mkdirSync(wanted, { recursive: true, mode: 0o700 })
    const folder = realpathSync(wanted)
    const others = (await readdir(folder)).filter((name) => !OURS.test(name) && name !== 'lost+found')
    if (others.length > 0)
      throw new BackupError(
        `${folder} holds other files, such as ${others[0]}. Name an empty folder, or one with backups.`,
      )
    release = lockFolder(folder)
    await removeDrafts(folder)
    for (const part of [FILES, DRAFTS]) mkdirSync(join(folder, part), { recursive: true, mode: 0o700 })
    return { folder, close: release }
  } catch (error) {
    release()
    throw explainFolderError(error, wanted)
  }
}

/** Removes the drafts of a backup that was cut off. */
export const removeDrafts = (folder: string): Promise<void> =>
  rm(join(folder, DRAFTS), { recursive: true, force: true })

/** The path with links resolved, also of one whose last parts do not exist yet. */
function realOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const above = dirname(path)
  return above === path ? path : join(realOf(above), relative(above, path))
}

function lockFolder(folder: string): () => void {
  try {
    return lockDataDir(folder)
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error
    throw new BackupError(`Another process uses the backup folder ${folder}. Wait until it ends.`, { cause: error })
  }
}

/** Gives a finished draft its name. */
export async function keepDraft(folder: string, number: number, sha256: string): Promise<void> {
  await rename(draftPath(folder, number), filePath(folder, sha256))
}

export async function dropDraft(folder: string, number: number): Promise<void> {
  await rm(draftPath(folder, number), { force: true })
}

/** Names of the backups, newest first. */
export async function listBackupNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new BackupError(`There is no folder ${folder}.`)
    throw explainFolderError(error, folder)
  })
  return entries
    .flatMap((entry) => MANIFEST.exec(entry)?.[1] ?? [])
    .toSorted()
    .toReversed()
}

export async function readManifestText(folder: string, name: string): Promise<string> {
  try {
    return await readFile(manifestPath(folder, name), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new BackupError(`${folder} has no backup ${name}. "backup list" shows the names.`, { cause: error })
    throw explainFolderError(error, folder)
  }
}

/** Writes a file in one step: after a power cut it is there whole, or not at all. For its owner only. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.draft`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await syncFolder(dirname(path))
}

/** Makes the names in a folder last through a power cut. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export const syncFiles = (folder: string): Promise<void> => syncFolder(join(folder, FILES))

/** Whether the folder has this file with this size. */
export const hasFile = async (folder: string, sha256: string, storedBytes: number): Promise<boolean> =>
  (await stat(filePath(folder, sha256)).catch(() => null))?.size === storedBytes

const NamedFiles = z.object({ tables: z.array(z.object({ sha256: z.string() })) })

/**
 * Deletes all backups but the newest ones, and the files that no backup names. Deletes no file while a manifest cannot be
 * read: it may name any.
 * @param keep how many backups stay; null keeps all
 * @returns the number of deleted backups
 */
export async function pruneBackups(folder: string, keep: number | null): Promise<number> {
  const names = await listBackupNames(folder)
  const old = keep === null ? [] : names.slice(keep)
  for (const name of old) {
    await rm(manifestPath(folder, name), { force: true })
    await rm(drillPath(folder, name), { force: true })
  }
  await syncFolder(folder)
  const named = new Set<string>()
  for (const name of names.slice(0, names.length - old.length)) {
    const [, text = ''] = (await readManifestText(folder, name)).split('\n')
    const files = NamedFiles.safeParse(parsedJson(text))
    if (!files.success) return old.length
    for (const { sha256 } of files.data.tables) named.add(sha256)
  }
  for (const file of await readdir(join(folder, FILES)))
    if (!named.has(file)) await rm(join(folder, FILES, file), { force: true })
  return old.length
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
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
export const writeDrill = (folder: string, name: string, drill: DrillRecord): Promise<void> =>
  writeWhole(drillPath(folder, name), `${JSON.stringify(drill)}\n`)

/** @returns null when the backup had no drill */
export async function readDrill(folder: string, name: string): Promise<DrillRecord | null> {
  const text = await readFile(drillPath(folder, name), 'utf8').catch(() => '')
  return DrillRecord.safeParse(parsedJson(text)).data ?? null
}
