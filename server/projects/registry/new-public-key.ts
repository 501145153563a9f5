import { randomBytes } from 'node:crypto'

/** Returns a project key: 128 random bits. It is not secret, because every shipped app contains it. */
export const newPublicKey = (): string => randomBytes(16).toString('hex')
