import { setSignInCookies, signInCaller } from '../auth/complete-sign-in.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { finishSso } from './finish-sso.ts'
import { linkSso } from './link-sso.ts'
import { removeSsoConfig, updateSsoConfig } from './update-config.ts'
import type { ssoRoutes } from './sso.api.ts'
import { startSso } from './start-sso.ts'
import { verifyDomain } from './verify-domain.ts'
import { viewConfig } from './view-config.ts'
import { landSignedIn, loginError, redirectAfter, setVisitCookie } from './visits.ts'

const COOKIES = { path: '/api/auth/sso', transaction: 'svc_sso', link: 'svc_sso_link' }

export const ssoHandlers: Handlers<typeof ssoRoutes> = {
  startSso: (app, caller, call) =>
    redirectAfter(app, caller, call, 'sso_unavailable', async () => {
      const started = await startSso(app, call.query.org, call.cookies.get(COOKIES.transaction))
      if (started === null) return loginError('sso_unavailable')
      setVisitCookie(call.cookies, COOKIES, 'transaction', started.cookie)
      return started.location
    }),
  finishSso: (app, caller, call) =>
    redirectAfter(app, caller, call, 'sso_failed', async () => {
      const { cookies } = call
      const input = { answer: call.query, cookie: cookies.get(COOKIES.transaction) }
      const result = await finishSso(app, input, signInCaller(caller, cookies))
      if (result.kind === 'refused') return loginError(result.error)
      cookies.clear(COOKIES.transaction, COOKIES.path)
      if (result.kind !== 'link') return landSignedIn(app, cookies, result)
      setVisitCookie(cookies, COOKIES, 'link', result.token)
      return '/login?step=link'
    }),
  linkSso: async (app, caller, { body, cookies }) => {
    const input = { token: cookies.get(COOKIES.link), ...body }
    const signedIn = await linkSso(app, input, signInCaller(caller, cookies))
    if (signedIn === null) return { totp_required: true }
    cookies.clear(COOKIES.link, COOKIES.path)
    setSignInCookies(cookies, signedIn)
    return { ok: true, org: signedIn.org, role: signedIn.role }
  },
  readSsoConfig: (app, actor) => viewConfig(app, app.db, actor.orgId),
  updateSsoConfig: (app, actor, { body }) => updateSsoConfig(app, actor, body),
  removeSsoConfig: (app, actor) => removeSsoConfig(app, actor),
  verifySsoDomain: (app, actor, { params }) => verifyDomain(app, actor, params.domain),
}
