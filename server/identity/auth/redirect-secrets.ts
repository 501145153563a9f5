import { createHash, createHmac, randomBytes } from 'node:crypto'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'

/**
 * What binds a browser's way to a provider and back: `state` goes through the provider, the browser's secret through its
 * cookie, and only hashes of both are stored. Nonce and PKCE verifier follow from them, so neither a copy of the database
 * nor the address that the provider calls back is enough to finish a sign-in.
 */
export type RedirectSecrets = {
  readonly state: string
  /** Value of the cookie. */
  readonly browser: string
  readonly nonce: string
  readonly verifier: string
}

/** A browser has this long to come back. */
export const REDIRECT_LIFE_MS = 10 * 60_000

const SECRET = /^[A-Za-z0-9_-]{43}$/

/** @param cookie of an attempt in another tab of the same browser: both may then finish */
export const newRedirectSecrets = (cookie: string | null): RedirectSecrets =>
  derive(newOneTimeToken(), cookie !== null && SECRET.test(cookie) ? cookie : randomBytes(32).toString('base64url'))

/** @returns null when one of them cannot be ours */
export const redirectSecrets = (state: unknown, cookie: string | null): RedirectSecrets | null =>
  typeof state === 'string' && SECRET.test(state) && cookie !== null && SECRET.test(cookie)
    ? derive(state, cookie)
    : null

const derive = (state: string, browser: string): RedirectSecrets => ({
  state,
  browser,
  nonce: keyed(browser, `nonce ${state}`),
  verifier: keyed(browser, `verifier ${state}`),
})

const keyed = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('base64url')

/** The stored forms. */
export const redirectHashes = ({ state, browser }: RedirectSecrets): { state: Buffer; browser: Buffer } => ({
  state: oneTimeTokenHash(state),
  browser: oneTimeTokenHash(browser),
})

/** The S256 challenge of PKCE. */
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')
