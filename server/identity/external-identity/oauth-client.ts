import { createHash } from 'node:crypto'
import type { Configuration, CustomFetch, ServerMetadata, TokenEndpointResponse } from 'openid-client'
import type { App } from '../../platform/context/app.ts'
import { allowsPlainHttp, checkProviderUrl } from './provider-fetch.ts'
import type { RedirectSecrets } from './visits.ts'

/** Clocks of providers may be wrong by this much. */
export const TOLERANCE_SECONDS = 60

/** The library of the protocol, loaded with the first sign-in. */
export const oidcLibrary = () => import('openid-client')

/** How a provider knows us. */
export type Client = {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
}

/** A client at a provider of OAuth 2 or OpenID Connect. The metadata hold its endpoints. */
type ClientAtProvider = { readonly metadata: ServerMetadata; readonly client: Client }

/** How the browser came back: the query, the secrets of its visit, and when the visit began. */
export type Return = {
  readonly answer: URLSearchParams
  readonly secrets: RedirectSecrets
  readonly startedAt: Date
}

/**
 * The address that asks the user, with PKCE.
 * @param parameters of this kind of provider, such as the scope
 * @throws ProviderError
 */
export async function authorizationUrl(
  app: App,
  { metadata, client }: ClientAtProvider,
  secrets: RedirectSecrets,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  checkProviderUrl(app, 'authorization_endpoint', metadata.authorization_endpoint)
  const oidc = await oidcLibrary()
  return oidc.buildAuthorizationUrl(await configurationOf(app, { metadata, client }, null), {
    ...parameters,
    redirect_uri: client.redirectUri,
    state: secrets.state,
    code_challenge: createHash('sha256').update(secrets.verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).href
}

/**
 * Exchanges the code for tokens.
 * @param nonce expected in an ID token, which must come then; null without OpenID Connect
 * @throws ProviderError, EgressError or an error of the library
 */
export async function redeemCode(
  app: App,
  at: ClientAtProvider & { readonly fetch: CustomFetch },
  { answer, secrets }: Pick<Return, 'answer' | 'secrets'>,
  nonce: string | null,
): Promise<{ readonly tokens: TokenEndpointResponse; readonly configuration: Configuration }> {
  const oidc = await oidcLibrary()
  const configuration = await configurationOf(app, at, at.fetch)
  const url = new URL(`${at.client.redirectUri}?${answer.toString()}`)
  const tokens = await oidc.authorizationCodeGrant(configuration, url, {
    expectedState: secrets.state,
    pkceCodeVerifier: secrets.verifier,
    ...(nonce === null ? {} : { expectedNonce: nonce, idTokenExpected: true }),
  })
  return { tokens, configuration }
}

async function configurationOf(
  app: App,
  { metadata, client }: ClientAtProvider,
  fetch: CustomFetch | null,
): Promise<Configuration> {
  const oidc = await oidcLibrary()
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  // Providers disagree about how the header of the other method encodes special characters.
  const authenticate = methods.includes('client_secret_post') ? oidc.ClientSecretPost : oidc.ClientSecretBasic
  const configuration = new oidc.Configuration(
    metadata,
    client.clientId,
    {
      // The library reads the machine's clock.
      [oidc.clockSkew]: Math.round((app.clock.now().getTime() - Date.now()) / 1000),
      [oidc.clockTolerance]: TOLERANCE_SECONDS,
    },
    authenticate(client.clientSecret),
  )
  if (fetch !== null) configuration[oidc.customFetch] = fetch
  // oxlint-disable-next-line typescript/no-deprecated -- marked so to stand out: only in relaxed mode
  if (allowsPlainHttp(app)) oidc.allowInsecureRequests(configuration)
  return configuration
}
