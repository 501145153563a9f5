import type { z } from 'zod'
import type { Me } from '../auth/auth.api.ts'
import { setUserName, anyOrgExists } from '../auth/auth.queries.ts'
import { readMe } from '../auth/read-me.ts'
import { announceSessions, dropCachedSessions } from '../auth/session-cache.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { ClientAnswer } from '../../platform/kernel/contract.ts'
import { offersPasskeys } from '../passkeys/relying-party.ts'
import type { accountRoutes } from './accounts.api.ts'

/** Changes how the caller is shown to other members. */
export async function updateMe(
  app: App,
  actor: SessionActor,
  { name }: { readonly name: string },
): Promise<z.input<typeof Me>> {
  await app.tx(async (tx) => {
    await setUserName(tx, actor.userId, name)
    await announceSessions(tx, { user_id: actor.userId })
  })
  dropCachedSessions(app, { user_id: actor.userId })
  return readMe(app, actor)
}

/** The ways to sign up and to log in of this installation. */
export async function readMethods({ config, db }: App): Promise<ClientAnswer<(typeof accountRoutes)['readMethods']>> {
  const { signup, oauth } = config
  return {
    signup,
    first: !(await anyOrgExists(db)),
    oauth: (['github', 'google'] as const).filter((provider) => oauth[provider] !== null),
    passkeys: offersPasskeys(config),
    sso: true,
  }
}
