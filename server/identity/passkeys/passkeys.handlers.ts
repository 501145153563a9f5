import type { z } from 'zod'
import { setSignInCookies, signInCaller } from '../auth/complete-sign-in.ts'
import type { Handlers } from '../../platform/context/handlers.ts'
import { deletePasskey, renamePasskey } from './delete-passkey.ts'
import { logInWithPasskey, startPasskeyLogIn } from './log-in-with-passkey.ts'
import type { Passkey, passkeyRoutes } from './passkeys.api.ts'
import { selectPasskeys, type PasskeyRow } from './passkeys.queries.ts'
import { registerPasskey, startPasskeyRegistration } from './register-passkey.ts'

export const passkeyHandlers: Handlers<typeof passkeyRoutes> = {
  startPasskeyRegistration: (app, actor, { body, cookies }) =>
    startPasskeyRegistration(app, actor, { password: body?.password, cookies }),
  registerPasskey: async (app, actor, { body, cookies }) =>
    shown(await registerPasskey(app, actor, { name: body.name, response: body.response, cookies })),
  startPasskeyLogIn: (app, _caller, { cookies }) => Promise.resolve(startPasskeyLogIn(app, cookies)),
  logInWithPasskey: async (app, caller, { body, cookies }) => {
    const signedIn = await logInWithPasskey(app, { response: body.response, cookies }, signInCaller(caller, cookies))
    setSignInCookies(cookies, signedIn)
    return { ok: true, org: signedIn.org, role: signedIn.role }
  },
  listPasskeys: async (app, actor) => ({ items: (await selectPasskeys(app.db, actor.userId)).map(shown) }),
  renamePasskey: async (app, actor, { params, body }) =>
    shown(await renamePasskey(app, actor, { passkeyId: params.passkeyId, name: body.name })),
  deletePasskey: (app, actor, { params, body }) =>
    deletePasskey(app, actor, { passkeyId: params.passkeyId, password: body?.password }),
}

const shown = (row: PasskeyRow): z.input<typeof Passkey> => ({
  id: row.id,
  name: row.name,
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
  backed_up: row.backed_up,
  transports: row.transports,
})
