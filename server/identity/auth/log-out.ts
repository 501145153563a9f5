import { type Caller, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { readAccessToken } from './access-token.ts'
import { endSession, readLiveSession, readSession } from './auth.queries.ts'
import { orgOpener } from './org-sealer.ts'
import { isOwnRefreshToken, parseRefreshToken } from './refresh-token.ts'
import { announceSessions, dropCachedSessions } from './session-cache.ts'
import { hmacKeyPlace, aboutSession } from './start-session.ts'

type LogOutInput = { readonly accessToken: string | null; readonly refreshToken: string | null }

/** Ends the sessions of the tokens: immediately in this process, within a second in others. Invalid tokens are ignored. */
export async function logOut(app: App, input: LogOutInput, caller: Caller): Promise<void> {
  const sessions = new Set([
    await sessionOfRefreshToken(app, input.refreshToken),
    await sessionOfAccessToken(app, input.accessToken),
  ])
  for (const sessionId of sessions) {
    if (sessionId === null) continue
    const ended = await app.tx(async (tx) => {
      const live = await readLiveSession(tx, sessionId)
      const wasAlive = await endSession(tx, sessionId, 'logout', app.clock.now())
      if (!wasAlive) return false
      await announceSessions(tx, { session_id: sessionId })
      if (live === null) return true
      const { userId, name, orgId, role } = live
      const actor: SessionActor = { kind: 'user', userId, name, orgId, role, sessionId, ...caller }
      await recordFacts(tx, factContext(app, actor), [{ kind: 'signout.ok', ...aboutSession(actor), data: {} }])
      return true
    })
    dropCachedSessions(app, { session_id: sessionId })
    if (ended) app.log.info({ session_id: sessionId }, 'signout.ok')
  }
}

async function sessionOfRefreshToken(app: App, text: string | null): Promise<string | null> {
  const token = text === null ? null : parseRefreshToken(text)
  const session = token === null ? null : await readSession(app.db, token.sessionId)
  if (token === null || session === null) return null
  const opener = await orgOpener(app, session.org_id)
  const key = opener.open(session.hmac_key_sealed, hmacKeyPlace(session.id, session.org_id))
  return isOwnRefreshToken(key, token) ? session.id : null
}

async function sessionOfAccessToken(app: App, token: string | null): Promise<string | null> {
  if (token === null) return null
  try {
    return (await readAccessToken(app, token)).sid
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return null
    throw error
  }
}
