import { newRedirectSecrets, REDIRECT_LIFE_MS, redirectHashes } from '../auth/redirect-secrets.ts'
import type { App } from '../../platform/context/app.ts'
import { describeFailure } from './describe-failure.ts'
import { organisationProvider } from './organisation-provider.ts'
import { authorizationUrl } from './redeem-code.ts'
import { configOfSlug, insertTransaction, noteResult } from './sso.queries.ts'

/** Shorter than a user's patience: the provider only has to send its discovery document. */
const DISCOVERY_LIMIT_MS = 6_000

/**
 * Begins a sign-in at the provider of an organisation.
 * @param slug of the organisation, as the browser sent it
 * @param cookie `svc_sso` of the browser
 * @returns the provider's address and the new cookie; null for an unknown organisation, one without single sign-on, or one
 *   whose provider cannot be used
 */
export async function startSso(
  app: App,
  slug: unknown,
  cookie: string | null,
): Promise<{ readonly location: string; readonly cookie: string } | null> {
  const config = typeof slug === 'string' ? await configOfSlug(app.db, slug) : null
  if (config === null) return null
  const secrets = newRedirectSecrets(cookie)
  let location: string
  try {
    const { provider, client } = await organisationProvider(app, config, DISCOVERY_LIMIT_MS)
    location = await authorizationUrl(app, provider, client, secrets)
  } catch (error) {
    const text = describeFailure(error)
    app.log.warn({ err: error, org_id: config.org_id }, 'single sign-on cannot begin: the provider cannot be used')
    await noteResult(app.db, config.org_id, text, app.clock.now())
    return null
  }
  const now = app.clock.now()
  const hashes = redirectHashes(secrets)
  await app.tx((tx) =>
    insertTransaction(tx, {
      state_hash: hashes.state,
      browser_hash: hashes.browser,
      org_id: config.org_id,
      created_at: now,
      expires_at: new Date(now.getTime() + REDIRECT_LIFE_MS),
    }),
  )
  return { location, cookie: secrets.browser }
}
