import type { SignInError } from '#shared/sign-in-errors.ts'
import type { SignInCaller } from '../auth/complete-sign-in.ts'
import { redirectHashes, redirectSecrets } from '../auth/redirect-secrets.ts'
import type { App } from '../../platform/context/app.ts'
import { describeFailure } from './describe-failure.ts'
import { EXCHANGE_LIMIT_MS, organisationProvider } from './organisation-provider.ts'
import { redeemCode, type Identity, type Profile } from './redeem-code.ts'
import { signInByIdentity, type SsoResult } from './sign-in-by-identity.ts'
import { noteResult, readConfigOf, takeTransaction, userOfIdentity, type SsoConfigRow } from './sso.queries.ts'

/** The query with which the provider sent the browser back. */
export type ProviderAnswer = Readonly<Record<string, unknown>>

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
  const transaction = secrets === null ? null : await takeTransaction(app.db, redirectHashes(secrets), app.clock.now())
  const config = transaction === null ? null : await readConfigOf(app.db, transaction.org_id)
  if (secrets === null || transaction === null || config === null) return refused('sso_expired')
  if (answer['error'] !== undefined) {
    app.log.info({ org_id: config.org_id, request_id: caller.requestId }, 'the provider refused a single sign-on')
    return refused('sso_denied')
  }
  let identity: Identity
  let profile: Profile | null
  try {
    const exchange = await organisationProvider(app, config, limitMs)
    const query = queryOf(answer)
    identity = await redeemCode(app, exchange, { answer: query, secrets, startedAt: transaction.created_at })
    // An identity that is known needs no profile: nothing in it changes whom the provider means.
    const known = await userOfIdentity(app.db, { orgId: config.org_id, ...identity })
    profile = known === null ? await identity.profile() : null
  } catch (error) {
    await noteFailure(app, config, error, caller)
    return refused('sso_failed')
  }
  const result = await signInByIdentity(app, { config, identity, profile }, caller)
  await noteResult(app.db, config.org_id, null, app.clock.now())
  return result
}

const refused = (error: SignInError): SsoResult => ({ kind: 'refused', error })

async function noteFailure(app: App, config: SsoConfigRow, error: unknown, caller: SignInCaller): Promise<void> {
  const text = describeFailure(error)
  app.log.warn(
    { reason: text, org_id: config.org_id, ip: caller.origin.ip, request_id: caller.requestId },
    'a single sign-on failed: the answer of the provider is not valid',
  )
  await noteResult(app.db, config.org_id, text, app.clock.now())
}

/** Every value as it was sent, also repeated ones, which the library refuses. */
export function queryOf(answer: ProviderAnswer): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(answer))
    for (const one of Array.isArray(value) ? value : [value]) if (typeof one === 'string') query.append(name, one)
  return query
}
