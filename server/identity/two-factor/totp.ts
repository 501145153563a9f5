import { randomBytes } from 'node:crypto'

/** One-time passwords of RFC 6238 as authenticator apps make them: SHA-1, 6 digits, 30 s. */

const SECRET_BYTES = 20
const STEP_SECONDS = 30
const DIGITS = 6
const ISSUER = 'Faultline'

export const newTotpSecret = (): Buffer => randomBytes(SECRET_BYTES)

/** The code that a user typed; apps show it with a space in the middle. @returns null for a text that is none */
export function readTotpCode(text: string): string | null {
  const code = text.replaceAll(/\s/g, '')
  return /^\d{6}$/.test(code) ? code : null
}

/** The address that apps read from a QR code. */
export async function otpauthUrl(secret: Buffer, email: string): Promise<string> {
  const { Secret, TOTP } = await library()
  return new TOTP({
    issuer: ISSUER,
    label: email,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: STEP_SECONDS,
    secret: new Secret({ buffer: bytesOf(secret) }),
  }).toString()
}

/** The time step of a code: the current one, the one before or the one after. Null when it belongs to none of them. */
export async function stepOfCode(secret: Buffer, code: string, now: Date): Promise<number | null> {
  const { Secret, TOTP } = await library()
  const delta = TOTP.validate({
    secret: new Secret({ buffer: bytesOf(secret) }),
    token: code,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: STEP_SECONDS,
    timestamp: now.getTime(),
    window: 1,
  })
  return delta === null ? null : Math.floor(now.getTime() / 1000 / STEP_SECONDS) + delta
}

/** Loaded at first use: installations without two-factor authentication never need it. */
const library = () => import('otpauth')

/** A buffer of its own: a Buffer may be a part of a shared one. */
const bytesOf = (secret: Buffer): ArrayBuffer => Uint8Array.from(secret).buffer
