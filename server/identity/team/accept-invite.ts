import type { z } from 'zod'
import { addressKey, LIMITS, takeAttempt } from '../auth/attempts.ts'
import {
  insertMembership,
  insertUser,
  lockUser,
  markEmailProved,
  userByEmail,
  type UserRow,
} from '../auth/auth.queries.ts'
import { actorOfToken } from '../auth/authenticate.ts'
import { checkPassword } from '../auth/check-password.ts'
import { lockOrg } from '../auth/membership-changes.queries.ts'
import { checkPasswordLength, judgePassword } from '../auth/password-rules.ts'
import { type Caller, type NewUserActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { AppError, conflict, invalid } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { inviteRoutes } from './invites.api.ts'
import { openInvite, takeInvite, type OpenInvite } from './invites.queries.ts'

/** One answer for every token that cannot be used, whatever the reason. */
const unusable = () => invalid('This invitation is not valid (any more). Ask the person who invited you for a new one.')

/** @throws AppError rate_limited */
async function countAttempt(app: App, { origin }: Caller): Promise<void> {
  const attempt = await takeAttempt(app, LIMITS.acceptInvite, addressKey(origin.ip), origin.ip)
  if (!attempt.allowed) throw attempt.refusal
}

/** @throws AppError rate_limited, invalid */
async function inviteOf(app: App, token: string, caller: Caller): Promise<OpenInvite> {
  await countAttempt(app, caller)
  const invite = await openInvite(app.db, oneTimeTokenHash(token), app.clock.now())
  if (invite === undefined) throw unusable()
  return invite
}

/**
 * The offer of an invitation, for its page.
 * @throws AppError invalid, rate_limited
 */
export async function readInvite(
  app: App,
  token: string,
  caller: Caller,
): Promise<z.input<(typeof inviteRoutes)['readInvite']['response']>> {
  const invite = await inviteOf(app, token, caller)
  const account = await userByEmail(app.db, invite.email)
  return {
    email: invite.email,
    org: { name: invite.org_name, slug: invite.org_slug },
    role: invite.role,
    invited_by: invite.inviter_name,
    has_account: account !== null,
    expires_at: invite.expires_at.toISOString(),
  }
}

type Acceptance = {
  readonly token: string
  readonly password?: string | undefined
  readonly name?: string | undefined
  /** The `svc_access` cookie of the caller. */
  readonly accessToken: string | null
}

/**
 * Makes the invited person a member: with a new account, or with the account of the invited address, for its password or
 * session. Of parallel calls one succeeds.
 * @throws AppError invalid (token, password), conflict (a member already), rate_limited
 */
export async function acceptInvite(
  app: App,
  input: Acceptance,
  caller: Caller,
): Promise<z.input<(typeof inviteRoutes)['acceptInvite']['response']>> {
  const invite = await inviteOf(app, input.token, caller)
  const account = await userByEmail(app.db, invite.email)
  const { newAccount, warning } =
    account === null ? await prepareAccount(app, invite, input) : { newAccount: null, warning: null }
  if (account !== null) await requireOwnAccount(app, account, input, caller)
  const userId = await app.tx(async (tx) => {
    await lockOrg(tx, invite.org_id)
    if (!(await takeInvite(tx, invite.id, invite.token_hash))) throw unusable()
    return join(tx, app, { invite, account, newAccount }, caller)
  })
  app.log.info({ org_id: invite.org_id, user_id: userId, request_id: caller.requestId }, 'invite.accepted')
  return { ok: true, org: invite.org_slug, role: invite.role, warning: warning ?? undefined }
}

type NewAccount = { readonly id: string; readonly name: string; readonly passwordHash: string }

/** @throws AppError invalid (password) */
async function prepareAccount(
  app: App,
  { email, org_name: org }: OpenInvite,
  { password, name = email.split('@', 1)[0] ?? email }: Acceptance,
): Promise<{ newAccount: NewAccount; warning: string | null }> {
  if (password === undefined) throw invalid('password must be sent: it becomes the password of your account.')
  checkPasswordLength(password, 'password')
  const warning = await judgePassword(app.config.passwordCheck, password, { email, name, org })
  return { newAccount: { id: newId(), name, passwordHash: await app.passwords.hash(password) }, warning }
}

/** @throws AppError invalid, rate_limited */
async function requireOwnAccount(app: App, account: UserRow, input: Acceptance, caller: Caller): Promise<void> {
  const user = account.disabled_at === null ? account : null
  if (user !== null && (await signedInUser(app, input.accessToken, caller)) === user.id) return
  const { password } = input
  if (password === undefined)
    throw invalid(`${account.email} has an account. Send its password, or log in to it first.`)
  const check = { email: account.email, user, accountId: account.id, password }
  if (!(await checkPassword(app, check, caller))) throw invalid('password is wrong.')
}

/** The user of a valid session; null without one. */
async function signedInUser(app: App, accessToken: string | null, caller: Caller): Promise<string | null> {
  if (accessToken === null) return null
  try {
    return (await actorOfToken(app, accessToken, caller)).userId
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return null
    throw error
  }
}

type Joining = {
  readonly invite: OpenInvite
  readonly account: UserRow | null
  readonly newAccount: NewAccount | null
}

/** @returns the user's id */
async function join(tx: Tx, app: App, { invite, account, newAccount }: Joining, caller: Caller): Promise<string> {
  const { org_id: orgId, role, email } = invite
  const now = app.clock.now()
  const facts: Fact[] = []
  let user: { readonly id: string; readonly name: string }
  if (newAccount !== null) {
    user = newAccount
    const { id, name, passwordHash } = newAccount
    const isNew = await insertUser(tx, {
      id,
      email,
      name,
      password_hash: passwordHash,
      created_at: now,
      email_proved_at: now,
    })
    if (!isNew) throw conflict('An account with this address was just created. Try again with its password.')
    const data = { org_id: orgId, via: 'invite' }
    facts.push(
      { kind: 'signup.password.ok', orgId, userId: id, data },
      { kind: 'signup.invite.ok', orgId, userId: id, data },
    )
  } else {
    const locked = account === null ? null : await lockUser(tx, account.id)
    // The account may have been deleted, disabled or given another password since it was checked.
    if (locked?.password_hash !== account?.password_hash || locked === null || locked.disabled_at !== null)
      throw invalid('The account was just changed. Try again.')
    // The invitation went to the address, and the password or session is the account's.
    await markEmailProved(tx, locked.id, now)
    user = locked
  }
  if (!(await insertMembership(tx, { user_id: user.id, org_id: orgId, role, created_at: now })))
    throw conflict('You are a member of this organisation already. Log in.')
  facts.push({ kind: 'invite.accepted', orgId, targetId: invite.id, label: email, data: { role } })
  const actor: NewUserActor = {
    kind: 'user',
    userId: user.id,
    name: user.name,
    orgId,
    role,
    sessionId: null,
    ...caller,
  }
  await recordFacts(tx, factContext(app, actor, now), facts)
  return user.id
}
