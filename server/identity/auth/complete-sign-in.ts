import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import type { Cookies } from '../../platform/context/handlers.ts'
import type { Fact, FactOf } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { Role } from '#shared/permissions.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { MembershipRow } from './auth.queries.ts'
import { DEVICE_COOKIE, DEVICE_COOKIE_DAYS, makeDeviceToken } from './device-token.ts'
import { mailNewDevice } from './mail-new-device.ts'
import { recogniseDevice } from './recognise-device.ts'
import { setSessionCookies } from './session-cookies.ts'
import { aboutSession, sessionActor } from './session-facts.ts'
import type { SignInMethod } from './sign-in-method.api.ts'
import { issueTokens, startSession, type SessionState, type SessionTokens } from './start-session.ts'

/** Every way to sign in is below this path. */
const DEVICE_PATH = '/api/auth'

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
  /** The `svc_device` cookie. */
  readonly deviceToken: string
}

/** The tokens that the browser of a signed-in user keeps. */
export type SignedIn = {
  /** Slug of the organisation. */
  readonly org: string
  readonly role: Role
  readonly tokens: SessionTokens
  readonly deviceToken: string
}

/**
 * Begins the session of a user who has proved who they are, by whatever way, and records it. A device that is not known
 * is recorded after it, and a mail warns of it. The transaction holds the lock of the user's row. After the commit call
 * {@link issueSignIn}.
 * @param signIn.hasCode whether it needed a code of the account's second factor, and had it
 * @param signIn.more facts of the same sign-in that come before it, such as a used backup code
 */
export async function completeSignIn(
  tx: Tx,
  app: App,
  membership: MembershipRow,
  signIn: {
    readonly fact: SignInFact
    readonly caller: SignInCaller
    readonly more?: readonly Fact[]
    readonly hasCode?: boolean
  },
): Promise<CompletedSignIn> {
  const { fact, caller, more = [], hasCode = false } = signIn
  const { user_id: userId, org_slug: org } = membership
  const device = await recogniseDevice(tx, app, userId, { origin: caller.origin, token: caller.deviceToken })
  const start = { method: METHODS[fact.kind], origin: caller.origin, deviceId: device.id, hasCode }
  const { session, revoked } = await startSession(tx, app, membership, start)
  const actor = sessionActor(membership, session.sessionId, caller)
  const about = aboutSession(actor)
  const newDevice: Fact = {
    kind: 'device.new',
    ...about,
    data: { device_id: device.id, device_label: device.label, first: device.isFirst },
  }
  await recordFacts(tx, factContext(app, actor), [
    ...more,
    { ...fact, ...about },
    ...(device.isNew ? [newDevice] : []),
    ...revoked,
  ])
  if (device.isNew && !device.isFirst) await mailNewDevice(tx, app, membership, { label: device.label, caller })
  return { org, session, deviceToken: makeDeviceToken(app, userId, device.id) }
}

/** The tokens of a sign-in. Call it after the commit, see {@link issueTokens}. */
export async function issueSignIn(app: App, { org, session, deviceToken }: CompletedSignIn): Promise<SignedIn> {
  return { org, role: session.member.role, tokens: await issueTokens(app, session), deviceToken }
}

/** Sets the cookies of a sign-in. */
export function setSignInCookies(cookies: Cookies, { tokens, deviceToken }: SignedIn): void {
  setSessionCookies(cookies, tokens)
  cookies.set(DEVICE_COOKIE, deviceToken, {
    path: DEVICE_PATH,
    sameSite: 'lax',
    maxAgeSeconds: DEVICE_COOKIE_DAYS * 86_400,
  })
}
