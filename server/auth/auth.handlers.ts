import type { Handlers } from '../context/handlers.ts'
import type { authRoutes } from './auth.api.ts'
import { changePassword } from './change-password.ts'
import { logIn } from './log-in.ts'
import { logOut } from './log-out.ts'
import { readMe } from './read-me.ts'
import { refreshSession } from './refresh-session.ts'
import { ACCESS_COOKIE, clearSessionCookies, REFRESH_COOKIE, setSessionCookies } from './session-cookies.ts'
import { signUp } from './sign-up.ts'
import { publicJwks } from './signing-keys.ts'

export const authHandlers: Handlers<typeof authRoutes> = {
  signUp: async (app, _nobody, { body, origin }) => {
    const { org, warning } = await signUp(app, body, origin)
    return { ok: true, org, warning: warning ?? undefined }
  },
  logIn: async (app, _nobody, { body, cookies, origin }) => {
    const { org, role, tokens } = await logIn(app, body, origin)
    setSessionCookies(cookies, tokens)
    return { ok: true, org, role }
  },
  logOut: async (app, _nobody, { cookies }) => {
    await logOut(app, { accessToken: cookies.get(ACCESS_COOKIE), refreshToken: cookies.get(REFRESH_COOKIE) })
    clearSessionCookies(cookies)
    return { ok: true }
  },
  refresh: async (app, _nobody, { cookies, origin }) => {
    setSessionCookies(cookies, await refreshSession(app, cookies.get(REFRESH_COOKIE), origin))
    return { ok: true }
  },
  changePassword: async (app, actor, { body, cookies, origin }) => {
    const { tokens, warning } = await changePassword(app, actor, body, origin)
    setSessionCookies(cookies, tokens)
    return { ok: true, warning: warning ?? undefined }
  },
  readJwks: async (app) => ({ keys: await publicJwks(app) }),
  readMe: (app, actor) => readMe(app, actor),
}
