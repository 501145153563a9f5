import type { z } from 'zod'
import { accountFacts } from '../auth/account-facts.ts'
import { lockUser, selectMemberships, type MembershipRow, type UserRow } from '../auth/auth.queries.ts'
import {
  completeSignIn,
  issueSignIn,
  type CompletedSignIn,
  type SignedIn,
  type SignInCaller,
} from '../auth/complete-sign-in.ts'
import { maySignInByPassword } from '../auth/password-policy.ts'
import { type NewUserActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Cookies } from '../../platform/context/handlers.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { CHALLENGE_LIFE_MS, giveChallenge, takeChallenge } from './challenge.ts'
import { passkeyLibrary, userHandle } from './passkey-library.ts'
import { regressedMail } from './passkey-mails.ts'
import type { LogInOptions, LogInResponse } from './passkeys.api.ts'
import { passkeyOfCredential, recordPasskeyUse, type PasskeyRow } from './passkeys.queries.ts'
import { relyingParty } from './relying-party.ts'

/** Options with which the browser logs in with any passkey that it has for this site. */
export function startPasskeyLogIn(app: App, cookies: Cookies): z.input<typeof LogInOptions> {
  return {
    challenge: giveChallenge(app, cookies, { kind: 'log_in' }),
    timeout: CHALLENGE_LIFE_MS,
    rpId: relyingParty(app.config).id,
    userVerification: 'required',
  }
}

/**
 * Begins a session of the passkey's user in the organisation used last.
 * @throws AppError invalid (challenge), unauthenticated (the same for an unknown passkey, a wrong answer, a disabled user,
 *   one whose organisation enforces single sign-on, and a counter that went back)
 */
export async function logInWithPasskey(
  app: App,
  input: { readonly response: z.output<typeof LogInResponse>; readonly cookies: Cookies },
  caller: SignInCaller,
): Promise<SignedIn> {
  const challenge = await takeChallenge(app, input.cookies, { kind: 'log_in' })
  const passkey = await passkeyOfCredential(app.db, Buffer.from(input.response.id, 'base64url'))
  const use = passkey === null ? null : await verify(app, input.response, challenge, passkey)
  if (passkey === null || use === null) throw refused()
  const completed = await app.tx(async (tx): Promise<CompletedSignIn | null> => {
    const user = await lockUser(tx, passkey.user_id)
    const [membership] = await selectMemberships(tx, passkey.user_id)
    if (user === null || membership === undefined) return null
    // A passkey must not go round the single sign-on that an organisation enforces.
    if (!(await maySignInByPassword(tx, user))) return null
    // It may have been removed since its signature was checked.
    const known = await passkeyOfCredential(tx, passkey.credential_id)
    if (known === null) return null
    if (!(await recordPasskeyUse(tx, known.id, { ...use, now: app.clock.now() }))) {
      await recordRegress(tx, app, { user, membership, passkey: known }, caller)
      return null
    }
    return completeSignIn(tx, app, membership, { fact: { kind: 'signin.passkey.ok', data: {} }, caller })
  })
  const about = { user_id: passkey.user_id, ip: caller.origin.ip, request_id: caller.requestId }
  if (completed === null) {
    app.log.info({ ...about, passkey_id: passkey.id }, 'signin.failed')
    throw refused()
  }
  app.log.info(about, 'signin.passkey.ok')
  return issueSignIn(app, completed)
}

type Use = { readonly counter: number; readonly backedUp: boolean }

/** @returns null when the answer is not one of this passkey to this challenge */
async function verify(
  app: App,
  response: z.output<typeof LogInResponse>,
  challenge: string,
  passkey: PasskeyRow,
): Promise<Use | null> {
  const handle = response.response.userHandle ?? null
  if (handle !== null && handle !== userHandle(passkey.user_id)) return null
  const { verifyAuthenticationResponse } = await passkeyLibrary()
  const { id, origins } = relyingParty(app.config)
  const { userHandle: _checked, ...answer } = response.response
  const verified = await verifyAuthenticationResponse({
    response: { ...response, response: answer, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: id,
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id.toString('base64url'),
      publicKey: Uint8Array.from(passkey.public_key),
      // The library compares counters before it checks the signature: a forged answer must not report a copied passkey.
      counter: 0,
    },
  }).catch((error: unknown) => {
    app.log.info({ err: error, passkey_id: passkey.id }, 'the answer of a passkey was not valid')
    return null
  })
  if (verified === null || !verified.verified) return null
  const { newCounter, credentialBackedUp } = verified.authenticationInfo
  return { counter: newCounter, backedUp: credentialBackedUp }
}

/** Commits although the log-in is refused. */
async function recordRegress(
  tx: Tx,
  app: App,
  of: { readonly user: UserRow; readonly membership: MembershipRow; readonly passkey: PasskeyRow },
  caller: SignInCaller,
): Promise<void> {
  const { user, membership, passkey } = of
  const actor: NewUserActor = {
    kind: 'user',
    userId: user.id,
    name: user.name,
    orgId: membership.org_id,
    role: membership.role,
    sessionId: null,
    origin: caller.origin,
    requestId: caller.requestId,
  }
  const fact = { kind: 'passkey.counter_regressed', data: { passkey_id: passkey.id } } as const
  await recordFacts(tx, factContext(app, actor), await accountFacts(tx, user.id, fact))
  await enqueueMails(tx, app, membership.org_id, [regressedMail(app, user, passkey.name)])
}

const refused = () => unauthenticated('This passkey cannot be used here. Log in another way.')
