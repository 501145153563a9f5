import type { Handlers } from '../../platform/context/handlers.ts'
import type { authRoutes } from './auth.api.ts'
import { logOut } from './log-out.ts'
import { readMe } from './read-me.ts'
import { refreshSession } from './refresh-session.ts'
import { ACCESS_COOKIE, clearSessionCookies, REFRESH_COOKIE, setSessionCookies } from './session-cookies.ts'
import { publicJwks } from './signing-keys.ts'
import { switchOrg } from './switch-org.ts'

export const authHandlers: Handlers<typeof authRoutes> = {
  logOut: async (app, caller, { cookies }) => {
    await logOut(app, { accessToken: cookies.get(ACCESS_COOKIE), refreshToken: cookies.get(REFRESH_COOKIE) }, caller)
    clearSessionCookies(cookies)
    return { ok: true }
  },
  refresh: async (app, caller, { cookies }) => {
    setSessionCookies(cookies, await refreshSession(app, cookies.get(REFRESH_COOKIE), caller))
    return { ok: true }
  },
  switchOrg: async (app, actor, { body, cookies }) => {
    const { org, role, tokens } = await switchOrg(app, actor, body.org)
    setSessionCookies(cookies, tokens)
    return { ok: true, org, role }
  },
  readJwks: async (app) => ({ keys: await publicJwks(app) }),
  readMe: (app, actor) => readMe(app, actor),
}
