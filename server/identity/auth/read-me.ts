import type { z } from 'zod'
import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import type { Me } from './auth.api.ts'
import { isOperator, selectMemberships, readSession, readUser, type MembershipRow } from './auth.queries.ts'

/** The caller's user, organisation, memberships and session. A key knows only its own membership. */
export async function readMe(app: App, actor: OrgActor): Promise<z.input<typeof Me>> {
  const { userId, orgId } = requireActingMember(actor)
  const sessionId = actor.kind === 'user' ? actor.sessionId : null
  const [user, session, all] = await Promise.all([
    readUser(app.db, userId),
    sessionId === null ? null : readSession(app.db, sessionId),
    selectMemberships(app.db, userId),
  ])
  const memberships = sessionId === null ? all.filter((membership) => membership.org_id === orgId) : all
  const current = memberships.find((membership) => membership.org_id === orgId)
  if (user === null || current === undefined || (sessionId !== null && session === null)) throw unauthenticated()
  return {
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      role: current.role,
      has_password: user.password_hash !== null,
      created_at: user.created_at.toISOString(),
    },
    org: orgOf(current),
    operates: await isOperator(app.db, { orgId, role: current.role }),
    memberships: memberships.map((membership) => ({ org: orgOf(membership), role: membership.role })),
    session: session === null ? null : { id: session.id, expires_at: session.expires_at.toISOString() },
  }
}

const orgOf = (row: MembershipRow) => ({ id: row.org_id, slug: row.org_slug, name: row.org_name })
