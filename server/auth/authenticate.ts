import type { Caller, SessionActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { unauthenticated } from '../kernel/errors.ts'
import { readAccessToken } from './access-token.ts'
import { purgeAccounts } from './purge-accounts.ts'
import { liveSession } from './session-cache.ts'

/** What a request brought along. */
export type Credentials = {
  /** The `Authorization` header. */
  readonly authorization: string | null | undefined
  /** The `svc_access` cookie. */
  readonly accessToken: string | null | undefined
}

export type Authenticator = {
  /**
   * @returns who is asking, or null when the request brought no credentials at all
   * @throws AppError unauthenticated when it brought some that do not hold
   */
  authenticate(credentials: Credentials, caller: Caller): Promise<{ actor: SessionActor; viaCookie: boolean } | null>
  close(): void
}

const PURGE_EVERY_MS = 10 * 60_000

/**
 * A bearer wins over the cookie, and there is no falling back: a caller is never somebody else than it claims.
 * While open it also clears away dead sessions and counters, every ten minutes.
 */
export function createAuthenticator(app: App): Authenticator {
  const purging = setInterval(() => {
    purgeAccounts(app).catch((error: unknown) => app.log.warn({ err: error }, 'clearing away old sessions failed'))
  }, PURGE_EVERY_MS)
  purging.unref()
  return {
    close: () => clearInterval(purging),
    async authenticate({ authorization, accessToken }, caller) {
      // Only `Bearer` speaks to us: a proxy before us may have asked for `Basic`.
      if (authorization != null && /^bearer(?:\s|$)/i.test(authorization)) {
        throw unauthenticated('API keys are not accepted yet. Use the session cookies that POST /api/auth/login sets.')
      }
      if (accessToken == null || accessToken === '') return null
      return { actor: await actorOfToken(app, accessToken, caller), viaCookie: true }
    },
  }
}

async function actorOfToken(app: App, token: string, caller: Caller): Promise<SessionActor> {
  const claims = await readAccessToken(app, token)
  const session = await liveSession(app, claims.sid)
  if (session === null || session.userId !== claims.sub || session.expiresAt <= app.clock.now()) throw ended()
  // `iat` has whole seconds: a token made in the same second as the mark stands.
  if (session.notBefore !== null && claims.iat < Math.floor(session.notBefore.getTime() / 1000)) throw ended()
  return {
    kind: 'user',
    userId: session.userId,
    name: session.name,
    orgId: session.orgId,
    role: session.role,
    sessionId: session.sessionId,
    ...caller,
  }
}

const ended = () => unauthenticated('This session has ended. Log in again.')
