import type { z } from 'zod'
import type { Me } from '../auth/auth.api.ts'
import { setUserName } from '../auth/auth.queries.ts'
import { readMe } from '../auth/read-me.ts'
import { announceSessions, dropCachedSessions } from '../auth/session-cache.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'

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
