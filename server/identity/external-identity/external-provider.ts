import type { Return } from './oauth-client.ts'
import type { RedirectSecrets } from './visits.ts'

/** Shorter than the limit of a request. */
export const EXCHANGE_LIMIT_MS = 9_000

/** A provider of external identities, for one exchange. */
export type ExternalProvider = {
  /** Where to send the browser. @throws ProviderError, EgressError or an error of a library */
  readonly authorizationUrl: (secrets: RedirectSecrets) => Promise<string>
  /** Who came back. @throws ProviderError, EgressError or an error of a library */
  readonly redeem: (back: Return) => Promise<Identity>
}

/** A user as a provider describes them. */
export type Identity = {
  readonly issuer: string
  readonly subject: string
  /** Whether the provider checked a second factor (RFC 8176). */
  readonly hasSecondFactor: boolean
  /** Other statements of the provider. Mutable, and as true as the provider is. */
  readonly profile: () => Promise<Profile>
}

export type Profile = { readonly email: string | null; readonly emailVerified: boolean; readonly name: string | null }
