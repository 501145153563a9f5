import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UploadError } from './plan.ts'

/** A file below one of the paths of the command. */
export type FoundFile = {
  readonly path: string
  readonly sizeBytes: number
  /** The folder that names are relative to: the path of the command, or where its file is. */
  readonly root: string
  /** False when a folder was searched. */
  readonly isNamed: boolean
}

/** Installed packages and history are not built here. */
const SKIPPED = new Set(['node_modules', '.git'])

/**
 * Finds files and those below folders, in the order of their names. Symbolic links in folders are not followed: they lead
 * to a file that is found anyway, or out of the folder.
 * @throws UploadError when a path does not exist or cannot be read
 */
export async function* walkFiles(paths: readonly string[]): AsyncGenerator<FoundFile> {
  for (const path of paths) {
    const found = await reading(path, () => stat(path))
    if (found.isDirectory()) yield* walkFolder(path, path)
    else yield { path, sizeBytes: found.size, root: dirname(path), isNamed: true }
  }
}

async function* walkFolder(folder: string, root: string): AsyncGenerator<FoundFile> {
  const entries: Dirent[] = await reading(folder, () => readdir(folder, { withFileTypes: true }))
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (!SKIPPED.has(entry.name)) yield* walkFolder(path, root)
    } else if (entry.isFile())
      yield { path, sizeBytes: (await reading(path, () => stat(path))).size, root, isNamed: false }
  }
}

async function reading<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error'
    throw new UploadError(
      code === 'ENOENT'
        ? `There is no file or folder ${path}. Build first, or correct the path.`
        : `${path} cannot be read (${code}).`,
    )
  }
}
