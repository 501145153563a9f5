import { createHmac, timingSafeEqual } from 'node:crypto'
import { isUuid } from '../../platform/kernel/ids.ts'

/**
 * Refresh tokens: `rt_<session>.<counter>.<hmac>`. Each session has its own key, sealed in its row: a copy of the
 * database does not suffice to make a token. The counter distinguishes the tokens of a session.
 */
export type RefreshToken = { readonly sessionId: string; readonly counter: number; readonly mac: Buffer }

/** @returns null when the text is not a refresh token */
export function parseRefreshToken(text: string): RefreshToken | null {
  const match = /^rt_([0-9a-f-]{36})\.(0|[1-9]\d{0,8})\.([A-Za-z0-9_-]{43})$/.exec(text)
  if (match === null) return null
  const [, sessionId = '', counter = '', mac = ''] = match
  if (!isUuid(sessionId)) return null
  const bytes = Buffer.from(mac, 'base64url')
  // Base64 has unused bits at its end: accept only one spelling of a token.
  if (bytes.toString('base64url') !== mac) return null
  return { sessionId, counter: Number(counter), mac: bytes }
}

export const makeRefreshToken = (key: Buffer, sessionId: string, counter: number): string =>
  `rt_${sessionId}.${counter}.${macOf(key, sessionId, counter).toString('base64url')}`

/** Whether this session's key made the token. */
export const isOwnRefreshToken = (key: Buffer, token: RefreshToken): boolean =>
  timingSafeEqual(macOf(key, token.sessionId, token.counter), token.mac)

const macOf = (key: Buffer, sessionId: string, counter: number): Buffer =>
  createHmac('sha256', key).update(`rt_${sessionId}.${counter}`).digest()
