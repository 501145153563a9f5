import { orgOpener } from '../auth/org-sealer.ts'
import type { App } from '../../platform/context/app.ts'
import { openClientSecret } from './client-secret.ts'
import { providerFetch } from './provider-fetch.ts'
import { readProvider, type Provider } from './provider.ts'
import type { Client } from './redeem-code.ts'
import type { SsoConfigRow } from './sso.queries.ts'

/** Shorter than the limit of a request. */
export const EXCHANGE_LIMIT_MS = 9_000

export const callbackUrl = (app: App): string => `${app.config.publicUrl}/api/auth/sso/callback`

/** How to talk to the provider of an organisation, during one exchange. */
export type OrganisationProvider = {
  readonly provider: Provider
  readonly client: Client
  readonly owner: string
  readonly fetch: ReturnType<typeof providerFetch>
}

/** @throws ProviderError, EgressError, UnreadableKeyError or an error of the library */
export async function organisationProvider(
  app: App,
  config: SsoConfigRow,
  limitMs = EXCHANGE_LIMIT_MS,
): Promise<OrganisationProvider> {
  const owner = `sso ${config.org_id}`
  const fetch = providerFetch(app, owner, AbortSignal.timeout(limitMs))
  const opener = await orgOpener(app, config.org_id)
  const clientSecret = openClientSecret(opener, config.org_id, config.client_secret_sealed)
  const client = { clientId: config.client_id, clientSecret, redirectUri: callbackUrl(app) }
  return { provider: await readProvider(app, owner, config.issuer, fetch), client, owner, fetch }
}
