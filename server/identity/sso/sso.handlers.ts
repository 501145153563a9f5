import { setSignInCookies, signInCaller } from '../auth/complete-sign-in.ts'
import { loginError, redirectAfter } from '../auth/redirect-after-sign-in.ts'
import { REDIRECT_LIFE_MS } from '../auth/redirect-secrets.ts'
import type { Cookies, Handlers } from '../../platform/context/handlers.ts'
import { CODE_STEP, startPendingSignIn } from '../two-factor/pending-sign-in.ts'
import { finishSso } from './finish-sso.ts'
import { linkSso } from './link-sso.ts'
import { removeSsoConfig } from './remove-config.ts'
import type { ssoRoutes } from './sso.api.ts'
import { startSso } from './start-sso.ts'
import { updateSsoConfig } from './update-config.ts'
import { verifyDomain } from './verify-domain.ts'
import { viewConfig } from './view-config.ts'

/** The browser's half of a sign-in under way. */
const TRANSACTION_COOKIE = 'svc_sso'
/** What the password has to confirm. */
const LINK_COOKIE = 'svc_sso_link'
const COOKIE_PATH = '/api/auth/sso'

const setCookie = (cookies: Cookies, name: string, value: string, sameSite: 'lax' | 'strict'): void =>
  cookies.set(name, value, { path: COOKIE_PATH, sameSite, maxAgeSeconds: REDIRECT_LIFE_MS / 1000 })

export const ssoHandlers: Handlers<typeof ssoRoutes> = {
  startSso: (app, caller, call) =>
    redirectAfter(app, caller, call, 'sso_unavailable', async () => {
      const started = await startSso(app, call.query.org, call.cookies.get(TRANSACTION_COOKIE))
      if (started === null) return loginError('sso_unavailable')
      // Lax: the provider sends the browser back from another site.
      setCookie(call.cookies, TRANSACTION_COOKIE, started.cookie, 'lax')
      return started.location
    }),
  finishSso: (app, caller, call) =>
    redirectAfter(app, caller, call, 'sso_failed', async () => {
      const { cookies } = call
      const input = { answer: call.query, cookie: cookies.get(TRANSACTION_COOKIE) }
      const result = await finishSso(app, input, signInCaller(caller, cookies))
      if (result.kind === 'refused') return loginError(result.error)
      cookies.clear(TRANSACTION_COOKIE, COOKIE_PATH)
      if (result.kind === 'link') {
        setCookie(cookies, LINK_COOKIE, result.token, 'strict')
        return '/login?step=link'
      }
      if (result.kind === 'code') {
        startPendingSignIn(app, cookies, result.proved)
        return CODE_STEP
      }
      setSignInCookies(cookies, result.signedIn)
      return '/'
    }),
  linkSso: async (app, caller, { body, cookies }) => {
    const input = { token: cookies.get(LINK_COOKIE), ...body }
    const signedIn = await linkSso(app, input, signInCaller(caller, cookies))
    if (signedIn === null) return { totp_required: true }
    cookies.clear(LINK_COOKIE, COOKIE_PATH)
    setSignInCookies(cookies, signedIn)
    return { ok: true, org: signedIn.org, role: signedIn.role }
  },
  readSsoConfig: (app, actor) => viewConfig(app, app.db, actor.orgId),
  updateSsoConfig: (app, actor, { body }) => updateSsoConfig(app, actor, body),
  removeSsoConfig: (app, actor) => removeSsoConfig(app, actor),
  verifySsoDomain: (app, actor, { params }) => verifyDomain(app, actor, params.domain),
}
