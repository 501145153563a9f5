import type { SignInError } from '#shared/sign-in-errors.ts'
import type { SignInCaller } from '../auth/complete-sign-in.ts'
import type { App } from '../../platform/context/app.ts'
import { describeFailure } from './describe-failure.ts'
import { takeSsoTransaction, userOfIdentity } from './external-identities.queries.ts'
import { EXCHANGE_LIMIT_MS, type Identity, type Profile } from './external-provider.ts'
import { organisationProvider } from './organisation-provider.ts'
import { signInByIdentity, type SsoResult } from './sign-in-by-identity.ts'
import { noteResult, selectSsoConfig } from './sso.queries.ts'
import { toCallbackQuery, redirectHashes, redirectSecrets, type ProviderAnswer } from './visits.ts'

/**
 * Ends a sign-in at the provider. Of parallel calls with one `state` exactly one gets further than its look-up.
 * @param cookie `svc_sso` of the browser
 */
export async function finishSso(
  app: App,
  { answer, cookie }: { readonly answer: ProviderAnswer; readonly cookie: string | null },
  caller: SignInCaller,
  limitMs = EXCHANGE_LIMIT_MS,
): Promise<SsoResult> {
  const secrets = redirectSecrets(answer['state'], cookie)
  const visit = secrets && (await takeSsoTransaction(app.db, redirectHashes(secrets), app.clock.now()))
  const config = visit && (await selectSsoConfig(app.db, visit.org_id))
  if (!secrets || !visit || !config) return refused('sso_expired')
  const { org_id } = config
  if (answer['error'] !== undefined) {
    app.log.info({ org_id, request_id: caller.requestId }, 'the provider refused a single sign-on')
    return refused('sso_denied')
  }
  let identity: Identity
  let profile: Profile | null
  try {
    const provider = await organisationProvider(app, config, limitMs)
    identity = await provider.redeem({ answer: toCallbackQuery(answer), secrets, startedAt: visit.created_at })
    // An identity that is known needs no profile: nothing in it changes whom the provider means.
    const { issuer, subject } = identity
    const known = await userOfIdentity(app.db, { org_id, issuer, subject })
    profile = known === null ? await identity.profile() : null
  } catch (error) {
    const reason = describeFailure(error)
    const about = { reason, org_id, ip: caller.origin.ip, request_id: caller.requestId }
    app.log.warn(about, 'a single sign-on failed: the answer of the provider is not valid')
    await noteResult(app.db, org_id, reason, app.clock.now())
    return refused('sso_failed')
  }
  const result = await signInByIdentity(app, { config, identity, profile }, caller)
  await noteResult(app.db, org_id, null, app.clock.now())
  return result
}

const refused = (error: SignInError): SsoResult => ({ kind: 'refused', error })
