import { createHmac, randomBytes } from 'node:crypto'
import type { SignInError } from '#shared/sign-in-errors.ts'
import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Cookies } from '../../platform/context/handlers.ts'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import { setSignInCookies } from '../auth/complete-sign-in.ts'
import { CODE_STEP, startPendingSignIn } from '../two-factor/pending-sign-in.ts'
import type { Proved } from './complete-or-ask-code.ts'

/** A browser's visit to a provider and back. */

/**
 * Secrets that bind the browser to its visit: `state` goes through the provider, the browser's secret through its cookie,
 * and only hashes of both are stored. Nonce and PKCE verifier follow from them, so neither a copy of the database nor the
 * address that the provider calls back is enough to finish a sign-in.
 */
export type RedirectSecrets = {
  readonly state: string
  /** Value of the cookie. */
  readonly browser: string
  readonly nonce: string
  readonly verifier: string
}

/** A browser has this long to come back, and then to confirm with the password that an identity belongs to an account. */
const LIFE_MS = 10 * 60_000

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

/** The stored forms of the secrets. */
export const redirectHashes = ({ state, browser }: RedirectSecrets) => ({
  state_hash: oneTimeTokenHash(state),
  browser_hash: oneTimeTokenHash(browser),
})

/** When a visit is stored, and until when it counts. */
export const visitTimes = (app: App) => {
  const now = app.clock.now()
  return { created_at: now, expires_at: new Date(now.getTime() + LIFE_MS) }
}

/** The token of a browser whose user must confirm an identity, and what its row holds of it. */
export function newPendingLink(app: App) {
  const token = newOneTimeToken()
  return { token, row: { token_hash: oneTimeTokenHash(token), expires_at: visitTimes(app).expires_at } }
}

/** The query with which the provider sent the browser back. */
export type ProviderAnswer = Readonly<Record<string, unknown>>

/** Every value as it was sent, also repeated ones, which the library refuses. */
export function toCallbackQuery(answer: ProviderAnswer): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(answer))
    for (const one of Array.isArray(value) ? value : [value]) if (typeof one === 'string') query.append(name, one)
  return query
}

/** Gives the browser the cookies of a sign-in, or of one that waits for a code. @returns where it goes */
export function landSignedIn(app: App, cookies: Cookies, result: Proved): string {
  if (result.kind === 'signed_in') setSignInCookies(cookies, result.signedIn)
  else startPendingSignIn(app, cookies, result.proved)
  return result.kind === 'signed_in' ? '/' : CODE_STEP
}

/** The cookies of one kind of visit: `transaction` binds the browser, `link` lets it confirm an identity afterwards. */
type VisitCookies = { readonly path: string; readonly transaction: string; readonly link: string }

export const setVisitCookie = (
  cookies: Cookies,
  { path, ...names }: VisitCookies,
  which: 'transaction' | 'link',
  value: string,
): void =>
  cookies.set(names[which], value, {
    path,
    // Lax: the provider sends the browser back from another site.
    sameSite: which === 'transaction' ? 'lax' : 'strict',
    maxAgeSeconds: LIFE_MS / 1000,
  })

/** Where a browser goes when a sign-in through another site has failed. */
export const loginError = (error: SignInError): string => `/login?error=${error}`

/**
 * Sends the browser to where `work` says, and to the log-in page if it fails: browsers would show the JSON of an error.
 * @param fallback error of the log-in page after a failure that nothing foresaw; the log has its text
 */
export async function redirectAfter(
  app: App,
  caller: Caller,
  call: { redirect(location: string): void },
  fallback: SignInError,
  work: () => Promise<string>,
): Promise<void> {
  let location: string
  try {
    location = await work()
  } catch (error) {
    app.log.error({ err: error, request_id: caller.requestId }, 'a sign-in through another site failed')
    location = loginError(fallback)
  }
  call.redirect(location)
}
