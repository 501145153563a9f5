import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { BackupKey } from './backup-key.ts'

/**
 * AES-256-GCM over a stream, in chunks that are sealed one by one: a reader needs one chunk in memory and passes on nothing
 * that was not verified. A chunk's nonce is its number and whether it is the last one, so that chunks that are missing, repeated,
 * moved or cut off do not open. Each file has its own key, made from a random salt: no nonce is used twice.
 *
 * `FLBK1` ‖ salt (32 bytes) ‖ chunks of 64 KiB, each followed by its tag (16 bytes); the last one is shorter, or empty.
 */
const MAGIC = Buffer.from('FLBK1')
const SALT_BYTES = 32
const CHUNK_BYTES = 64 * 1024
const TAG_BYTES = 16
const HEADER_BYTES = MAGIC.length + SALT_BYTES
const CIPHER = 'aes-256-gcm'

export async function* encryptChunks(key: BackupKey, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  const fileKey = fileKeyOf(key, salt)
  yield Buffer.concat([MAGIC, salt])
  let number = 0
  const seal = (plain: Buffer, isLast: boolean): Buffer => {
    const cipher = createCipheriv(CIPHER, fileKey, nonceOf(number++, isLast))
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }
  let rest: Buffer = Buffer.alloc(0)
  for await (const bytes of source) {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    let at = 0
    for (; rest.length - at >= CHUNK_BYTES; at += CHUNK_BYTES) yield seal(rest.subarray(at, at + CHUNK_BYTES), false)
    rest = rest.subarray(at)
  }
  yield seal(rest, true)
}

/** @throws Error when the bytes were changed, moved or cut off, or were sealed with another key */
export async function* decryptChunks(key: BackupKey, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const sealedBytes = CHUNK_BYTES + TAG_BYTES
  let fileKey: Buffer | null = null
  let number = 0
  const open = (sealed: Buffer, isLast: boolean): Buffer => {
    if (fileKey === null || sealed.length < TAG_BYTES) throw new Error('An encrypted file is incomplete.')
    const decipher = createDecipheriv(CIPHER, fileKey, nonceOf(number++, isLast))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
  }
  let rest: Buffer = Buffer.alloc(0)
  for await (const bytes of source) {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    let at = 0
    if (fileKey === null) {
      if (rest.length < HEADER_BYTES) continue
      if (!rest.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('The file is not encrypted by this program.')
      fileKey = fileKeyOf(key, rest.subarray(MAGIC.length, HEADER_BYTES))
      at = HEADER_BYTES
    }
    // A full chunk is never the last one.
    for (; rest.length - at >= sealedBytes; at += sealedBytes) yield open(rest.subarray(at, at + sealedBytes), false)
    rest = rest.subarray(at)
  }
  yield open(rest, true)
}

const fileKeyOf = (key: BackupKey, salt: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', key.files, salt, 'faultline backup file', 32))

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 0, 6)
  nonce.writeUInt8(isLast ? 1 : 0, 11)
  return nonce
}
