import { randomBytes } from 'node:crypto'

/** The name of an SDK key: 128 random bits, not secret (it stands in every app that is shipped). */
export const newPublicKey = (): string => randomBytes(16).toString('hex')
