import { AI_PROVIDERS, ConfigError, type Settings } from './environment.ts'

/** The model that the assistant asks, and the bounds of each organisation. */
export type AiSettings = {
  /** Null: the assistant answers by rules only. */
  readonly model: {
    readonly provider: (typeof AI_PROVIDERS)[number]
    readonly baseUrl: string
    readonly name: string
    readonly apiKey: string | null
  } | null
  /** USD per million tokens. */
  readonly price: { readonly input: number; readonly output: number }
  readonly requestsPerMinute: number
  /** In a UTC day; null without a bound. */
  readonly tokensPerDay: number | null
  /** In a calendar month, UTC; null without a bound. */
  readonly usdPerMonth: number | null
  /** Whether the audit log holds questions, prompts and answers. */
  readonly keepsTexts: boolean
}

const AI_BASE_URLS = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com' } as const

/** @throws ConfigError when settings of the model do not fit together */
export function readAi(env: Settings): AiSettings {
  if (env.AI_USD_PER_MONTH !== undefined && env.AI_USD_PER_MILLION_OUTPUT_TOKENS === 0)
    throw new ConfigError(
      'AI_USD_PER_MONTH needs AI_USD_PER_MILLION_INPUT_TOKENS and AI_USD_PER_MILLION_OUTPUT_TOKENS, the prices of the model.',
    )
  return Object.freeze({
    model: modelOf(env),
    price: { input: env.AI_USD_PER_MILLION_INPUT_TOKENS, output: env.AI_USD_PER_MILLION_OUTPUT_TOKENS },
    requestsPerMinute: env.AI_REQUESTS_PER_MINUTE,
    tokensPerDay: env.AI_TOKENS_PER_DAY ?? null,
    usdPerMonth: env.AI_USD_PER_MONTH ?? null,
    keepsTexts: env.AI_AUDIT_TEXTS === '1',
  })
}

function modelOf(env: Settings): AiSettings['model'] {
  const { AI_PROVIDER: provider, AI_MODEL: name, AI_API_KEY: apiKey = null } = env
  if (provider === undefined) {
    const lone = (['AI_BASE_URL', 'AI_MODEL', 'AI_API_KEY'] as const).find((one) => env[one] !== undefined)
    if (lone !== undefined) throw new ConfigError(`${lone} needs AI_PROVIDER: one of ${AI_PROVIDERS.join(', ')}.`)
    return null
  }
  if (name === undefined) throw new ConfigError('AI_PROVIDER needs AI_MODEL, the name of the model.')
  const baseUrl = env.AI_BASE_URL ?? (provider === 'ollama' ? undefined : AI_BASE_URLS[provider])
  if (baseUrl === undefined)
    throw new ConfigError('AI_PROVIDER ollama needs AI_BASE_URL, such as http://127.0.0.1:11434.')
  if (provider === 'anthropic' && apiKey === null) throw new ConfigError('AI_PROVIDER anthropic needs AI_API_KEY.')
  return Object.freeze({ provider, baseUrl, name, apiKey })
}
