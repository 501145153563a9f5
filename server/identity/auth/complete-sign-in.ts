import { type Caller, type RequestOrigin, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Cookies } from '../../platform/context/handlers.ts'
import type { Fact, FactOf } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { Role } from '#shared/permissions.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { type MembershipRow, readUser, markFirstDevice } from './auth.queries.ts'
import {
  DEVICE_COOKIE,
  DEVICE_COOKIE_DAYS,
  makeDeviceToken,
  deviceFingerprint,
  readDeviceToken,
} from './device-token.ts'
import { setSessionCookies } from './session-cookies.ts'
import type { SignInMethod } from './sign-in-method.api.ts'
import {
  issueTokens,
  startSession,
  type SessionState,
  type SessionTokens,
  aboutSession,
  sessionActor,
} from './start-session.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { deviceAgent } from './device-agent.ts'
import { deleteSurplusDevices, findDevice, insertDevice, touchDevice } from './devices.queries.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

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

/** Warns a user of a log-in from a device that they were not known to use. */
async function mailNewDevice(
  tx: Tx,
  app: App,
  { user_id: userId, org_id: orgId }: MembershipRow,
  { label, caller }: { readonly label: string; readonly caller: Caller },
): Promise<void> {
  const user = await readUser(tx, userId)
  if (user === null) return
  await enqueueMails(tx, app, orgId, [
    {
      type: 'device.new',
      userId,
      to: user.email,
      subject: 'New log-in to your Faultline account',
      name: user.name,
      paragraphs: ['Your account was used on a device that we have not seen before.'],
      details: [
        ['Device', label],
        ['Time', timeText(app.clock.now())],
        ['IP address', caller.origin.ip],
      ],
      closing: [
        'If this was you, there is nothing to do.',
        'If it was not, change your password now and end the other sessions in your security settings.',
      ],
      action: { label: 'Check your sessions', url: `${app.config.publicUrl}/me/sessions` },
    },
  ])
}

/** Such as `20 November 2026, 12:00 UTC`. */
const timeText = (at: Date): string =>
  `${at.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).replace(' at ', ', ')} UTC`

/** A fingerprint counts as known for this long. */
const SEEN_DAYS = 365
const MAX_DEVICES = 100

type SignInDevice = {
  readonly id: string
  readonly label: string
  readonly isNew: boolean
  /** The user has never logged in before. */
  readonly isFirst: boolean
}

/**
 * The device of a sign-in: the one that its cookie names, or else one of the same families of browser, system and device
 * that the user logged in with in the last year, or else a new one. The transaction holds the lock of the user's row.
 * @param token the `svc_device` cookie
 */
export async function recogniseDevice(
  tx: Tx,
  app: App,
  userId: string,
  { origin, token }: { readonly origin: RequestOrigin; readonly token: string | null | undefined },
): Promise<SignInDevice> {
  const now = app.clock.now()
  const { label, family } = deviceAgent(origin.userAgent)
  const fingerprint = deviceFingerprint(app, userId, family)
  const known = await findDevice(tx, userId, {
    id: readDeviceToken(app, userId, token),
    fingerprint,
    seenSince: new Date(now.getTime() - SEEN_DAYS * DAY_MS),
  })
  if (known !== null) {
    await touchDevice(tx, known.id, now)
    return { id: known.id, label: known.label, isNew: false, isFirst: false }
  }
  const id = newId()
  await insertDevice(tx, { id, user_id: userId, fingerprint, label, first_seen_at: now, last_seen_at: now })
  await deleteSurplusDevices(tx, userId, MAX_DEVICES)
  return { id, label, isNew: true, isFirst: await markFirstDevice(tx, userId, now) }
}
