import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * `svc_` + 8 public characters + `_` + 32 random characters + 6 characters of checksum. The checksum refuses a mistyped
 * key without a database read, and lets scanners for leaked secrets recognise real keys.
 */
const FORM = /^svc_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECKSUM_LENGTH = 6
const PREFIX_LENGTH = 12

const randomText = (length: number): string =>
  Array.from({ length }, () => DIGITS.charAt(randomInt(DIGITS.length))).join('')

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = DIGITS.charAt(rest % DIGITS.length) + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}

export function newKey(): string {
  const text = `svc_${randomText(8)}_${randomText(32)}`
  return text + checksumOf(text)
}

/** Whether the text can be a key: its form and its checksum. */
export const isKey = (text: string): boolean =>
  FORM.test(text) && checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)

/** The stored form of a key. 190 random bits need no slow hash. */
export const keyHash = (key: string): Buffer => createHash('sha256').update(key).digest()

/** The part of a key that lists show. */
export const apiKeyPrefix = (key: string): string => key.slice(0, PREFIX_LENGTH)
