import type { App } from '../../platform/context/app.ts'
import { EXCHANGE_LIMIT_MS, type ExternalProvider } from './external-provider.ts'
import { githubProvider } from './github.ts'
import { openidProvider } from './openid-provider.ts'
import type { ProviderName } from './social.api.ts'

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
