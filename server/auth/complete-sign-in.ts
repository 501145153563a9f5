import type { Caller } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { factContext } from '../context/fact-context.ts'
import type { Cookies } from '../context/handlers.ts'
import type { Fact, FactOf } from '../facts/kinds.ts'
import { recordFacts } from '../facts/record-facts.ts'
import type { Role } from '#shared/permissions.ts'
import type { Tx } from '../storage/database.ts'
import type { MembershipRow } from './auth.queries.ts'
import { setSessionCookies } from './session-cookies.ts'
import { aboutSession, sessionActor } from './session-facts.ts'
import type { SignInMethod } from './sign-in-method.ts'
import { issueTokens, startSession, type SessionState, type SessionTokens } from './start-session.ts'

const DEVICE_COOKIE = 'svc_device'

/** A request that signs in, with what the browser remembers of itself. */
export type SignInCaller = Caller & {
  /** The `svc_device` cookie, as it was sent; absent without one. */
  readonly deviceToken?: string | null
}

export const signInCaller = (caller: Caller, cookies: Cookies): SignInCaller => ({
  ...caller,
  deviceToken: cookies.get(DEVICE_COOKIE),
})

type SignInKind = 'signin.password.ok' | 'signin.passkey.ok' | 'signin.oidc.ok' | 'signin.oauth.ok'

/** How the user signed in, as the fact that records it. */
export type SignInFact = { readonly [K in SignInKind]: Pick<FactOf<K>, 'kind' | 'data'> }[SignInKind]

const METHODS: Readonly<Record<SignInKind, SignInMethod>> = {
  'signin.password.ok': 'password',
  'signin.passkey.ok': 'passkey',
  'signin.oidc.ok': 'oidc',
  'signin.oauth.ok': 'oauth',
}

/** A sign-in whose transaction has not committed yet. */
export type CompletedSignIn = {
  /** Slug of the organisation. */
  readonly org: string
  readonly session: SessionState
  /** The `svc_device` cookie to set; null keeps the browser's. */
  readonly deviceToken: string | null
}

/** What the browser of a signed-in user keeps. */
export type SignedIn = {
  /** Slug of the organisation. */
  readonly org: string
  readonly role: Role
  readonly tokens: SessionTokens
  readonly deviceToken: string | null
}

/**
 * Begins the session of a user who has proved who they are, by whatever way, and records it. The transaction holds the
 * lock of the user's row. After the commit call {@link issueSignIn}.
 * @param more facts of the same sign-in that come before it, such as a used backup code
 */
export async function completeSignIn(
  tx: Tx,
  app: App,
  membership: MembershipRow,
  signIn: { readonly fact: SignInFact; readonly caller: SignInCaller; readonly more?: readonly Fact[] },
): Promise<CompletedSignIn> {
  const { fact, caller, more = [] } = signIn
  const start = { method: METHODS[fact.kind], origin: caller.origin }
  const { session, revoked } = await startSession(tx, app, membership, start)
  const actor = sessionActor(membership, session.sessionId, caller)
  await recordFacts(tx, factContext(app, actor), [...more, { ...fact, ...aboutSession(actor) }, ...revoked])
  return { org: membership.org_slug, session, deviceToken: null }
}

/** The tokens of a sign-in. Call it after the commit, see {@link issueTokens}. */
export async function issueSignIn(app: App, { org, session, deviceToken }: CompletedSignIn): Promise<SignedIn> {
  return { org, role: session.member.role, tokens: await issueTokens(app, session), deviceToken }
}

/** Sets the cookies of a sign-in. */
export function setSignInCookies(cookies: Cookies, { tokens }: SignedIn): void {
  setSessionCookies(cookies, tokens)
}
