import { createHmac, timingSafeEqual } from 'node:crypto'
import { isUuid } from '../kernel/ids.ts'

/**
 * Refresh tokens: `rt_<session>.<counter>.<hmac>`. The key is the session's own, sealed in its row; nothing that is
 * stored lets anybody make a token, and every token of a session can be told apart by its counter.
 */
export type RefreshToken = { readonly sessionId: string; readonly counter: number; readonly mac: Buffer }

/** @returns null when the text has not the form of a refresh token */
export function parseRefreshToken(text: string): RefreshToken | null {
  const match = /^rt_([0-9a-f-]{36})\.(0|[1-9]\d{0,8})\.([A-Za-z0-9_-]{43})$/.exec(text)
  if (match === null) return null
  const [, sessionId = '', counter = '', mac = ''] = match
  if (!isUuid(sessionId)) return null
  const bytes = Buffer.from(mac, 'base64url')
  // Base64 has spare bits at its end: one token has one spelling.
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
