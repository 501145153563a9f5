import { setSignInCookies, signInCaller } from '../auth/complete-sign-in.ts'
import { setSessionCookies } from '../auth/session-cookies.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { disableTwoFactor } from './disable-two-factor.ts'
import { continueSignIn } from './pending-sign-in.ts'
import { replaceBackupCodes } from './replace-backup-codes.ts'
import { setUpTwoFactor, readTwoFactor } from './set-up-two-factor.ts'
import type { twoFactorRoutes } from './two-factor.api.ts'
import { verifyTwoFactor } from './verify-two-factor.ts'

export const twoFactorHandlers: Handlers<typeof twoFactorRoutes> = {
  readTwoFactor: (app, actor) => readTwoFactor(app, actor),
  setUpTwoFactor: (app, actor, { body }) => setUpTwoFactor(app, actor, body?.password),
  verifyTwoFactor: async (app, actor, { body, cookies }) => {
    setSessionCookies(cookies, await verifyTwoFactor(app, actor, body.token))
    return { ok: true }
  },
  disableTwoFactor: async (app, actor, { body, cookies }) => {
    setSessionCookies(cookies, await disableTwoFactor(app, actor, body?.password))
    return { ok: true }
  },
  replaceBackupCodes: async (app, actor, { body }) => ({
    backupCodes: await replaceBackupCodes(app, actor, body?.password),
  }),
  continueSignIn: async (app, caller, { body, cookies }) => {
    const signedIn = await continueSignIn(app, cookies, body.token, signInCaller(caller, cookies))
    setSignInCookies(cookies, signedIn)
    return { ok: true, org: signedIn.org, role: signedIn.role, warning: signedIn.warning ?? undefined }
  },
}
