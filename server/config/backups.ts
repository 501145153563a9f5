import { resolve } from 'node:path'
import { ConfigError, type Settings } from './environment.ts'
import { checkS3Address } from './object-store.ts'

export type BackupSettings = {
  /** Where scheduled backups are written, a folder or `s3://…`; null switches them off. */
  readonly folder: string | null
  readonly everyMs: number
  /** How many backups of the folder stay after a scheduled one. */
  readonly keep: number
  /** 32 bytes; null: backups are not encrypted. */
  readonly key: Buffer | null
}

/** @throws ConfigError for an `s3://` address that cannot be used */
export function readBackupPlace(env: Settings): string | null {
  const { BACKUP_FOLDER: given } = env
  if (given === undefined) return null
  return given.startsWith('s3:') ? checkS3Address('BACKUP_FOLDER', given, env) : resolve(given)
}

const BACKUP_KEY_BYTES = 32

/** @throws ConfigError that names no content */
export function readBackupKey({ BACKUP_KEY: text }: Settings): Buffer | null {
  if (text === undefined) return null
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== BACKUP_KEY_BYTES || new Set(bytes).size < 8)
    throw new ConfigError('BACKUP_KEY must be base64 of 32 random bytes, for example from "openssl rand -base64 32".')
  return bytes
}
