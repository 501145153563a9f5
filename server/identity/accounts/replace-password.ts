import { deleteKeysOfUser } from '../api-keys/api-keys.queries.ts'
import { keyRevoked } from '../api-keys/delete-key.ts'
import { accountFacts } from '../auth/account-facts.ts'
import { markEmailProved, setPasswordHash, type UserRow } from '../auth/auth.queries.ts'
import { deleteUserDevices } from '../auth/devices.queries.ts'
import { endSessions } from '../auth/end-sessions.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { deleteUserPasskeys } from '../passkeys/passkeys.queries.ts'
import { deleteUserIdentities } from '../external-identity/external-identities.queries.ts'
import { PROVIDER_NAMES } from '../external-identity/social-notices.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { deleteUnverifiedFactor, deleteVerifiedFactor } from '../two-factor/two-factor.queries.ts'
import { deleteTokens } from './account-tokens.queries.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'

type ReplacedPassword = {
  readonly facts: readonly Fact[]
  readonly endedSessions: number
  /** Other ways to open the account, which were removed, in words; nothing where the address was proved before. */
  readonly removed: readonly string[]
}

/**
 * Sets a password that came with a proof of the address, and ends every session of the user. Two-factor authentication
 * stays on, unless this is the first proof: anyone may have signed up with the address before, so that everything but the
 * new password is deleted that could open the account. The user's row is locked; after the commit drop the cached sessions.
 * @param requestedAt of the link
 */
export async function replacePassword(
  tx: Tx,
  app: App,
  user: UserRow,
  { hash, requestedAt }: { readonly hash: string; readonly requestedAt: Date },
): Promise<ReplacedPassword> {
  const now = app.clock.now()
  await deleteTokens(tx, user.id)
  await setPasswordHash(tx, user.id, hash, now)
  const revoked = await endSessions(tx, app, { userId: user.id }, 'password_reset')
  const other = user.email_proved_at === null ? await removeOtherWays(tx, user.id) : { facts: [], removed: [] }
  await markEmailProved(tx, user.id, now)
  const data = { requested_at: requestedAt.toISOString() }
  return {
    facts: [...(await accountFacts(tx, user.id, { kind: 'password.reset.ok', data })), ...revoked, ...other.facts],
    endedSessions: revoked.length,
    removed: other.removed,
  }
}

async function removeOtherWays(tx: Tx, userId: string): Promise<Pick<ReplacedPassword, 'facts' | 'removed'>> {
  const passkeys = await deleteUserPasskeys(tx, userId)
  const { social, sso } = await deleteUserIdentities(tx, userId)
  const keys = await deleteKeysOfUser(tx, userId)
  const factorId = await deleteVerifiedFactor(tx, userId)
  await deleteUnverifiedFactor(tx, userId)
  // Wrong passwords from a known device have a limit of their own, and its log-ins send no mail.
  await deleteUserDevices(tx, userId)
  const facts: Fact[] = keys.map(keyRevoked)
  for (const { id } of passkeys)
    facts.push(...(await accountFacts(tx, userId, { kind: 'passkey.removed', data: { passkey_id: id } })))
  const identities = [...social, ...sso.map(({ issuer }) => ({ provider: 'oidc', issuer }))]
  for (const { provider, issuer } of identities)
    facts.push(...(await accountFacts(tx, userId, { kind: 'identity.unlinked', data: { provider, issuer } })))
  if (factorId !== null)
    facts.push(...(await accountFacts(tx, userId, { kind: 'mfa.totp.disabled', data: { factor_id: factorId } })))
  const removed = [
    ...unlessNone(passkeys.length, 'passkey'),
    ...social.map(({ provider }) => `the link to ${PROVIDER_NAMES[provider]}`),
    ...unlessNone(sso.length, 'link of single sign-on', 'links of single sign-on'),
    ...(factorId === null ? [] : ['two-factor authentication']),
    ...unlessNone(keys.length, 'API key'),
  ]
  return { facts, removed }
}

const unlessNone = (count: number, one: string, many?: string): string[] =>
  count === 0 ? [] : [countedWord(count, one, many)]
