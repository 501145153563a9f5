import { jwtVerify, type JWTPayload } from 'jose'
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client'
import { z } from 'zod'
import { challengeOf, type RedirectSecrets } from '../auth/redirect-secrets.ts'
import type { App } from '../../platform/context/app.ts'
import { allowsPlainHttp, ProviderError } from './provider-fetch.ts'
import { ID_TOKEN_ALGORITHMS, oidcLibrary, providerKeys, type Provider } from './provider.ts'

/** Clocks of providers may be wrong by this much. */
const TOLERANCE_SECONDS = 60

/** What the provider knows us by. */
export type Client = {
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
}

/** What a provider said about a user, and signed. */
export type Identity = {
  readonly issuer: string
  readonly subject: string
  /** Whether the provider checked a second factor (RFC 8176). */
  readonly hasSecondFactor: boolean
  /** What else it says. Mutable, and as true as the provider is. */
  readonly profile: () => Promise<Profile>
}

export type Profile = { readonly email: string | null; readonly emailVerified: boolean; readonly name: string | null }

/** Where to send the browser. */
export async function authorizationUrl(
  app: App,
  provider: Provider,
  client: Client,
  secrets: RedirectSecrets,
): Promise<string> {
  const oidc = await oidcLibrary()
  return oidc.buildAuthorizationUrl(await configurationOf(app, provider, client, null), {
    redirect_uri: client.redirectUri,
    response_type: 'code',
    response_mode: 'query',
    scope: 'openid email profile',
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: challengeOf(secrets.verifier),
    code_challenge_method: 'S256',
  }).href
}

const Claims = z.looseObject({
  sub: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[^\0]*$/),
  iat: z.number(),
  azp: z.unknown().optional(),
  amr: z.array(z.unknown()).optional().catch(undefined),
})

const ProfileClaims = z.object({
  email: z.string().optional().catch(undefined),
  email_verified: z.unknown().optional(),
  name: z.string().optional().catch(undefined),
})

/**
 * Exchanges the code for an ID token and checks all of it: issuer, audience, times, nonce, algorithm and signature.
 * @param answer the query with which the provider sent the browser back
 * @param startedAt when the browser was sent to the provider
 * @throws ProviderError, EgressError, or an error of the library or of jose
 */
export async function redeemCode(
  app: App,
  { provider, client, owner, fetch }: { provider: Provider; client: Client; owner: string; fetch: CustomFetch },
  { answer, secrets, startedAt }: { answer: URLSearchParams; secrets: RedirectSecrets; startedAt: Date },
): Promise<Identity> {
  const oidc = await oidcLibrary()
  const configuration = await configurationOf(app, provider, client, fetch)
  const tokens = await oidc.authorizationCodeGrant(
    configuration,
    new URL(`${client.redirectUri}?${answer.toString()}`),
    {
      expectedState: secrets.state,
      expectedNonce: secrets.nonce,
      pkceCodeVerifier: secrets.verifier,
      idTokenExpected: true,
    },
  )
  if (tokens.id_token === undefined) throw new ProviderError('The provider sent no ID token.')
  const { payload } = await jwtVerify(tokens.id_token, providerKeys(app, owner, provider, fetch), {
    algorithms: [...ID_TOKEN_ALGORITHMS],
    issuer: provider.issuer,
    audience: client.clientId,
    clockTolerance: TOLERANCE_SECONDS,
    currentDate: app.clock.now(),
    requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat', 'nonce'],
  })
  const { sub, amr = [] } = checkClaims(app, payload, client, startedAt)
  return {
    issuer: provider.issuer,
    subject: sub,
    hasSecondFactor: amr.includes('mfa') || amr.includes('hwk'),
    profile: async () => {
      // Providers may keep the claims of the scope `email` for this endpoint.
      const isComplete = payload['email'] !== undefined || provider.metadata.userinfo_endpoint === undefined
      return profileOf(isComplete ? payload : await oidc.fetchUserInfo(configuration, tokens.access_token, sub))
    },
  }
}

/** What the library leaves to us. */
function checkClaims(app: App, payload: JWTPayload, { clientId }: Client, startedAt: Date): z.infer<typeof Claims> {
  const parsed = Claims.safeParse(payload)
  if (!parsed.success) throw new ProviderError('The ID token lacks a usable subject or time.')
  const claims = parsed.data
  if (claims.azp !== undefined && claims.azp !== clientId)
    throw new ProviderError('The ID token was issued to another client.')
  const seconds = (date: Date): number => date.getTime() / 1000
  if (claims.iat > seconds(app.clock.now()) + TOLERANCE_SECONDS)
    throw new ProviderError('The ID token is from the future: compare the clocks of the provider and of Faultline.')
  // Its nonce did not exist before.
  if (claims.iat < seconds(startedAt) - TOLERANCE_SECONDS)
    throw new ProviderError(
      'The ID token is older than this sign-in: compare the clocks of the provider and of Faultline.',
    )
  return claims
}

function profileOf(claims: unknown): Profile {
  const { email, email_verified: verified, name } = ProfileClaims.parse(claims)
  return { email: email ?? null, emailVerified: verified === true, name: name ?? null }
}

async function configurationOf(
  app: App,
  { metadata }: Provider,
  client: Client,
  fetch: CustomFetch | null,
): Promise<Configuration> {
  const oidc = await oidcLibrary()
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  // Providers disagree about how the header of the other method encodes special characters.
  const auth: ClientAuth = methods.includes('client_secret_post')
    ? oidc.ClientSecretPost(client.clientSecret)
    : oidc.ClientSecretBasic(client.clientSecret)
  const configuration = new oidc.Configuration(
    metadata,
    client.clientId,
    {
      // The library reads the machine's clock.
      [oidc.clockSkew]: Math.round((app.clock.now().getTime() - Date.now()) / 1000),
      [oidc.clockTolerance]: TOLERANCE_SECONDS,
    },
    auth,
  )
  if (fetch !== null) configuration[oidc.customFetch] = fetch
  // oxlint-disable-next-line typescript/no-deprecated -- marked so to stand out: only in relaxed mode
  if (allowsPlainHttp(app)) oidc.allowInsecureRequests(configuration)
  return configuration
}
