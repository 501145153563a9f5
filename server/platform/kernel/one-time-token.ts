import { createHash, randomBytes } from 'node:crypto'

const BYTES = 32

/** A secret that a mail carries to its receiver once, such as a link that resets a password: base64url of 32 bytes. */
export const newOneTimeToken = (): string => randomBytes(BYTES).toString('base64url')

/** The stored form of a token: its SHA-256. */
export const oneTimeTokenHash = (token: string): Buffer => createHash('sha256').update(token).digest()
