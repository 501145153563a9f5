import type { Caller, Member, RequestOrigin, SessionActor } from '#server/platform/context/actor.ts'
import type { App } from '#server/platform/context/app.ts'
import { insertMembership, insertOrg, insertUser, lockUser } from '#server/identity/auth/auth.queries.ts'
import { sealedNewDataKey } from '#server/identity/auth/org-sealer.ts'
import {
  issueTokens,
  startSession,
  type SessionState,
  type SessionTokens,
} from '#server/identity/auth/start-session.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import type { Role } from '#shared/permissions.ts'

export type Person = {
  readonly actor: SessionActor
  readonly email: string
  readonly password: string
  readonly orgSlug: string
  readonly tokens: SessionTokens
  /** `Cookie` header of the signed-in browser, without COOKIE_PREFIX. */
  readonly cookie: string
}

/** Passes every rule of PASSWORD_CHECK. */
export const GOOD_PASSWORD = 'correct horse battery'

/** A request as public routes see it. */
export const aCaller = (over: Partial<Omit<RequestOrigin, 'kind'>> = {}): Caller => ({
  origin: { kind: 'request', ip: '192.0.2.10', userAgent: 'test browser', ...over },
  requestId: 'test',
})

/** A member with a session that no browser has. */
export const aSession = (member: Member): SessionActor => ({
  kind: 'user',
  ...member,
  sessionId: newId(),
  ...aCaller(),
})

/** An organisation without members. */
export async function anOrg(app: App, name = 'Acme'): Promise<{ id: string; slug: string }> {
  const id = newId()
  const slug = `${name.toLowerCase()}-${id.slice(-8)}`
  await app.tx((tx) =>
    insertOrg(tx, { id, slug, name, data_key_sealed: sealedNewDataKey(app, id), created_at: app.clock.now() }),
  )
  return { id, slug }
}

/** A user with a session, by default the owner of a new organisation. */
export async function aPerson(
  app: App,
  over: {
    role?: Role
    org?: { id: string; slug: string }
    email?: string
    name?: string
    password?: string
    caller?: Caller
    /** False for a user who signed up and never showed that the address is theirs. */
    proved?: boolean
  } = {},
): Promise<Person> {
  const org = over.org ?? (await anOrg(app))
  const id = newId()
  const role = over.role ?? 'owner'
  const name = over.name ?? `The ${role}`
  const caller = over.caller ?? aCaller()
  const email = over.email ?? `${role}-${id.slice(-12)}@example.com`
  const password = over.password ?? GOOD_PASSWORD
  const passwordHash = await app.passwords.hash(password)
  const { session } = await app.tx(async (tx) => {
    await insertUser(tx, {
      id,
      email,
      name,
      password_hash: passwordHash,
      created_at: app.clock.now(),
      email_proved_at: over.proved === false ? null : app.clock.now(),
    })
    await insertMembership(tx, { user_id: id, org_id: org.id, role, created_at: app.clock.now() })
    await lockUser(tx, id)
    return startSession(tx, app, { user_id: id, org_id: org.id, role }, { method: 'password', origin: caller.origin })
  })
  const member = { userId: id, name, orgId: org.id, role }
  return { ...(await signedIn(app, member, session, caller)), email, password, orgSlug: org.slug }
}

/** Another membership of the same user, with another session. */
export async function aMembership(
  app: App,
  person: Person,
  over: { org?: { id: string; slug: string }; role?: Role } = {},
): Promise<Person> {
  const org = over.org ?? (await anOrg(app))
  const role = over.role ?? 'member'
  const { userId, name } = person.actor
  const caller = aCaller()
  const membership = { user_id: userId, org_id: org.id, role }
  const { session } = await app.tx(async (tx) => {
    await insertMembership(tx, { ...membership, created_at: app.clock.now() })
    await lockUser(tx, userId)
    return startSession(tx, app, membership, { method: 'password', origin: caller.origin })
  })
  return {
    ...person,
    ...(await signedIn(app, { userId, name, orgId: org.id, role }, session, caller)),
    orgSlug: org.slug,
  }
}

async function signedIn(
  app: App,
  member: Member,
  session: SessionState,
  caller: Caller,
): Promise<Pick<Person, 'actor' | 'tokens' | 'cookie'>> {
  const tokens = await issueTokens(app, session)
  return {
    actor: { kind: 'user', ...member, sessionId: session.sessionId, ...caller },
    tokens,
    cookie: `svc_access=${tokens.accessToken}; svc_refresh=${tokens.refreshToken}`,
  }
}
