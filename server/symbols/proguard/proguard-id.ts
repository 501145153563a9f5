import { createHash } from 'node:crypto'

/** UUID of version 5 of "guardsquare.com" in the namespace of DNS names (RFC 9562, section 5.5). */
const NAMESPACE = Buffer.from('4f44f30f24be53d0bab6f47c7120ad6c', 'hex')

/**
 * The identifier of a mapping that was uploaded without one: a UUID of version 5 of the bytes of the file. Upload tools
 * derive the same one, by the rule of the documentation of debug files, "ProGuard UUIDs".
 */
export function readProguardId(file: Buffer): string {
  const hash = createHash('sha1').update(NAMESPACE).update(file).digest()
  hash.writeUInt8(((hash[6] ?? 0) & 0x0f) | 0x50, 6)
  hash.writeUInt8(((hash[8] ?? 0) & 0x3f) | 0x80, 8)
  const hex = hash.toString('hex', 0, 16)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
