import { setSignInCookies, signInCaller } from '../auth/complete-sign-in.ts'
import { setSessionCookies } from '../auth/session-cookies.ts'
import type { Handlers } from '../context/handlers.ts'
import type { accountRoutes } from './accounts.api.ts'
import { changePassword } from './change-password.ts'
import { logIn } from './log-in.ts'
import { signUp } from './sign-up.ts'

export const accountHandlers: Handlers<typeof accountRoutes> = {
  signUp: async (app, caller, { body }) => {
    const { org, warning } = await signUp(app, body, caller)
    return { ok: true, org, warning: warning ?? undefined }
  },
  logIn: async (app, caller, { body, cookies }) => {
    const signedIn = await logIn(app, body, signInCaller(caller, cookies))
    if (signedIn === null) return { totp_required: true }
    setSignInCookies(cookies, signedIn)
    return { ok: true, org: signedIn.org, role: signedIn.role, warning: signedIn.warning ?? undefined }
  },
  changePassword: async (app, actor, { body, cookies }) => {
    const { tokens, warning } = await changePassword(app, actor, body)
    setSessionCookies(cookies, tokens)
    return { ok: true, warning: warning ?? undefined }
  },
}
