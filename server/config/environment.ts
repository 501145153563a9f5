import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** Roles of a process. `serve` has all of them unless `--roles=` or FAULTLINE_ROLES names some. */
export const PROCESS_ROLES = ['ingest', 'api', 'digest', 'schedule', 'deliver'] as const

export type ProcessRole = (typeof PROCESS_ROLES)[number]

/** The spool has as many shards, each of which one thread digests. */
export const MAX_DIGEST_THREADS = 16

export const SIGNUP_MODES = ['open', 'invite', 'closed'] as const

export const REGIONS = ['af-south-1', 'eu-central-1', 'us-east-1'] as const

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Wire formats of models. */
export const AI_PROVIDERS = ['openai', 'anthropic', 'ollama'] as const

/** An invalid setting. The message is the line that the operator sees. */
export class ConfigError extends Error {}

export type Environment = Readonly<Record<string, string | undefined>>

export const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

export const webUrl = z
  .string()
  .trim()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'must be an http or https URL',
  })
  .refine((text) => !URL.canParse(text) || (new URL(text).search === '' && new URL(text).hash === ''), {
    error: 'must have no query and no fragment',
  })
  .refine((text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''), {
    error: 'must hold no user name or password',
  })
  .transform((text) => text.replace(/\/+$/, ''))

const number = (min: number, max: number) =>
  z
    .string()
    .trim()
    .regex(/^\d+(\.\d+)?$/, { error: `must be a number from ${min} to ${max}` })
    .transform(Number)
    .refine((n) => n >= min && n <= max, { error: `must be a number from ${min} to ${max}` })

const wholeNumber = (min: number, max: number) =>
  number(min, max).refine(Number.isInteger, { error: 'must be a whole number' })

const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

const cidr = z.string().refine((text) => isIP(text) !== 0 || ipaddr.isValidCIDR(text), {
  error: 'must be addresses or CIDR ranges separated by commas',
})

/** As `platform/kernel/address-range.ts` reads it. */
const egressRange = cidr
  .refine((text) => isIP(text.replace(/\/\d{1,3}$/, '')) !== 0 && !/^::ffff:/i.test(text), {
    error: 'must be addresses or CIDR ranges separated by commas, IPv4 in its own form',
  })
  .refine((text) => !/\/0+$/.test(text), { error: 'must not hold a range of all addresses' })

export const Environment = z.object({
  PORT: wholeNumber(0, 65_535).default(8000),
  HOST: z.string().trim().min(1, { error: 'must not be empty' }).default('127.0.0.1'),
  PUBLIC_URL: webUrl.optional(),
  ALLOWED_ORIGINS: z.string().transform(list).pipe(z.array(webUrl)).default([]),
  FAULTLINE_DATA_DIR: z.string().min(1, { error: 'must not be empty' }).optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, { error: 'must begin with postgres:// or postgresql://' })
    .optional(),
  DATABASE_PASSWORD: z.string().optional(),
  SPOOL_URL: z
    .string()
    .trim()
    .regex(/^(nats|tls):\/\/[^\s/?#]+$/, { error: 'must be nats://user:password@host:port,host:port or tls://…' })
    .optional(),
  SPOOL_CREDENTIALS: z.string().trim().min(1).optional(),
  SPOOL_CA: z.string().trim().min(1).optional(),
  SPOOL_STREAM: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, { error: 'must be 1 to 32 letters, digits, underscores and dashes' })
    .default('faultline_spool'),
  SPOOL_REPLICAS: oneOf(['1', '3', '5']).default('3'),
  FAULTLINE_SPOOL_FILE: oneOf(['on', 'off']).default('on'),
  SPOOL_MAX_MB: wholeNumber(16, 10_000_000).default(4_096),
  FAULTLINE_ROLES: z
    .string()
    .transform(list)
    .pipe(z.array(oneOf(PROCESS_ROLES)).min(1, { error: 'must name at least one role' }))
    .optional(),
  FAULTLINE_DIGEST_THREADS: wholeNumber(1, MAX_DIGEST_THREADS).optional(),
  FAULTLINE_SIGNUP: oneOf(SIGNUP_MODES).optional(),
  FAULTLINE_REGION: oneOf(REGIONS).optional(),
  INGEST_URL_AF_SOUTH_1: webUrl.optional(),
  INGEST_URL_EU_CENTRAL_1: webUrl.optional(),
  INGEST_URL_US_EAST_1: webUrl.optional(),
  ENCRYPTION_KEYS: z.string().trim().min(1, { error: 'must not be empty' }).optional(),
  TRUSTED_PROXIES: z.string().transform(list).pipe(z.array(cidr)).default([]),
  EGRESS_ALLOW_CIDRS: z.string().transform(list).pipe(z.array(egressRange)).default([]),
  EGRESS_ALLOW_HTTP: oneOf(['0', '1']).optional(),
  RATE_LIMIT_SCALE: number(0, 1_000_000).default(1),
  // A quarter of an hour of digestion at full speed.
  MAX_BACKLOG: wholeNumber(1_000, 100_000_000).default(3_000_000),
  MAX_EVENTS_PER_ISSUE_DAY: wholeNumber(0, 100_000_000).default(1_000),
  FAULTLINE_RETRY_SCALE: number(0, 1_000_000).default(1),
  FAULTLINE_CANARY_MINUTES: wholeNumber(0, 1_440).default(60),
  FAULTLINE_ANALYSE_CRITICAL: oneOf(['0', '1']).default('0'),
  REFRESH_OVERLAP_MS: wholeNumber(0, 10_000).default(50),
  COOKIE_PREFIX: z.enum(['', '__Host-'], { error: 'must be empty or __Host-' }).default(''),
  SMTP_URL: z
    .string()
    .trim()
    .regex(/^smtps?:\/\/[^\s/]+\/?$/, { error: 'must be smtp://user:password@host:port or smtps://…' })
    .refine((text) => URL.canParse(text), { error: 'must be smtp://user:password@host:port or smtps://…' })
    .optional(),
  MAIL_FROM: z.string().trim().min(3, { error: 'must be an email address' }).optional(),
  OAUTH_GITHUB_CLIENT_ID: z.string().trim().optional(),
  OAUTH_GITHUB_CLIENT_SECRET: z.string().trim().optional(),
  OAUTH_GITHUB_BASE_URL: webUrl.default('https://github.com'),
  OAUTH_GOOGLE_CLIENT_ID: z.string().trim().optional(),
  OAUTH_GOOGLE_CLIENT_SECRET: z.string().trim().optional(),
  OAUTH_GOOGLE_ISSUER: webUrl.default('https://accounts.google.com'),
  EXPO_BASE_URL: webUrl.optional(),
  FCM_SERVICE_ACCOUNT: z.string().trim().min(1).optional(),
  FCM_BASE_URL: webUrl.default('https://fcm.googleapis.com'),
  PAGER_BASE_URL: webUrl.default('https://events.pagerduty.com'),
  TELEGRAM_BASE_URL: webUrl.default('https://api.telegram.org'),
  TOTP_STRICT: oneOf(['0', '1']).default('0'),
  PASSWORD_CHECK: oneOf(['block', 'warn', 'off']).optional(),
  METRICS_TOKEN: z.string().min(16, { error: 'must be at least 16 characters' }).optional(),
  CHAT_SIGNING_SECRET: z.string().trim().min(16, { error: 'must be at least 16 characters' }).optional(),
  AI_PROVIDER: oneOf(AI_PROVIDERS).optional(),
  AI_BASE_URL: webUrl.optional(),
  AI_MODEL: z.string().trim().min(1, { error: 'must not be empty' }).max(200).optional(),
  AI_API_KEY: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]{1,1000}$/, { error: 'must be printable characters without spaces' })
    .optional(),
  AI_USD_PER_MILLION_INPUT_TOKENS: number(0, 10_000).default(0),
  AI_USD_PER_MILLION_OUTPUT_TOKENS: number(0, 10_000).default(0),
  AI_REQUESTS_PER_MINUTE: wholeNumber(1, 10_000).default(20),
  AI_TOKENS_PER_DAY: wholeNumber(1, 1_000_000_000).optional(),
  AI_USD_PER_MONTH: number(0, 1_000_000).optional(),
  AI_AUDIT_TEXTS: oneOf(['0', '1']).default('0'),
  BACKUP_FOLDER: z.string().min(1, { error: 'must not be empty' }).optional(),
  BACKUP_HOURS: wholeNumber(1, 8_760).default(24),
  BACKUP_KEEP: wholeNumber(1, 10_000).default(7),
  BACKUP_KEY: z.string().trim().min(1, { error: 'must not be empty' }).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl.optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: webUrl.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(1, 600_000).default(10_000),
  OTEL_METRIC_EXPORT_INTERVAL: wholeNumber(1_000, 86_400_000).default(60_000),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
  OTEL_SERVICE_NAME: z.string().trim().optional(),
  OTEL_SDK_DISABLED: z.string().optional(),
  BLOCKS_URL: z.string().trim().optional(),
  BLOCKS_AFTER_DAYS: wholeNumber(1, 3_650).default(14),
  S3_ENDPOINT: webUrl.optional(),
  S3_REGION: z
    .string()
    .trim()
    .regex(/^[a-z0-9-]{1,40}$/, { error: 'must be the name of a region, such as eu-central-1' })
    .default('us-east-1'),
  S3_ACCESS_KEY_ID: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]{1,256}$/, { error: 'must be printable characters without spaces' })
    .optional(),
  S3_SECRET_ACCESS_KEY: z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]{1,256}$/, { error: 'must be printable characters without spaces' })
    .optional(),
  S3_PATH_STYLE: oneOf(['0', '1']).optional(),
  LOG_LEVEL: oneOf(LOG_LEVELS).default('info'),
  NODE_ENV: z.string().default(''),
})

export const KNOWN_PREFIXED = new Set(Object.keys(Environment.shape).filter((name) => name.startsWith('FAULTLINE_')))

/** Names that `faultline upload` reads may be set on the machine of a service. */
export const UPLOAD_NAMES = new Set(['FAULTLINE_URL', 'FAULTLINE_TOKEN', 'FAULTLINE_PROJECT'])

/** Settings whose values never appear on a terminal or in a log. */
export const SECRET_NAMES = new Set([
  'DATABASE_URL',
  'DATABASE_PASSWORD',
  'SPOOL_URL',
  'SPOOL_CREDENTIALS',
  'SPOOL_CA',
  'ENCRYPTION_KEYS',
  'METRICS_TOKEN',
  'CHAT_SIGNING_SECRET',
  'SMTP_URL',
  'AI_API_KEY',
  'BACKUP_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
  'OAUTH_GITHUB_CLIENT_SECRET',
  'OAUTH_GOOGLE_CLIENT_SECRET',
])

export type Settings = z.output<typeof Environment>

/**
 * Secrets may be in files, as containers and systemd hand them over: `ENCRYPTION_KEYS_FILE` names one with the value of
 * `ENCRYPTION_KEYS`.
 * @throws ConfigError when a file cannot be read or both are set
 */
export function withSecretFiles(given: Record<string, string | undefined>): Record<string, string | undefined> {
  const values = { ...given }
  for (const name of SECRET_NAMES) {
    const path = given[`${name}_FILE`]
    if (path === undefined) continue
    if (given[name] !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set: keep one of them.`)
    try {
      values[name] = readFileSync(path, 'utf8').trim()
    } catch {
      throw new ConfigError(`${name}_FILE must name a readable file (it is ${JSON.stringify(path)}).`)
    }
    if (values[name] === '') throw new ConfigError(`${name}_FILE names an empty file (${JSON.stringify(path)}).`)
  }
  return values
}
