import type { App } from '../../platform/context/app.ts'
import { githubProvider } from './github.ts'
import { googleProvider } from './google.ts'
import type { ProviderName } from './social.api.ts'
import type { SocialExchange } from './social-exchange.ts'

/** Shorter than the limit of a request. */
export const EXCHANGE_LIMIT_MS = 9_000

/** @returns null when the provider is not switched on */
export function socialProvider(app: App, name: ProviderName, limitMs = EXCHANGE_LIMIT_MS): SocialExchange | null {
  const signal = AbortSignal.timeout(limitMs)
  const { github, google } = app.config.oauth
  if (name === 'github') return github === null ? null : githubProvider(app, github, signal)
  return google === null ? null : googleProvider(app, google, signal)
}
