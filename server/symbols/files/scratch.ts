import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { App } from '../../platform/context/app.ts'

const folderOf = (app: Pick<App, 'config'>): string => join(app.config.dataDir, 'uploads')

/** Runs work with an empty folder of its own, which is removed at the end. Files of symbols may be larger than memory. */
export async function withScratch<T>(app: Pick<App, 'config'>, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(folderOf(app), { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(folderOf(app), 'file-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** No upload and no index takes so long. */
const LEFT_MS = 6 * 3_600_000

/** Removes folders that a killed process left behind. @returns number removed */
export async function sweepScratch(app: Pick<App, 'config' | 'clock'>): Promise<number> {
  const names = await readdir(folderOf(app)).catch(() => [])
  let removed = 0
  for (const name of names) {
    const path = join(folderOf(app), name)
    const found = await stat(path).catch(() => null)
    if (found === null || app.clock.now().getTime() - found.mtimeMs < LEFT_MS) continue
    await rm(path, { recursive: true, force: true })
    removed++
  }
  return removed
}

/**
 * Removes all folders when the service starts: with its own database, no other service uses the data directory. With another one,
 * {@link sweepScratch} removes them.
 */
export async function clearScratch(app: Pick<App, 'config'>): Promise<void> {
  if (app.config.databaseUrl === null) await rm(folderOf(app), { recursive: true, force: true })
}
