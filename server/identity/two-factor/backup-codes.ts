import { randomBytes } from 'node:crypto'
import type { App } from '../../platform/context/app.ts'
import type { SealedColumn } from '../../platform/storage/sealed-column.ts'
import type { FactorRow } from './two-factor.queries.ts'

/** Codes that replace the authenticator app, each once: ten characters of Crockford's base32, 50 bits. */

const COUNT = 10
const CHARACTERS = 10
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const SALT_BYTES = 16

/** From this number on users see how many are left. */
export const FEW_BACKUP_CODES = 3

type BackupCodeSet = {
  /** For the user, once. */
  readonly codes: readonly string[]
  readonly salt: Buffer
  readonly hashes: readonly Buffer[]
}

/** Takes about 50 ms: call it before a transaction. @throws AppError rate_limited */
export async function newBackupCodes(app: App): Promise<BackupCodeSet> {
  const salt = randomBytes(SALT_BYTES)
  const codes = new Set<string>()
  while (codes.size < COUNT) codes.add(newCode())
  const hashes: Buffer[] = []
  // One after the other: log-ins wait for the same places.
  for (const code of codes) hashes.push(await app.passwords.hashCode(code, salt))
  return { codes: [...codes], salt, hashes }
}

const newCode = (): string => Array.from(randomBytes(CHARACTERS), (byte) => ALPHABET.charAt(byte & 31)).join('')

/**
 * The code that a user typed, in any case and with separators; letters that look like digits are those digits.
 * @returns null for a text that is none
 */
export function readBackupCode(text: string): string | null {
  const code = text.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1')
  return /^[0-9A-HJKMNP-TV-Z]{10}$/.test(code) ? code : null
}

/** Users belong to no organisation: their secrets are sealed with the master key. */
const placeOf = (factorId: string, userId: string): string => `totp_factors:secret_sealed:${factorId}:${userId}`

export const sealSecret = (app: App, secret: Buffer, factorId: string, userId: string): string =>
  app.sealer.seal(secret, placeOf(factorId, userId))

export const openSecret = (app: App, factor: FactorRow): Buffer =>
  app.sealer.open(factor.secret_sealed, placeOf(factor.id, factor.user_id))

export const FACTOR_SECRETS: SealedColumn = {
  table: 'totp_factors',
  column: 'secret_sealed',
  keys: ['id', 'user_id'],
  placeOf: (factorId = '', userId = '') => placeOf(factorId, userId),
}
