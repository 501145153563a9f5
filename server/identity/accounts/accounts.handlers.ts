import { setSignInCookies, signInCaller } from '../auth/complete-sign-in.ts'
import { clearSessionCookies, setSessionCookies } from '../auth/session-cookies.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import type { accountRoutes } from './accounts.api.ts'
import { changeEmail } from './change-email.ts'
import { changePassword } from './change-password.ts'
import { confirmEmail } from './confirm-email.ts'
import { deleteAccount } from './delete-account.ts'
import { forgotPassword } from './forgot-password.ts'
import { logIn } from './log-in.ts'
import { resetPassword } from './reset-password.ts'
import { signUp } from './sign-up.ts'
import { updateMe, readMethods } from './update-me.ts'

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
  readMethods: (app) => readMethods(app),
  forgotPassword: async (app, caller, { body }) => {
    await forgotPassword(app, body, caller)
    return { ok: true }
  },
  resetPassword: async (app, caller, { body }) => {
    const { warning } = await resetPassword(app, body, caller)
    return { ok: true, warning: warning ?? undefined }
  },
  changeEmail: async (app, actor, { body }) => {
    await changeEmail(app, actor, body)
    return { ok: true }
  },
  confirmEmail: async (app, caller, { body }) => {
    await confirmEmail(app, body.token, caller)
    return { ok: true }
  },
  updateMe: (app, actor, { body }) => updateMe(app, actor, body),
  deleteMe: async (app, actor, { body, cookies }) => {
    await deleteAccount(app, actor, body)
    clearSessionCookies(cookies)
  },
}
