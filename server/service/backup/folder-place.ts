import { createReadStream, createWriteStream, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { appendFile, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DataDirInUseError, lockDataDir } from '../../platform/embedded-postgres/lock.ts'
import { BackupError, explainFolderError } from './backup-error.ts'
import { PIECE_BYTES } from './backup-file.ts'
import type { BackupPlace, PlacedFile } from './backup-place.ts'

/** Backups in a folder, which one process uses at a time. */

const FILES = 'files'
const DRAFTS = 'drafts'
const NOTES = 'unfinished.ndjson'
const OURS = /^(?:backup-.*\.json|drill-.*\.json|files|drafts|unfinished\.ndjson|faultline\.(?:guard|lock))/

/** All of it is for its owner only. */
export function folderPlace(given: string): BackupPlace {
  const wanted = resolve(given)
  let folder = existsSync(wanted) ? realpathSync(wanted) : wanted
  const at = (...parts: string[]): string => join(folder, ...parts)
  const explain = (error: unknown): unknown => explainFolderError(error, folder)
  const removeDrafts = (): Promise<void> => rm(at(DRAFTS), { recursive: true, force: true })
  return {
    get name() {
      return folder
    },
    async open(dataDir) {
      refuseInside(wanted, dataDir)
      let release = (): void => {}
      try {
        mkdirSync(wanted, { recursive: true, mode: 0o700 })
        folder = realpathSync(wanted)
        await refuseOthers(folder)
        release = lockFolder(folder)
        await removeDrafts()
        for (const part of [FILES, DRAFTS]) mkdirSync(at(part), { recursive: true, mode: 0o700 })
        return release
      } catch (error) {
        release()
        throw explain(error)
      }
    },
    listManifests: () =>
      readdir(folder).catch((error: unknown) => {
        if (isMissing(error)) throw new BackupError(`There is no folder ${folder}.`)
        throw explain(error)
      }),
    async readText(entry) {
      try {
        return await readFile(at(entry), 'utf8')
      } catch (error) {
        if (isMissing(error)) return null
        throw explain(error)
      }
    },
    writeText: (entry, text) => writeWhole(at(entry), text),
    async remove(paths) {
      for (const path of paths) await rm(at(path), { force: true })
      if (paths.length > 0) await syncFolder(folder)
    },
    async readFiles() {
      const files = new Map<string, PlacedFile>()
      for (const name of await readdir(at(FILES)).catch(() => [])) {
        const found = await stat(at(FILES, name)).catch(() => null)
        if (found !== null) files.set(name, { bytes: found.size, isFresh: false })
      }
      return files
    },
    async *readFile(sha256) {
      for await (const piece of createReadStream(at(FILES, sha256), { highWaterMark: PIECE_BYTES }))
        if (Buffer.isBuffer(piece)) yield piece
    },
    draft(number) {
      const path = at(DRAFTS, String(number))
      return {
        write: (pieces) => pipeline(pieces, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true })),
        keep: (sha256) => rename(path, at(FILES, sha256)),
        drop: () => rm(path, { force: true }),
      }
    },
    readNotes: () => readFile(at(NOTES), 'utf8').catch(() => ''),
    addNote: (line) => appendFile(at(NOTES), `${line}\n`, { mode: 0o600 }),
    clearNotes: () => rm(at(NOTES), { force: true }),
    isShared: false,
    removeDrafts,
    sync: () => syncFolder(at(FILES)),
    explain,
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

function refuseInside(wanted: string, dataDir: string): void {
  const inside = relative(realOf(dataDir), realOf(wanted))
  if (inside === '' || !(inside === '..' || inside.startsWith(`..${sep}`)))
    throw new BackupError(
      `The backup folder ${wanted} is inside the data folder ${dataDir}: what destroys one destroys both. Name a folder outside of it, on another disk.`,
    )
}

async function refuseOthers(folder: string): Promise<void> {
  const others = (await readdir(folder)).filter((name) => !OURS.test(name) && name !== 'lost+found')
  if (others.length > 0)
    throw new BackupError(
      `${folder} holds other files, such as ${others[0]}. Name an empty folder, or one with backups.`,
    )
}

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

/** Writes a file in one step: after a power cut it is there whole, or not at all. For its owner only. */
async function writeWhole(path: string, text: string): Promise<void> {
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
