import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import type { CustomFetch, ServerMetadata } from 'openid-client'
import { z } from 'zod'
import { type App, perApp } from '../../platform/context/app.ts'
import { oidcLibrary } from './oauth-client.ts'
import { allowsPlainHttp, checkProviderUrl, ProviderError, readJson } from './provider-fetch.ts'

/** Documents that providers publish: their discovery document and their keys, each read at most every ten minutes. */

const LIFE_MS = 10 * 60_000
/** A token with an unknown key makes us read the keys again, at most this often. */
const MIN_KEYS_AGE_MS = 60_000
const MAX_CACHED = 500

/** Signatures that only the provider can make; never `none`, never a shared secret. */
export const ID_TOKEN_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const

type Read<T> = { readonly readAtMs: number; readonly value: Promise<T> }

const caches = perApp(() => ({
  providers: new Map<string, Read<ServerMetadata>>(),
  keys: new Map<string, Read<JWTVerifyGetKey>>(),
}))

/**
 * The endpoints that the provider of an issuer announces.
 * @param owner whose issuer it is; owners share no cache
 * @throws ProviderError, EgressError or an error of the library
 */
export function readProvider(app: App, owner: string, issuer: string, fetch: CustomFetch): Promise<ServerMetadata> {
  return cached(app, caches(app).providers, `${owner} ${issuer}`, LIFE_MS, () => discover(app, issuer, fetch))
}

async function discover(app: App, issuer: string, fetch: CustomFetch): Promise<ServerMetadata> {
  const oidc = await oidcLibrary()
  const url = new URL(checkProviderUrl(app, 'issuer', issuer))
  const found = await oidc.discovery(url, 'none', undefined, undefined, {
    [oidc.customFetch]: fetch,
    // oxlint-disable-next-line typescript/no-deprecated -- marked so to stand out: only in relaxed mode
    execute: allowsPlainHttp(app) ? [oidc.allowInsecureRequests] : [],
  })
  const metadata = found.serverMetadata()
  // The library forgives a missing slash and the templates of large providers.
  if (metadata.issuer !== issuer)
    throw new ProviderError(
      `The provider calls itself ${JSON.stringify(metadata.issuer)}, not ${JSON.stringify(issuer)}.`,
    )
  checkProviderUrl(app, 'authorization_endpoint', metadata.authorization_endpoint)
  checkProviderUrl(app, 'token_endpoint', metadata.token_endpoint)
  checkProviderUrl(app, 'jwks_uri', metadata.jwks_uri)
  const announced = metadata.id_token_signing_alg_values_supported ?? ['RS256']
  const accepted = announced.filter((name) => ID_TOKEN_ALGORITHMS.some((algorithm) => algorithm === name))
  if (accepted.length === 0)
    throw new ProviderError(`The provider signs ID tokens with none of ${ID_TOKEN_ALGORITHMS.join(', ')}.`)
  const {
    authorization_endpoint,
    token_endpoint,
    jwks_uri,
    userinfo_endpoint,
    token_endpoint_auth_methods_supported,
    authorization_response_iss_parameter_supported,
  } = metadata
  return {
    issuer,
    authorization_endpoint,
    token_endpoint,
    jwks_uri,
    userinfo_endpoint,
    token_endpoint_auth_methods_supported,
    authorization_response_iss_parameter_supported,
    id_token_signing_alg_values_supported: accepted,
  }
}

/** The keys of the provider, to verify a token. */
export function providerKeys(app: App, owner: string, metadata: ServerMetadata, fetch: CustomFetch): JWTVerifyGetKey {
  const url = checkProviderUrl(app, 'jwks_uri', metadata.jwks_uri)
  const read = (maxAgeMs: number) =>
    cached(app, caches(app).keys, `${owner} ${url}`, maxAgeMs, async () =>
      createLocalJWKSet(await readJson(fetch, url, Keys, 'keys')),
    )
  return async (header, token) => {
    const known = await read(LIFE_MS)
    try {
      return await known(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const newer = await read(MIN_KEYS_AGE_MS)
      if (newer === known) throw error
      return newer(header, token)
    }
  }
}

const Keys = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) })

/** One read at a time for each key; a failed one is not kept. */
function cached<T>(
  app: App,
  cache: Map<string, Read<T>>,
  key: string,
  maxAgeMs: number,
  read: () => Promise<T>,
): Promise<T> {
  const nowMs = app.clock.monotonicMs()
  const known = cache.get(key)
  if (known !== undefined && nowMs - known.readAtMs < maxAgeMs) return known.value
  if (cache.size >= MAX_CACHED) cache.clear()
  const value = read()
  const entry = { readAtMs: nowMs, value }
  cache.set(key, entry)
  value.catch(() => {
    if (cache.get(key) === entry) cache.delete(key)
  })
  return value
}
