import type { z } from 'zod'
import type { SessionActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { unauthenticated } from '../kernel/errors.ts'
import type { Me } from './auth.api.ts'
import { membershipsOf, readSession, readUser, type MembershipRow } from './auth.queries.ts'

/** The caller's user, organisation, memberships and session. */
export async function readMe(app: App, actor: SessionActor): Promise<z.input<typeof Me>> {
  const [user, session, memberships] = await Promise.all([
    readUser(app.db, actor.userId),
    readSession(app.db, actor.sessionId),
    membershipsOf(app.db, actor.userId),
  ])
  const current = memberships.find((membership) => membership.org_id === actor.orgId)
  if (user === null || session === null || current === undefined) throw unauthenticated()
  return {
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      role: current.role,
      created_at: user.created_at.toISOString(),
    },
    org: orgOf(current),
    memberships: memberships.map((membership) => ({ org: orgOf(membership), role: membership.role })),
    session: { id: session.id, expires_at: session.expires_at.toISOString() },
  }
}

const orgOf = (row: MembershipRow) => ({ id: row.org_id, slug: row.org_slug, name: row.org_name })
