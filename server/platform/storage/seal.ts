import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Encryption at rest: AES-256-GCM, random 96-bit nonce, text form `v1.<keyid>.<nonce>.<ciphertext>`. `place` (table,
 * column, row, organisation) binds a value to where it is stored: a copy in another place does not open.
 */
export type Sealer = {
  /** The key that seals. */
  readonly keyId: string
  seal(plain: Buffer, place: string): string
  /** @throws Error when the key is unknown or the value was changed or moved */
  open(sealed: string, place: string): Buffer
}

export type Opener = Pick<Sealer, 'open'>

export type Key = { readonly id: string; readonly bytes: Buffer }

const KEY_BYTES = 32

/** The first key seals, all keys open. */
export function createSealer(keys: readonly Key[]): Sealer {
  const [first] = keys
  if (first === undefined) throw new Error('No encryption key.')
  const byId = new Map(keys.map((key) => [key.id, key.bytes]))
  return {
    keyId: first.id,
    seal(plain, place) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', first.bytes, nonce)
      cipher.setAAD(Buffer.from(place))
      const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
      return `v1.${first.id}.${nonce.toString('base64url')}.${sealed.toString('base64url')}`
    },
    open(sealed, place) {
      const [version, keyId, nonce, text] = sealed.split('.')
      const key = byId.get(keyId ?? '')
      if (version !== 'v1' || nonce === undefined || text === undefined) throw new Error('Not a sealed value.')
      if (key === undefined) throw new Error(`Sealed with encryption key ${keyId}, which is not among ENCRYPTION_KEYS.`)
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length < 16) throw new Error('Not a sealed value.')
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'))
      decipher.setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()])
    },
  }
}

const generatedFile = (dataDir: string): string => join(dataDir, 'keys', 'encryption-keys')

/**
 * As {@link generatedEncryptionKeys}, for a command that only reads.
 * @throws Error with one line for the operator when there are none
 */
export function existingEncryptionKeys(dataDir: string): Key[] {
  const file = generatedFile(dataDir)
  if (!existsSync(file)) throw new Error(`ENCRYPTION_KEYS is not set, and ${file} does not exist.`)
  return parseEncryptionKeys(readFileSync(file, 'utf8').trim())
}

/**
 * `k2:<base64 of 32 bytes>,k1:…` → keys.
 * @throws Error with one line for the operator
 */
export function parseEncryptionKeys(text: string): Key[] {
  const keys = text.split(',').map((part) => {
    const colon = part.indexOf(':')
    const id = part.slice(0, colon).trim()
    const bytes = Buffer.from(part.slice(colon + 1).trim(), 'base64')
    if (colon < 1 || !/^[A-Za-z0-9_-]{1,32}$/.test(id))
      throw new Error('ENCRYPTION_KEYS must be k1:<base64 of 32 bytes>, several separated by commas.')
    if (bytes.length !== KEY_BYTES)
      throw new Error(`ENCRYPTION_KEYS: key ${id} must be base64 of exactly 32 bytes, it is ${bytes.length}.`)
    if (bytes.every((byte) => byte === bytes[0]))
      throw new Error(`ENCRYPTION_KEYS: key ${id} is an example value. Make one with "openssl rand -base64 32".`)
    return { id, bytes }
  })
  if (new Set(keys.map((key) => key.id)).size !== keys.length)
    throw new Error('ENCRYPTION_KEYS names one key id twice.')
  return keys
}

/** Keys of an installation without ENCRYPTION_KEYS: generated once in the data directory, readable by its owner only. */
export function generatedEncryptionKeys(dataDir: string): Key[] {
  const file = generatedFile(dataDir)
  if (!existsSync(file)) {
    mkdirSync(join(dataDir, 'keys'), { recursive: true, mode: 0o700 })
    const draft = `${file}.${process.pid}`
    try {
      writeFileSync(draft, `k1:${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true })
      putInPlace(draft, file)
    } finally {
      rmSync(draft, { force: true })
    }
  }
  return parseEncryptionKeys(readFileSync(file, 'utf8').trim())
}

/** Several processes may start at the same time: a link, unlike a rename, never replaces the keys of the first one. */
function putInPlace(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch {
    // Another process was first, or the file system has no links.
    if (!existsSync(file)) renameSync(draft, file)
  }
}

/** A new random data key. */
export const newDataKey = (): Buffer => randomBytes(KEY_BYTES)

/**
 * Data keys of one organisation, as they are sealed: the first key alone is its bytes; once it was replaced, a list in the
 * form of ENCRYPTION_KEYS.
 */
export const readDataKeys = (stored: Buffer): readonly Key[] =>
  stored.length === KEY_BYTES ? [{ id: 'd1', bytes: stored }] : parseEncryptionKeys(stored.toString())

/** A new key in front of the one that sealed until now. Keys before that one seal nothing any more. */
export function withNewDataKey([last]: readonly Key[]): { readonly keyId: string; readonly stored: Buffer } {
  if (last === undefined) throw new Error('No data key.')
  const fresh = { id: `d${Number(last.id.slice(1)) + 1}`, bytes: newDataKey() }
  const stored = [fresh, last].map(({ id, bytes }) => `${id}:${bytes.toString('base64')}`).join(',')
  return { keyId: fresh.id, stored: Buffer.from(stored) }
}
