import { setSignInCookies, signInCaller } from '../auth/complete-sign-in.ts'
import { loginError, redirectAfter } from '../auth/redirect-after-sign-in.ts'
import { REDIRECT_LIFE_MS } from '../auth/redirect-secrets.ts'
import { ACCESS_COOKIE } from '../auth/session-cookies.ts'
import type { Cookies, Handlers } from '../../platform/context/handlers.ts'
import { CODE_STEP, startPendingSignIn } from '../two-factor/pending-sign-in.ts'
import { finishSocial } from './finish-social.ts'
import { linkSocial } from './link-social.ts'
import { listSocial } from './list-social.ts'
import type { socialRoutes } from './social.api.ts'
import { startSocial } from './start-social.ts'
import { unlinkSocial } from './unlink-social.ts'

/** The browser's half of a visit to the provider. */
const TRANSACTION_COOKIE = 'svc_oauth'
/** What the browser may link after a log-in. */
const LINK_COOKIE = 'svc_oauth_link'
const COOKIE_PATH = '/api/auth/oauth'

const setCookie = (cookies: Cookies, name: string, value: string, sameSite: 'lax' | 'strict'): void =>
  cookies.set(name, value, { path: COOKIE_PATH, sameSite, maxAgeSeconds: REDIRECT_LIFE_MS / 1000 })

/** Who links an account comes from the page of personal security. */
const PAGE_OF_LINKS = '/me/security'

export const socialHandlers: Handlers<typeof socialRoutes> = {
  startSocial: (app, caller, call) =>
    redirectAfter(app, caller, call, 'oauth_unavailable', async () => {
      const { cookies } = call
      const input = {
        provider: call.params.provider,
        isLinking: call.query.link === '1',
        cookie: cookies.get(TRANSACTION_COOKIE),
        accessToken: cookies.get(ACCESS_COOKIE),
      }
      const started = await startSocial(app, input, caller)
      if ('error' in started)
        return started.isSignedIn ? `${PAGE_OF_LINKS}?error=${started.error}` : loginError(started.error)
      // Lax: the provider sends the browser back from another site.
      setCookie(cookies, TRANSACTION_COOKIE, started.cookie, 'lax')
      return started.location
    }),
  finishSocial: (app, caller, call) =>
    redirectAfter(app, caller, call, 'oauth_failed', async () => {
      const { cookies } = call
      const input = { provider: call.params.provider, answer: call.query, cookie: cookies.get(TRANSACTION_COOKIE) }
      const result = await finishSocial(app, input, signInCaller(caller, cookies))
      if (result.kind === 'refused')
        return result.isLinking ? `${PAGE_OF_LINKS}?error=${result.error}` : loginError(result.error)
      cookies.clear(TRANSACTION_COOKIE, COOKIE_PATH)
      if (result.kind === 'linked') return `${PAGE_OF_LINKS}?linked=${result.provider}`
      if (result.kind === 'not_linked') {
        setCookie(cookies, LINK_COOKIE, result.token, 'strict')
        return loginError('not_linked')
      }
      if (result.kind === 'code') {
        startPendingSignIn(app, cookies, result.proved)
        return CODE_STEP
      }
      setSignInCookies(cookies, result.signedIn)
      return '/'
    }),
  listSocial: async (app, actor) => ({ items: await listSocial(app, actor) }),
  linkSocial: async (app, actor, { body, cookies }) => {
    const linked = await linkSocial(app, actor, { token: cookies.get(LINK_COOKIE), password: body.password })
    cookies.clear(LINK_COOKIE, COOKIE_PATH)
    return linked
  },
  unlinkSocial: (app, actor, { params, body }) =>
    unlinkSocial(app, actor, { provider: params.provider, password: body?.password }),
}
