import type { App } from '../../platform/context/app.ts'
import { EXCHANGE_LIMIT_MS, type ExternalProvider } from './external-provider.ts'
import { openidProvider } from './openid-provider.ts'
import type { ProviderName } from './social.api.ts'
import type { CustomFetch } from 'openid-client'
import { z } from 'zod'
import { authorizationUrl, redeemCode, type Client } from './oauth-client.ts'
import { providerFetch, readJson } from './provider-fetch.ts'

/** @returns null when the provider is not switched on */
export function socialProvider(app: App, name: ProviderName, limitMs = EXCHANGE_LIMIT_MS): ExternalProvider | null {
  const { github, google } = app.config.oauth
  const redirectUri = `${app.config.publicUrl}/api/auth/oauth/${name}/callback`
  if (name === 'github')
    return github === null ? null : githubProvider(app, github.baseUrl, { ...github, redirectUri }, limitMs)
  if (google === null) return null
  return openidProvider(
    app,
    { owner: 'oauth google', issuer: google.issuer, client: { ...google, redirectUri } },
    limitMs,
  )
}

/** The number stays when the account is renamed; its name may later belong to another account. */
const Account = z.object({ id: z.int().positive(), login: z.string().min(1).max(255) })

/** OAuth 2 as GitHub and GitHub Enterprise Server speak it, with PKCE: no discovery, no ID token. */
function githubProvider(app: App, baseUrl: string, client: Client, limitMs: number): ExternalProvider {
  const fetch = providerFetch(app, 'oauth github', AbortSignal.timeout(limitMs))
  const metadata = {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/login/oauth/authorize`,
    token_endpoint: `${baseUrl}/login/oauth/access_token`,
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  }
  return {
    authorizationUrl: (secrets) =>
      authorizationUrl(app, { metadata, client }, secrets, { scope: 'read:user', allow_signup: 'false' }),
    async redeem({ answer, secrets }) {
      const query = new URLSearchParams(answer)
      // Without discovery we do not know how GitHub names itself.
      query.delete('iss')
      const at = { metadata, client, fetch: withErrorStatus(fetch) }
      const { tokens } = await redeemCode(app, at, { answer: query, secrets }, null)
      const { id, login } = await readJson(fetch, `${apiOf(baseUrl)}/user`, Account, 'account', {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${tokens.access_token}`,
        'x-github-api-version': '2022-11-28',
      })
      const profile = { email: null, emailVerified: false, name: login }
      return {
        issuer: baseUrl,
        subject: String(id),
        hasSecondFactor: false,
        profile: () => Promise.resolve(profile),
      }
    },
  }
}

/** GitHub Enterprise Server has its API below its own address. */
const apiOf = (baseUrl: string): string =>
  baseUrl === 'https://github.com' ? 'https://api.github.com' : `${baseUrl}/api/v3`

/** GitHub answers errors of the exchange with status 200, where the library expects 400 (RFC 6749, 5.2). */
const withErrorStatus =
  (fetch: CustomFetch): CustomFetch =>
  async (url, init) => {
    const response = await fetch(url, init)
    const isError = z.object({ error: z.string() }).safeParse(
      await response
        .clone()
        .json()
        .catch(() => null),
    ).success
    return isError ? new Response(response.body, { status: 400, headers: response.headers }) : response
  }
