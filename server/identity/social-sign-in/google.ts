import type { Config } from '../../config.ts'
import type { App } from '../../platform/context/app.ts'
import { providerFetch } from '../sso/provider-fetch.ts'
import { readProvider } from '../sso/provider.ts'
import { authorizationUrl, redeemCode } from '../sso/redeem-code.ts'
import { callbackUrl, type SocialExchange } from './social-exchange.ts'

type Settings = NonNullable<Config['oauth']['google']>

const OWNER = 'oauth google'

/** OpenID Connect, with the checks of single sign-on. */
export function googleProvider(app: App, settings: Settings, signal: AbortSignal): SocialExchange {
  const { issuer, clientId, clientSecret } = settings
  const client = { clientId, clientSecret, redirectUri: callbackUrl(app, 'google') }
  const fetch = providerFetch(app, OWNER, signal)
  return {
    authorizationUrl: async (secrets) =>
      authorizationUrl(app, await readProvider(app, OWNER, issuer, fetch), client, secrets),
    async redeem(answer, secrets, startedAt) {
      const provider = await readProvider(app, OWNER, issuer, fetch)
      const exchange = { provider, client, owner: OWNER, fetch }
      const { subject, profile } = await redeemCode(app, exchange, { answer, secrets, startedAt })
      const { email, name } = await profile()
      return { provider: 'google', issuer, subject, login: email ?? name ?? subject }
    },
  }
}
