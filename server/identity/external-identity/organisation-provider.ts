import { orgOpener } from '../auth/org-sealer.ts'
import type { App } from '../../platform/context/app.ts'
import { openClientSecret } from './client-secret.ts'
import { EXCHANGE_LIMIT_MS, type ExternalProvider } from './external-provider.ts'
import { openidProvider } from './openid-provider.ts'
import type { SsoConfigRow } from './sso.queries.ts'

export const ssoCallbackUrl = (app: App): string => `${app.config.publicUrl}/api/auth/sso/callback`

/** The provider of an organisation, for one exchange. @throws UnreadableKeyError */
export async function organisationProvider(
  app: App,
  config: SsoConfigRow,
  limitMs = EXCHANGE_LIMIT_MS,
): Promise<ExternalProvider> {
  const { org_id: orgId, issuer, client_id: clientId } = config
  const clientSecret = openClientSecret(await orgOpener(app, orgId), orgId, config.client_secret_sealed)
  const client = { clientId, clientSecret, redirectUri: ssoCallbackUrl(app) }
  return openidProvider(app, { owner: `sso ${orgId}`, issuer, client }, limitMs)
}
