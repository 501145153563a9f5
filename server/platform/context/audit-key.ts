/**
 * The key of the audit log. Only the service has it: entries that were changed, added or removed in the database alone do
 * not verify.
 */
export type AuditKey = {
  /** First 16 bytes of the SHA-256 of the public key, in hexadecimal. */
  readonly id: string
  /** Ed25519, 32 bytes in base64url. */
  readonly publicKey: string
  /** HMAC-SHA256 of the parts, each with its length. */
  mac(...parts: readonly (string | Buffer)[]): Buffer
  /** Ed25519 signature of a text. */
  sign(text: string): Buffer
  verify(text: string, signature: Buffer): boolean
}
