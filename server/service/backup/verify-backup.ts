import { readMigrations } from '../../platform/storage/migrate.ts'
import { checkCanary } from '../../platform/storage/canary.queries.ts'
import type { Opener } from '../../platform/storage/seal.ts'
import { BackupError } from './backup-error.ts'
import { digestOfFile } from './backup-file.ts'
import {
  type BackupPlace,
  fileEntry,
  listBackupNames,
  manifestEntry,
  pathIn,
  readManifestText,
} from './backup-place.ts'
import type { BackupKey } from './backup-key.ts'
import { type Manifest, readManifest, tableText } from './manifest.ts'
import type { ShowProgress } from './write-backup.ts'

/** A backup whose manifest and files are whole. */
export type VerifiedBackup = {
  readonly place: BackupPlace
  readonly key: BackupKey | null
  readonly manifest: Manifest
}

/**
 * Reads a backup whole, before anything is written: its manifest, and the digest of every file.
 * @param name null for the newest backup
 * @param opener has the encryption keys of the installation; null where they are not needed
 * @throws BackupError that names what is wrong
 */
export async function verifyBackup(
  place: BackupPlace,
  name: string | null,
  options: {
    readonly key: BackupKey | null
    readonly opener: Opener | null
    readonly progress: ShowProgress
    readonly signal: AbortSignal
  },
): Promise<VerifiedBackup> {
  const [newest] = await listBackupNames(place)
  const chosen = name ?? newest
  if (chosen === undefined)
    throw new BackupError(`${place.name} holds no backup: a backup has a file backup-<time>.json, written at its end.`)
  const path = pathIn(place, manifestEntry(chosen))
  const manifest = readManifest(await readManifestText(place, chosen), path, options.key)
  checkVersion(manifest, path)
  checkEncryptionKeys(manifest, path, options.opener)
  try {
    await checkFiles(place, manifest, options)
  } catch (error) {
    throw place.explain(error)
  }
  return { place, key: options.key, manifest }
}

function checkVersion({ migrations, version }: Manifest, path: string): void {
  const known = new Map(readMigrations().map(({ name, digest }) => [name, digest]))
  for (const { name, digest } of migrations) {
    const expected = known.get(name)
    if (expected === undefined)
      throw new BackupError(`${path} was made by a newer version of Faultline (${version}, ${name}). Run that version.`)
    if (expected !== digest)
      throw new BackupError(`${path} was made by a version of Faultline with another ${name}. Run that version.`)
  }
}

function checkEncryptionKeys({ canary }: Manifest, path: string, opener: Opener | null): void {
  if (canary === null || opener === null) return
  try {
    checkCanary(canary, opener)
  } catch (error) {
    throw new BackupError(
      `The encryption keys do not fit ${path}. Set ENCRYPTION_KEYS to those of the installation that made it, or put its file keys/encryption-keys into the data folder.`,
      { cause: error },
    )
  }
}

async function checkFiles(
  place: BackupPlace,
  { tables }: Manifest,
  { progress, signal }: { readonly progress: ShowProgress; readonly signal: AbortSignal },
): Promise<void> {
  const files = new Map(tables.map((table) => [table.sha256, table]))
  const totalBytes = [...files.values()].reduce((sum, { storedBytes }) => sum + storedBytes, 0)
  let doneBytes = 0
  const stored = await place.readFiles()
  for (const [sha256, table] of files) {
    signal.throwIfAborted()
    const file = `${pathIn(place, fileEntry(sha256))} (${tableText(table)})`
    if (stored.get(sha256)?.bytes !== table.storedBytes)
      throw new BackupError(`${file} is missing or has another size. Use another backup.`)
    const found = await digestOfFile(place.readFile(sha256), (bytes) => {
      doneBytes += bytes
      progress(doneBytes, totalBytes, 'verifying')
    })
    if (found !== sha256) throw new BackupError(`${file} was changed after it was written. Use another backup.`)
  }
}
