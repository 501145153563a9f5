import { insertMembership, lockUser, readMembership, readUser, type MembershipRow } from '../auth/auth.queries.ts'
import { checkPassword } from '../auth/check-password.ts'
import { completeSignIn, issueSignIn, type SignedIn, type SignInCaller } from '../auth/complete-sign-in.ts'
import { emailDomain } from '../auth/email.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { conflict, invalid, unauthenticated } from '../../platform/kernel/errors.ts'
import { oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { checkSecondFactor, consumeSecondFactor, returnCodeAttempt } from '../two-factor/second-factor.ts'
import {
  deleteSsoPendingLink,
  insertIdentity,
  readSsoPendingLink,
  type SsoPendingLink,
} from './external-identities.queries.ts'
import { linked } from './sign-in-by-identity.ts'
import { anyMembership, isVerified, selectSsoConfig } from './sso.queries.ts'

/**
 * Confirms with the account's password that an identity of the provider belongs to it, links both and signs in.
 * @param input.token of the browser that came from the provider
 * @returns null when a code is needed that was not sent
 * @throws AppError invalid (no such confirmation waits), unauthenticated (wrong password), rate_limited, conflict
 */
export async function linkSso(
  app: App,
  input: { readonly token: string | null; readonly password: string; readonly totpToken?: string | undefined },
  caller: SignInCaller,
): Promise<SignedIn | null> {
  const hash = input.token === null ? null : oneTimeTokenHash(input.token)
  const pending = hash && (await readSsoPendingLink(app.db, hash, app.clock.now()))
  if (!hash || !pending) throw expired()
  const found = await readUser(app.db, pending.user_id)
  if (found === null) throw expired()
  const user = found.disabled_at === null ? found : null
  const check = { email: found.email, user, accountId: found.id, password: input.password }
  if (!(await checkPassword(app, check, caller)) || user === null) throw wrongPassword()
  // Also where the provider checked a factor: that is one of the provider, and linking opens an account here.
  const factor = await checkSecondFactor(app, user.id, input.totpToken, caller)
  if (factor === null) return null
  const completed = await app.tx(async (tx) => {
    const locked = await lockUser(tx, user.id)
    if (locked?.password_hash !== user.password_hash || !(await deleteSsoPendingLink(tx, hash))) throw expired()
    const joined = await join(tx, app, pending, user.email)
    const key = { org_id: pending.org_id, issuer: pending.issuer, subject: pending.subject }
    if (!(await insertIdentity(tx, key, user.id, app.clock.now())))
      throw conflict('This sign-in is already linked to an account. Sign in again.')
    const data = { provider: 'oidc', issuer: pending.issuer }
    const { facts } = await consumeSecondFactor(tx, app, { user: locked, orgId: pending.org_id }, factor, caller)
    const more = [...facts, ...joined.facts, ...(await linked(tx, user.id, pending))]
    const hasCode = factor.kind === 'code'
    return completeSignIn(tx, app, joined.membership, { fact: { kind: 'signin.oidc.ok', data }, caller, more, hasCode })
  })
  await returnCodeAttempt(app, factor)
  return issueSignIn(app, completed)
}

/** The user's membership; a new one where the organisation takes in whom its provider names. */
async function join(
  tx: Tx,
  app: App,
  { org_id: orgId, user_id: userId }: SsoPendingLink,
  email: string,
): Promise<{ readonly membership: MembershipRow; readonly facts: readonly Fact[] }> {
  const active = await readMembership(tx, userId, orgId)
  if (active !== null) return { membership: active, facts: [] }
  const config = await selectSsoConfig(tx, orgId)
  const domain = emailDomain(email)
  const isOpen = config?.jit === true && domain !== null && (await isVerified(tx, orgId, domain))
  if (config === null || !isOpen || (await anyMembership(tx, userId, orgId)) !== null) throw expired()
  const role = config.default_role === 'viewer' ? 'viewer' : 'member'
  await insertMembership(tx, { user_id: userId, org_id: orgId, role, created_at: app.clock.now() })
  const membership = await readMembership(tx, userId, orgId)
  if (membership === null) throw expired()
  return { membership, facts: [{ kind: 'signup.oidc.ok', orgId, userId, data: { org_id: orgId, via: 'oidc' } }] }
}

const expired = () => invalid('This confirmation has expired. Begin again with single sign-on.')
const wrongPassword = () => unauthenticated('The password is wrong.')
