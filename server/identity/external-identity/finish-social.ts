import type { SignInError } from '#shared/sign-in-errors.ts'
import { countDenial } from '../../history/audit/denials.ts'
import { lockUser, selectMemberships, readLiveSession } from '../auth/auth.queries.ts'
import type { SignInCaller } from '../auth/complete-sign-in.ts'
import { maySignInByPassword } from '../auth/password-policy.ts'
import type { App } from '../../platform/context/app.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { describeFailure } from './describe-failure.ts'
import {
  insertIdentity,
  insertPendingLink,
  takeSocialTransaction,
  touchIdentity,
  userOfIdentity,
  type SocialIdentity,
} from './external-identities.queries.ts'
import { EXCHANGE_LIMIT_MS } from './external-provider.ts'
import { completeOrAskCode, issueIfCompleted, type Completed, type Proved } from './complete-or-ask-code.ts'
import { recordLinked } from './social-notices.ts'
import { ProviderName } from './social.api.ts'
import { socialProvider } from './social-provider.ts'
import { newPendingLink, toCallbackQuery, redirectHashes, redirectSecrets, type ProviderAnswer } from './visits.ts'

/** How a visit to the provider ended here. */
type SocialResult =
  | Proved
  | { readonly kind: 'linked'; readonly provider: ProviderName }
  /** No user has linked this account. The token lets the browser link it after a log-in with the password. */
  | { readonly kind: 'not_linked'; readonly token: string }
  | { readonly kind: 'refused'; readonly error: SignInError; readonly isLinking: boolean }

type FinishInput = {
  /** As the browser sent it. */
  readonly provider: string
  readonly answer: ProviderAnswer
  /** `svc_oauth` of the browser. */
  readonly cookie: string | null
}

/** Ends a sign-in at GitHub or Google, or the linking of an account there. It never creates a user. */
export async function finishSocial(
  app: App,
  input: FinishInput,
  caller: SignInCaller,
  limitMs = EXCHANGE_LIMIT_MS,
): Promise<SocialResult> {
  const name = ProviderName.safeParse(input.provider)
  const provider = name.success ? socialProvider(app, name.data, limitMs) : null
  if (!name.success || provider === null) return { kind: 'refused', error: 'oauth_unavailable', isLinking: false }
  const secrets = redirectSecrets(input.answer['state'], input.cookie)
  const hashes = secrets && { ...redirectHashes(secrets), provider: name.data }
  const visit = hashes && (await takeSocialTransaction(app.db, hashes, app.clock.now()))
  if (!secrets || !visit) return { kind: 'refused', error: 'oauth_expired', isLinking: false }
  const sessionId = visit.linking_session_id
  const refused = (error: SignInError): SocialResult => ({ kind: 'refused', error, isLinking: sessionId !== null })
  if (input.answer['error'] !== undefined) return refused('oauth_denied')
  let identity: SocialIdentity
  try {
    const answer = toCallbackQuery(input.answer)
    const { issuer, subject, profile } = await provider.redeem({ answer, secrets, startedAt: visit.created_at })
    const { email, name: login } = await profile()
    identity = { provider: name.data, issuer, subject, login: email ?? login ?? subject }
  } catch (error) {
    const about = { reason: describeFailure(error), provider: name.data, request_id: caller.requestId }
    app.log.warn(about, 'a social sign-in failed: the answer of the provider is not valid')
    return refused('oauth_failed')
  }
  if (sessionId !== null) {
    const error = await app.tx((tx) => link(tx, app, identity, sessionId, caller))
    return error === null ? { kind: 'linked', provider: name.data } : refused(error)
  }
  return signIn(app, identity, caller)
}

async function signIn(app: App, identity: SocialIdentity, caller: SignInCaller): Promise<SocialResult> {
  const userId = await userOfIdentity(app.db, identity)
  if (userId === null) {
    const { token, row } = newPendingLink(app)
    await insertPendingLink(app.db, { ...identity, ...row }, app.clock.now())
    return { kind: 'not_linked', token }
  }
  const decided = await app.tx((tx) => complete(tx, app, identity, userId, caller))
  if (typeof decided !== 'string') return issueIfCompleted(app, decided)
  countDenial(app, 'signin.failed', { userId, caller })
  return { kind: 'refused', error: decided, isLinking: false }
}

async function complete(
  tx: Tx,
  app: App,
  identity: SocialIdentity,
  userId: string,
  caller: SignInCaller,
): Promise<Completed | SignInError> {
  const user = await lockUser(tx, userId)
  const [membership] = await selectMemberships(tx, userId)
  // The identity may have been unlinked since.
  if (user === null || membership === undefined || (await userOfIdentity(tx, identity)) !== userId) return 'not_allowed'
  // An organisation that enforces single sign-on in place of passwords enforces it in place of other providers too.
  if (!(await maySignInByPassword(tx, user))) return 'sso_required'
  await touchIdentity(tx, identity, app.clock.now())
  const data = { provider: identity.provider, issuer: identity.issuer }
  return completeOrAskCode(tx, app, membership, { fact: { kind: 'signin.oauth.ok', data }, caller })
}

/** Links the identity to the user of a session that still lives. @returns why not */
async function link(
  tx: Tx,
  app: App,
  identity: SocialIdentity,
  sessionId: string,
  caller: SignInCaller,
): Promise<SignInError | null> {
  const session = await readLiveSession(tx, sessionId)
  if (session === null || session.expiresAt <= app.clock.now()) return 'login_required'
  const { userId, name, orgId, role } = session
  const user = await lockUser(tx, userId)
  if (user === null) return 'login_required'
  const linkedTo = await userOfIdentity(tx, identity)
  if (linkedTo === userId) return null
  if (linkedTo !== null) return 'linked_elsewhere'
  if (!(await insertIdentity(tx, identity, userId, app.clock.now()))) return 'linked_elsewhere'
  const actor = { kind: 'user', userId, name, orgId, role, sessionId, ...caller } as const
  await recordLinked(tx, app, { actor, user }, identity)
  return null
}
