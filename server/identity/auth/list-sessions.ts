import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { ClientAnswer } from '../../platform/kernel/contract.ts'
import { activeSessions, readSession } from './auth.queries.ts'
import { deviceAgent } from './device-agent.ts'
import { selectUserDevices } from './devices.queries.ts'
import type { sessionRoutes } from './sessions.api.ts'
import { SignInMethod } from './sign-in-method.api.ts'

type Routes = typeof sessionRoutes

/** The caller's sessions that have not ended, in all organisations. */
export async function listSessions(app: App, actor: SessionActor): Promise<ClientAnswer<Routes['listSessions']>> {
  const rows = await activeSessions(app.db, actor.userId, app.clock.now())
  return {
    items: rows.map((row) => ({
      id: row.id,
      current: row.id === actor.sessionId,
      method: SignInMethod.parse(row.method),
      ip: row.ip,
      user_agent: row.user_agent,
      device: { label: deviceAgent(row.user_agent).label },
      org: { id: row.org_id, slug: row.org_slug, name: row.org_name },
      authenticated_at: row.authenticated_at.toISOString(),
      created_at: row.created_at.toISOString(),
      last_used_at: row.last_used_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
    })),
  }
}

/** The devices that the caller logged in with. */
export async function listDevices(app: App, actor: SessionActor): Promise<ClientAnswer<Routes['listDevices']>> {
  const [rows, session] = await Promise.all([
    selectUserDevices(app.db, actor.userId),
    readSession(app.db, actor.sessionId),
  ])
  return {
    items: rows.map(({ id, label, first_seen_at, last_seen_at }) => ({
      id,
      label,
      first_seen_at: first_seen_at.toISOString(),
      last_seen_at: last_seen_at.toISOString(),
      current: id === session?.device_id,
    })),
  }
}
