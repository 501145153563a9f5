import { randomBytes } from 'node:crypto'

const SECRET_BYTES = 32
const PREFIX_CHARACTERS = 12

/**
 * A new signing secret: `whsec_` and standard base64 with padding, so that libraries which decode it work as well.
 * With the alphabet for URLs some of them fail.
 */
export const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

/** The part of a secret that may be shown. */
export const secretPrefix = (secret: string): string => secret.slice(0, PREFIX_CHARACTERS)
