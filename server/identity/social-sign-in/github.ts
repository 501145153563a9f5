import { z } from 'zod'
import { challengeOf } from '../auth/redirect-secrets.ts'
import type { Config } from '../../config.ts'
import type { App } from '../../platform/context/app.ts'
import { checkProviderUrl, providerFetch, ProviderError } from '../sso/provider-fetch.ts'
import { callbackUrl, type SocialExchange } from './social-exchange.ts'

type Settings = NonNullable<Config['oauth']['github']>

/** An error of the exchange has status 200, too. */
const Tokens = z.union([
  z.object({ access_token: z.string().min(1), token_type: z.string().regex(/^bearer$/i) }),
  z.object({ error: z.string() }),
])

/** The number stays when the account is renamed; its name may later belong to another account. */
const Account = z.object({ id: z.int().positive(), login: z.string().min(1).max(255) })

/** OAuth 2 as GitHub and GitHub Enterprise Server speak it, with PKCE: no discovery, no ID token. */
export function githubProvider(app: App, settings: Settings, signal: AbortSignal): SocialExchange {
  const { baseUrl, clientId, clientSecret } = settings
  const fetch = providerFetch(app, 'oauth github', signal)
  const redirectUri = callbackUrl(app, 'github')

  const token = async (code: string, verifier: string): Promise<string> => {
    const response = await fetch(`${baseUrl}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        client_id: clientId,
        client_secret: clientSecret,
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }),
      redirect: 'manual',
    })
    const parsed = Tokens.safeParse(await jsonOf(response, 'token'))
    if (!parsed.success) throw new ProviderError('GitHub sent no access token.')
    if ('error' in parsed.data) {
      const code = /^[a-z_]{1,60}$/.test(parsed.data.error) ? parsed.data.error : 'an error'
      throw new ProviderError(`GitHub refused to exchange the code: ${code}.`)
    }
    return parsed.data.access_token
  }

  return {
    authorizationUrl: (secrets) => {
      const url = new URL(checkProviderUrl(app, 'address', `${baseUrl}/login/oauth/authorize`))
      url.search = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'read:user',
        state: secrets.state,
        code_challenge: challengeOf(secrets.verifier),
        code_challenge_method: 'S256',
        allow_signup: 'false',
      }).toString()
      return Promise.resolve(url.href)
    },
    async redeem(answer, secrets) {
      const [code, ...others] = answer.getAll('code')
      if (code === undefined || code === '' || others.length > 0) throw new ProviderError('GitHub sent no code.')
      const accessToken = await token(code, secrets.verifier)
      const response = await fetch(`${apiOf(baseUrl)}/user`, {
        method: 'GET',
        headers: {
          accept: 'application/vnd.github+json',
          authorization: `Bearer ${accessToken}`,
          'x-github-api-version': '2022-11-28',
        },
        body: null,
        redirect: 'manual',
      })
      const account = Account.safeParse(await jsonOf(response, 'account'))
      if (!account.success) throw new ProviderError('GitHub sent no account.')
      const { id, login } = account.data
      return { provider: 'github', issuer: baseUrl, subject: String(id), login }
    },
  }
}

/** GitHub Enterprise Server has its API below its own address. */
const apiOf = (baseUrl: string): string =>
  baseUrl === 'https://github.com' ? 'https://api.github.com' : `${baseUrl}/api/v3`

async function jsonOf(response: Response, what: string): Promise<unknown> {
  if (response.status !== 200) throw new ProviderError(`GitHub answered ${response.status} for the ${what}.`)
  return response.json().catch(() => null)
}
