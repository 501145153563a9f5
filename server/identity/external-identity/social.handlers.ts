import { signInCaller } from '../auth/complete-sign-in.ts'
import { ACCESS_COOKIE } from '../auth/session-cookies.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { finishSocial } from './finish-social.ts'
import { linkSocial } from './link-social.ts'
import type { socialRoutes } from './social.api.ts'
import { startSocial } from './start-social.ts'
import { unlinkSocial, listSocial } from './unlink-social.ts'
import { landSignedIn, loginError, redirectAfter, setVisitCookie } from './visits.ts'

const COOKIES = { path: '/api/auth/oauth', transaction: 'svc_oauth', link: 'svc_oauth_link' }

/** Who links an account comes from the page of personal security. */
const PAGE_OF_LINKS = '/me/security'

export const socialHandlers: Handlers<typeof socialRoutes> = {
  startSocial: (app, caller, call) =>
    redirectAfter(app, caller, call, 'oauth_unavailable', async () => {
      const { cookies } = call
      const input = {
        provider: call.params.provider,
        isLinking: call.query.link === '1',
        cookie: cookies.get(COOKIES.transaction),
        accessToken: cookies.get(ACCESS_COOKIE),
      }
      const started = await startSocial(app, input, caller)
      if ('error' in started)
        return started.isSignedIn ? `${PAGE_OF_LINKS}?error=${started.error}` : loginError(started.error)
      setVisitCookie(cookies, COOKIES, 'transaction', started.cookie)
      return started.location
    }),
  finishSocial: (app, caller, call) =>
    redirectAfter(app, caller, call, 'oauth_failed', async () => {
      const { cookies } = call
      const input = { provider: call.params.provider, answer: call.query, cookie: cookies.get(COOKIES.transaction) }
      const result = await finishSocial(app, input, signInCaller(caller, cookies))
      if (result.kind === 'refused')
        return result.isLinking ? `${PAGE_OF_LINKS}?error=${result.error}` : loginError(result.error)
      cookies.clear(COOKIES.transaction, COOKIES.path)
      if (result.kind === 'linked') return `${PAGE_OF_LINKS}?linked=${result.provider}`
      if (result.kind !== 'not_linked') return landSignedIn(app, cookies, result)
      setVisitCookie(cookies, COOKIES, 'link', result.token)
      return loginError('not_linked')
    }),
  listSocial: async (app, actor) => ({ items: await listSocial(app, actor) }),
  linkSocial: async (app, actor, { body, cookies }) => {
    const linked = await linkSocial(app, actor, { token: cookies.get(COOKIES.link), password: body.password })
    cookies.clear(COOKIES.link, COOKIES.path)
    return linked
  },
  unlinkSocial: (app, actor, { params, body }) =>
    unlinkSocial(app, actor, { provider: params.provider, password: body?.password }),
}
