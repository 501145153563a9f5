import type { z } from 'zod'
import type { SessionActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { unauthenticated } from '../kernel/errors.ts'
import type { Me } from './auth.api.ts'
import { accountById, readSession } from './auth.queries.ts'

/** The caller as the dashboard shows it. */
export async function readMe(app: App, actor: SessionActor): Promise<z.input<typeof Me>> {
  const [account, session] = await Promise.all([
    accountById(app.db, actor.userId),
    readSession(app.db, actor.sessionId),
  ])
  if (account === null || session === null) throw unauthenticated()
  return {
    user: {
      id: account.id,
      email: account.email,
      name: account.name,
      role: account.role,
      created_at: account.created_at.toISOString(),
    },
    org: { id: account.org_id, slug: account.org_slug, name: account.org_name },
    session: { id: session.id, expires_at: session.expires_at.toISOString() },
  }
}
