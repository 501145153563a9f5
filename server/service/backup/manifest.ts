import { createHmac, createHash } from 'node:crypto'
import { z } from 'zod'
import { BackupError } from './backup-error.ts'
import type { BackupKey } from './backup-key.ts'

/** The newest form of a backup that this program reads, and the one it writes. */
const FORMAT = 1

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const Name = z.string().min(1).max(63)
const Count = z.number().int().nonnegative()

/** A table, or a partition of one, as it is in a backup. */
export const BackedUpTable = z.object({
  /** `jobs`: the schema of the job queue. */
  schema: z.enum(['main', 'jobs']),
  name: Name,
  /** Without generated columns. */
  columns: z.array(Name),
  partition: z
    .object({
      of: Name,
      /** `FOR VALUES FROM ('2026-11-28') TO ('2026-11-29')` */
      bound: z.string().regex(/^FOR VALUES FROM \('\d{4}-\d{2}-\d{2}'\) TO \('\d{4}-\d{2}-\d{2}'\)$/),
      options: z.array(z.string().regex(/^[a-z_.]+=[a-z0-9_.]+$/)),
      /** Statistics targets of its columns. */
      statistics: z.record(Name, z.number().int()),
    })
    .nullable(),
  /** Tells whether the rows changed since (copied-tables.queries.ts); null where that is not asked. */
  fingerprint: z.string().nullable(),
  rows: Count,
  bytes: Count,
  content: Sha256,
  sha256: Sha256,
  storedBytes: Count,
})
export type BackedUpTable = z.infer<typeof BackedUpTable>

const Manifest = z.object({
  format: z.literal(FORMAT),
  /** The time of its snapshot, as it names the backup: `2026-11-29T09-30-00Z`. */
  name: z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z$/),
  /** Everything that was committed before is in the backup. */
  snapshotAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  version: z.string(),
  postgres: z.number().int(),
  /** Names the files of the database server, which fingerprints refer to. */
  source: z.string().nullable(),
  migrations: z.array(z.object({ name: z.string(), digest: Sha256 })),
  jobMigrations: z.array(z.number().int()),
  /** A text sealed with the encryption keys of the installation: shows whether a restore has them. */
  canary: z.string().nullable(),
  /** Null: not encrypted. */
  keyId: z.string().nullable(),
  sequences: z.array(
    z.object({ schema: z.enum(['main', 'jobs']), name: Name, value: z.string(), isCalled: z.boolean() }),
  ),
  tables: z.array(BackedUpTable),
})
export type Manifest = z.infer<typeof Manifest>

/** The text of a manifest's file. Its digest shows a changed byte; with a key, only its holder can make it. */
export function writeManifest(manifest: Manifest, key: BackupKey | null): string {
  const text = JSON.stringify(manifest)
  return `${JSON.stringify({ faultline_backup: manifest.format, digest: digestOf(text, key) })}\n${text}\n`
}

const Head = z.object({ faultline_backup: z.number().int(), digest: Sha256 })
const KeyId = z.object({ keyId: z.string().nullable() })

/**
 * @param file its path, for the message
 * @throws BackupError when it is incomplete, changed, of a newer version, or encrypted with another key
 */
export function readManifest(content: string, file: string, key: BackupKey | null): Manifest {
  const [first = '', text = '', ...rest] = content.split('\n')
  const head = parsed(Head, first)
  if (head === null) throw new BackupError(`${file} is no manifest of a backup, or was changed. Use an older backup.`)
  if (head.faultline_backup > FORMAT)
    throw new BackupError(
      `${file} was written by a newer version of Faultline (format ${head.faultline_backup}). Run that version.`,
    )
  const keyId = parsed(KeyId, text)?.keyId
  if (keyId !== undefined) checkKey(keyId, key, file)
  if (rest.length !== 1 || digestOf(text, key) !== head.digest)
    throw new BackupError(`${file} was changed or cut off after it was written. Use an older backup.`)
  const manifest = parsed(Manifest, text)
  if (manifest === null) throw new BackupError(`${file} cannot be read by this version of Faultline.`)
  return manifest
}

function checkKey(keyId: string | null, key: BackupKey | null, file: string): void {
  if (keyId === null && key !== null)
    throw new BackupError(`${file} is not encrypted. Unset BACKUP_KEY and BACKUP_KEY_FILE to use it.`)
  if (keyId !== null && key === null)
    throw new BackupError(`${file} is encrypted. Set BACKUP_KEY or BACKUP_KEY_FILE to the key it was made with.`)
  if (keyId !== null && keyId !== key?.id)
    throw new BackupError(
      `${file} is encrypted with another key (${keyId}) than BACKUP_KEY (${key?.id}). Set the key it was made with.`,
    )
}

const digestOf = (text: string, key: BackupKey | null): string =>
  (key === null ? createHash('sha256') : createHmac('sha256', key.digests)).update(text).digest('hex')

function parsed<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** One line that names a backup table to the operator. */
export const tableText = ({ schema, name }: Pick<BackedUpTable, 'schema' | 'name'>): string =>
  schema === 'main' ? name : `graphile_worker.${name}`
