import type { RedirectSecrets } from '../auth/redirect-secrets.ts'
import type { App } from '../../platform/context/app.ts'
import type { ProviderName } from './social.api.ts'
import type { SocialIdentity } from './social.queries.ts'

/** A provider that the operator has switched on, for one exchange. */
export type SocialExchange = {
  /** Where to send the browser. */
  readonly authorizationUrl: (secrets: RedirectSecrets) => Promise<string>
  /**
   * Who came back.
   * @param answer the query of the callback
   * @throws ProviderError, EgressError or an error of the library
   */
  readonly redeem: (answer: URLSearchParams, secrets: RedirectSecrets, startedAt: Date) => Promise<SocialIdentity>
}

export const callbackUrl = (app: App, provider: ProviderName): string =>
  `${app.config.publicUrl}/api/auth/oauth/${provider}/callback`
