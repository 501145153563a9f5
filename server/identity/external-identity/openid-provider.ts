import { jwtVerify, type JWTPayload } from 'jose'
import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import type { ExternalProvider, Profile } from './external-provider.ts'
import { authorizationUrl, oidcLibrary, redeemCode, TOLERANCE_SECONDS, type Client } from './oauth-client.ts'
import { providerFetch, ProviderError } from './provider-fetch.ts'
import { ID_TOKEN_ALGORITHMS, providerKeys, readProvider } from './provider.ts'

/**
 * OpenID Connect with discovery. Checks everything that the ID token says: issuer, audience, times, nonce, algorithm and
 * signature.
 * @param at.owner whose issuer it is; owners share neither caches nor connections
 */
export function openidProvider(
  app: App,
  { owner, issuer, client }: { readonly owner: string; readonly issuer: string; readonly client: Client },
  limitMs: number,
): ExternalProvider {
  const fetch = providerFetch(app, owner, AbortSignal.timeout(limitMs))
  const discover = async () => ({ client, metadata: await readProvider(app, owner, issuer, fetch) })
  return {
    authorizationUrl: async (secrets) =>
      authorizationUrl(app, await discover(), secrets, {
        response_mode: 'query',
        scope: 'openid email profile',
        nonce: secrets.nonce,
      }),
    async redeem({ answer, secrets, startedAt }) {
      const at = await discover()
      const { tokens, configuration } = await redeemCode(app, { ...at, fetch }, { answer, secrets }, secrets.nonce)
      if (tokens.id_token === undefined) throw new ProviderError('The provider sent no ID token.')
      const { payload } = await jwtVerify(tokens.id_token, providerKeys(app, owner, at.metadata, fetch), {
        algorithms: [...ID_TOKEN_ALGORITHMS],
        issuer,
        audience: client.clientId,
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: app.clock.now(),
        requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat', 'nonce'],
      })
      const { sub, amr = [] } = checkClaims(app, payload, client, startedAt)
      return {
        issuer,
        subject: sub,
        hasSecondFactor: amr.includes('mfa') || amr.includes('hwk'),
        profile: async () => {
          // Providers may keep the claims of the scope `email` for this endpoint.
          const isComplete = payload['email'] !== undefined || at.metadata.userinfo_endpoint === undefined
          if (isComplete) return profileOf(payload)
          return profileOf(await (await oidcLibrary()).fetchUserInfo(configuration, tokens.access_token, sub))
        },
      }
    },
  }
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

/** Checks of claims that the library leaves to its caller. */
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
