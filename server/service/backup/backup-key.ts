import { createHash, createHmac, hkdfSync, type Hash, type Hmac } from 'node:crypto'

/** The keys of an encrypted backup, all derived from the key that the operator keeps. */
export type BackupKey = {
  /** Names the key in a manifest, and says nothing about it. */
  readonly id: string
  readonly files: Buffer
  readonly digests: Buffer
}

/** @param bytes the operator's key, 32 random bytes */
export function deriveBackupKey(bytes: Buffer): BackupKey {
  const derive = (purpose: string, length = 32): Buffer =>
    Buffer.from(hkdfSync('sha256', bytes, '', `faultline backup ${purpose}`, length))
  return { id: derive('id', 8).toString('hex'), files: derive('files'), digests: derive('digests') }
}

/** Digests content. With a key it is a code that only its holder can make: it confirms no guess of the content. */
export const contentDigest = (key: BackupKey | null): Hash | Hmac =>
  key === null ? createHash('sha256') : createHmac('sha256', key.digests)
