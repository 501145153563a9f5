import type { App } from '../../platform/context/app.ts'
import { describeFailure } from './describe-failure.ts'
import { insertTransaction } from './external-identities.queries.ts'
import { organisationProvider } from './organisation-provider.ts'
import { configOfSlug, noteResult } from './sso.queries.ts'
import { newRedirectSecrets, redirectHashes, visitTimes } from './visits.ts'

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
  const { org_id } = config
  const secrets = newRedirectSecrets(cookie)
  let location: string
  try {
    location = await (await organisationProvider(app, config, DISCOVERY_LIMIT_MS)).authorizationUrl(secrets)
  } catch (error) {
    app.log.warn({ err: error, org_id }, 'single sign-on cannot begin: the provider cannot be used')
    await noteResult(app.db, org_id, describeFailure(error), app.clock.now())
    return null
  }
  await app.tx((tx) => insertTransaction(tx, { ...redirectHashes(secrets), ...visitTimes(app), org_id }))
  return { location, cookie: secrets.browser }
}
