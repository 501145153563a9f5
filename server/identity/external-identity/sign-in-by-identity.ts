import type { SignInError } from '#shared/sign-in-errors.ts'
import { countDenial } from '../../history/audit/denials.ts'
import {
  insertMembership,
  insertUser,
  lockUser,
  markEmailProved,
  readMembership,
  userByEmail,
  type MembershipRow,
} from '../auth/auth.queries.ts'
import { accountFacts } from '../auth/account-facts.ts'
import type { SignInCaller } from '../auth/complete-sign-in.ts'
import { Email } from '../auth/credentials.api.ts'
import { emailDomain, foldEmail } from '../auth/email.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { completeOrAskCode, issueIfCompleted, type Completed, type Proved } from './complete-or-ask-code.ts'
import {
  hasSsoIdentity,
  insertIdentity,
  insertPendingLink,
  touchIdentity,
  userOfIdentity,
  type SsoIdentity,
} from './external-identities.queries.ts'
import type { Identity, Profile } from './external-provider.ts'
import { anyMembership, isVerified, type SsoConfigRow } from './sso.queries.ts'
import { newPendingLink } from './visits.ts'

/** How a sign-in at the provider ended here. */
export type SsoResult =
  | Proved
  /** The password must confirm the account; the token is for the browser. */
  | { readonly kind: 'link'; readonly token: string }
  | { readonly kind: 'refused'; readonly error: SignInError }

type Arrival = {
  readonly config: SsoConfigRow
  readonly identity: Identity
  /** Null when the identity was known. */
  readonly profile: Profile | null
}

type Decision =
  | Completed
  | SsoResult
  /** A row changed meanwhile: decide again. */
  | { readonly kind: 'again' }

const keyOf = ({ config, identity: { issuer, subject } }: Arrival): SsoIdentity => ({
  org_id: config.org_id,
  issuer,
  subject,
})

const MAX_NAME_CHARACTERS = 120

/**
 * Decides who an identity of an organisation's provider is, and signs them in. The identity (organisation, issuer,
 * subject) alone says it; an e-mail address counts once, when the identity is new, and only if the provider has verified it
 * and the organisation has proved its domain.
 */
export async function signInByIdentity(app: App, arrival: Arrival, caller: SignInCaller): Promise<SsoResult> {
  // Two first sign-ins of one user at the same moment: the second finds what the first has written.
  for (let round = 0; round < 3; round += 1) {
    const decision = await app.tx((tx) => decide(tx, app, arrival, caller))
    if (decision.kind === 'completed') return issueIfCompleted(app, decision)
    if (decision.kind !== 'again') return decision
  }
  return { kind: 'refused', error: 'sso_failed' }
}

async function decide(tx: Tx, app: App, arrival: Arrival, caller: SignInCaller): Promise<Decision> {
  const { config, identity } = arrival
  const key = keyOf(arrival)
  const userId = await userOfIdentity(tx, key)
  if (userId === null) return decideNew(tx, app, arrival, caller)
  await lockUser(tx, userId)
  const membership = await readMembership(tx, userId, config.org_id)
  if (membership === null) return refuse(app, userId, caller)
  await touchIdentity(tx, key, app.clock.now())
  return complete(tx, app, membership, identity, caller, [])
}

async function decideNew(tx: Tx, app: App, arrival: Arrival, caller: SignInCaller): Promise<Decision> {
  const { config, identity, profile } = arrival
  const orgId = config.org_id
  const key = keyOf(arrival)
  // It was known a moment ago and was unlinked since.
  if (profile === null) return { kind: 'refused', error: 'sso_expired' }
  const email = emailOf(profile)
  const domain = email === null ? null : emailDomain(email)
  if (email === null || domain === null) return { kind: 'refused', error: 'sso_not_allowed' }
  const proved = profile.emailVerified && (await isVerified(tx, orgId, domain))
  const user = await userByEmail(tx, email)
  if (user === null) {
    if (!config.jit || !proved) return { kind: 'refused', error: 'sso_not_allowed' }
    return createMember(tx, app, arrival, { email, name: nameOf(profile, email) }, caller)
  }
  await lockUser(tx, user.id)
  // Another first sign-in created this user since the identity was looked up: it is known by now.
  if ((await userOfIdentity(tx, key)) !== null) return { kind: 'again' }
  const membership = await anyMembership(tx, user.id, orgId)
  const active = await readMembership(tx, user.id, orgId)
  const refused = (): Decision =>
    // Other organisations' logs do not concern themselves with what this provider says.
    membership === null ? { kind: 'refused', error: 'sso_not_allowed' } : refuse(app, user.id, caller)
  if (user.disabled_at !== null || (membership !== null && active === null)) return refused()
  // A second subject with the same address may be another person who was given it.
  const isFirst = !(await hasSsoIdentity(tx, orgId, identity.issuer, user.id))
  if (active !== null && proved && isFirst) {
    if (!(await insertIdentity(tx, key, user.id, app.clock.now()))) return { kind: 'again' }
    await markEmailProved(tx, user.id, app.clock.now())
    return complete(tx, app, active, identity, caller, await linked(tx, user.id, identity))
  }
  // Only for users whom the organisation may know: others must not learn from the step which addresses have accounts.
  const mayJoin = active !== null || (config.jit && proved)
  if (!mayJoin || user.password_hash === null) return refused()
  const { token, row } = newPendingLink(app)
  await insertPendingLink(tx, { ...row, ...key, user_id: user.id }, app.clock.now())
  return { kind: 'link', token }
}

async function createMember(
  tx: Tx,
  app: App,
  arrival: Arrival,
  { email, name }: { email: string; name: string },
  caller: SignInCaller,
): Promise<Decision> {
  const { config, identity } = arrival
  const now = app.clock.now()
  const userId = newId()
  const orgId = config.org_id
  if (!(await insertUser(tx, { id: userId, email, name, password_hash: null, created_at: now, email_proved_at: now })))
    return { kind: 'again' }
  await lockUser(tx, userId)
  const role = config.default_role === 'viewer' ? 'viewer' : 'member'
  await insertMembership(tx, { user_id: userId, org_id: orgId, role, created_at: now })
  // Another request linked it in the same moment: undo all of this.
  if (!(await insertIdentity(tx, keyOf(arrival), userId, now))) throw new Error('an identity was linked twice')
  const membership = await readMembership(tx, userId, orgId)
  if (membership === null) throw new Error('a new member is no member')
  const signUp: Fact = { kind: 'signup.oidc.ok', orgId, userId, data: { org_id: orgId, via: 'oidc' } }
  return complete(tx, app, membership, identity, caller, [signUp])
}

/** Signs in a member whom the provider has identified. */
const complete = (
  tx: Tx,
  app: App,
  membership: MembershipRow,
  { issuer, hasSecondFactor }: Identity,
  caller: SignInCaller,
  more: readonly Fact[],
): Promise<Completed> => {
  const fact = { kind: 'signin.oidc.ok', data: { provider: 'oidc', issuer } } as const
  return completeOrAskCode(tx, app, membership, { fact, caller, more, hasSecondFactor })
}

export const linked = (tx: Tx, userId: string, { issuer }: Pick<Identity, 'issuer'>): Promise<Fact[]> =>
  accountFacts(tx, userId, { kind: 'identity.linked', data: { provider: 'oidc', issuer } })

function refuse(app: App, userId: string, caller: SignInCaller): Decision {
  countDenial(app, 'signin.failed', { userId, caller })
  return { kind: 'refused', error: 'sso_not_allowed' }
}

/** The address as accounts have it; null when it is none. */
function emailOf({ email }: Profile): string | null {
  const parsed = email === null || email.includes('\0') || !email.isWellFormed() ? null : Email.safeParse(email)
  return parsed?.success === true ? foldEmail(parsed.data) : null
}

function nameOf({ name }: Profile, email: string): string {
  const given = (name ?? '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed()
    .trim()
    .slice(0, MAX_NAME_CHARACTERS)
    .trim()
  return given === '' ? email.slice(0, email.lastIndexOf('@')).slice(0, MAX_NAME_CHARACTERS) : given.toWellFormed()
}
