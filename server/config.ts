import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** Roles of a process. `serve` has all of them unless `--roles=` or FAULTLINE_ROLES names some. */
export const PROCESS_ROLES = ['ingest', 'api', 'digest', 'schedule', 'deliver'] as const
export type ProcessRole = (typeof PROCESS_ROLES)[number]

/** The spool has as many parts, each of which a thread digests. */
const MAX_DIGEST_THREADS = 4

const SIGNUP_MODES = ['open', 'invite', 'closed'] as const
const REGIONS = ['af-south-1', 'eu-central-1', 'us-east-1'] as const
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** The settings of the environment, validated and frozen. Durations in milliseconds, paths absolute. */
export type Config = {
  /** Relaxed on loopback outside production: cookies over http, no per-IP limits for loopback clients. */
  readonly mode: 'relaxed' | 'strict'
  readonly host: string
  readonly port: number
  /** Without a trailing slash. */
  readonly publicUrl: string
  readonly allowedOrigins: readonly string[]
  readonly dataDir: string
  /** Whether FAULTLINE_DATA_DIR is set: the data directory is then never moved. */
  readonly dataDirIsExplicit: boolean
  readonly databaseUrl: string | null
  /** The log in front of the spool; null: the intake writes into the database itself. */
  readonly intakeLog: IntakeLogSettings | null
  readonly roles: readonly ProcessRole[]
  /** Threads of a process with the role `digest`. */
  readonly digestThreads: number
  readonly signup: (typeof SIGNUP_MODES)[number]
  readonly region: (typeof REGIONS)[number] | null
  readonly ingestUrls: Readonly<Partial<Record<(typeof REGIONS)[number], string>>>
  /** `k2:<base64>,k1:…`. Null: generated in the data directory (relaxed mode only). */
  readonly encryptionKeys: string | null
  readonly trustedProxies: readonly string[]
  /** Addresses and ranges that outgoing requests may reach although they are not public. */
  readonly egressAllowCidrs: readonly string[]
  readonly egressAllowHttp: boolean
  readonly rateLimitScale: number
  /** Requests that may wait for digestion before new ones are refused. */
  readonly maxBacklogEntries: number
  /** Maximum newest events of an issue that are kept of a day; 0 keeps all. */
  readonly maxEventsPerIssueDay: number
  readonly retryScale: number
  /** Minutes between two end-to-end tests; 0 switches them off. */
  readonly canaryMinutes: number
  /** Whether new critical issues are analysed without being asked. */
  readonly analysesCritical: boolean
  readonly refreshOverlapMs: number
  readonly cookiePrefix: string
  /** `smtp://user:password@host:port` or `smtps://…`. Null: mails become files in the data directory. */
  readonly smtpUrl: string | null
  readonly mailFrom: string
  readonly oauth: {
    readonly github: { readonly clientId: string; readonly clientSecret: string; readonly baseUrl: string } | null
    readonly google: { readonly clientId: string; readonly clientSecret: string; readonly issuer: string } | null
  }
  /** Who delivers pushes; null switches a provider off. */
  readonly push: {
    readonly expo: { readonly baseUrl: string } | null
    readonly fcm: FcmSettings | null
  }
  /** Where alerts are paged: the PagerDuty Events API v2, or one of the same form. */
  readonly pagerBaseUrl: string
  readonly telegramBaseUrl: string
  /** Whether the code that verifies a setup is used up by it. */
  readonly totpStrict: boolean
  readonly passwordCheck: 'block' | 'warn' | 'off'
  readonly metricsToken: string | null
  /** Verifies what the chat platform sends. Null: the chat is not connected. */
  readonly chatSigningSecret: string | null
  readonly ai: AiSettings
  readonly backup: BackupSettings
  /** Where this process sends its metrics; null switches that off. */
  readonly otlp: OtlpSettings | null
  /** Where bodies of packed days are moved; null keeps them in the database. */
  readonly blocks: { readonly url: string | null; readonly afterDays: number }
  /** Null: no `s3://` address can be used. */
  readonly s3: S3Settings | null
  readonly logLevel: (typeof LOG_LEVELS)[number]
  readonly version: string
}

/** The service account of a Firebase project. */
export type FcmSettings = {
  readonly baseUrl: string
  readonly projectId: string
  readonly clientEmail: string
  readonly privateKey: KeyObject
  readonly privateKeyId: string | null
  readonly tokenUrl: string
}

/** Wire formats of models. */
export const AI_PROVIDERS = ['openai', 'anthropic', 'ollama'] as const

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

/** The store of all `s3://` addresses. */
export type S3Settings = {
  /** Without a trailing slash. */
  readonly endpoint: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Whether the bucket is in the path of addresses, instead of in their host name. */
  readonly pathStyle: boolean
}

/** `s3://bucket/prefix`, of characters that need no encoding. */
export const S3_ADDRESS = /^s3:\/\/([A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9])(?:\/([\w-][\w.-]*(?:\/[\w-][\w.-]*)*)?)?\/?$/

export type BackupSettings = {
  /** Where scheduled backups are written, a folder or `s3://…`; null switches them off. */
  readonly folder: string | null
  readonly everyMs: number
  /** How many backups of the folder stay after a scheduled one. */
  readonly keep: number
  /** 32 bytes; null: backups are not encrypted. */
  readonly key: Buffer | null
}

/** Export of metrics by OTLP over HTTP, in JSON. */
export type OtlpSettings = {
  readonly url: string
  /** Secret. */
  readonly headers: Readonly<Record<string, string>>
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Attributes of the resource, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>
}

/** A JetStream stream that takes requests before the database does. */
export type IntakeLogSettings = {
  /** `host:port` each. */
  readonly servers: readonly string[]
  readonly user: string | null
  readonly password: string | null
  /** Alone in front of the `@` of the address. */
  readonly token: string | null
  /** The text of a credentials file. */
  readonly credentials: string | null
  readonly isTls: boolean
  /** Certificates in PEM form that sign the servers'; null: those of the system. */
  readonly ca: string | null
  readonly stream: string
  readonly replicas: number
  readonly maxBytes: number
}

/** An invalid setting. The message is the line that the operator sees. */
export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>

const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const webUrl = z
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

const Environment = z.object({
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

const KNOWN_PREFIXED = new Set(Object.keys(Environment.shape).filter((name) => name.startsWith('FAULTLINE_')))

/** Names that `faultline upload` reads may be set on the machine of a service. */
const UPLOAD_NAMES = new Set(['FAULTLINE_URL', 'FAULTLINE_TOKEN', 'FAULTLINE_PROJECT'])

/** Returns whether a host name or address is a loopback one. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.')

/**
 * Reads and validates the environment. Nothing else reads it.
 * @throws ConfigError with one line: the variable, what is wrong and its value
 */
export function readConfig(environment: Environment = process.env): Config {
  // An empty variable counts as not set: shells and compose files unset one with `PORT= npm start`.
  const given = withSecretFiles(
    Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== '')),
  )
  for (const name of Object.keys(given)) {
    if (name.startsWith('FAULTLINE_') && !KNOWN_PREFIXED.has(name) && !UPLOAD_NAMES.has(name)) {
      throw new ConfigError(`${name} is not a setting of Faultline. Known: ${[...KNOWN_PREFIXED].join(', ')}.`)
    }
  }
  const parsed = Environment.safeParse(given)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const name = String(issue?.path[0] ?? 'environment')
    const shown = SECRET_NAMES.has(name) ? '' : ` (it is ${JSON.stringify(given[name])})`
    throw new ConfigError(`${name} ${issue?.message ?? 'is invalid'}${shown}.`)
  }
  const env = parsed.data
  const production = env.NODE_ENV === 'production'
  const mode = isLoopbackHost(env.HOST) && !production ? 'relaxed' : 'strict'
  if (mode === 'strict') {
    const why = production ? 'NODE_ENV is production' : `HOST is ${env.HOST}`
    if (env.PUBLIC_URL === undefined)
      throw new ConfigError(
        `PUBLIC_URL is required because ${why}: set it to the address that browsers and SDKs use, such as https://faultline.example.com.`,
      )
    if (env.ENCRYPTION_KEYS === undefined) {
      throw new ConfigError(
        `ENCRYPTION_KEYS is required because ${why}: set it to k1:<base64 of 32 random bytes>, for example from "echo k1:$(openssl rand -base64 32)".`,
      )
    }
  }
  if (env.COOKIE_PREFIX === '__Host-' && !(env.PUBLIC_URL ?? '').startsWith('https:')) {
    throw new ConfigError('COOKIE_PREFIX __Host- needs a PUBLIC_URL that begins with https.')
  }
  const urlHost = isIP(env.HOST) === 6 ? `[${env.HOST}]` : env.HOST
  const { version, dataFolder } = manifest()
  return Object.freeze({
    mode,
    host: env.HOST,
    port: env.PORT,
    publicUrl: env.PUBLIC_URL ?? `http://${urlHost}:${env.PORT}`,
    allowedOrigins: env.ALLOWED_ORIGINS.map((url) => new URL(url).origin),
    dataDir: resolve(env.FAULTLINE_DATA_DIR ?? dataFolder),
    dataDirIsExplicit: env.FAULTLINE_DATA_DIR !== undefined,
    databaseUrl: databaseUrlOf(env),
    intakeLog: intakeLogOf(env),
    roles: env.FAULTLINE_ROLES ?? PROCESS_ROLES,
    digestThreads: env.FAULTLINE_DIGEST_THREADS ?? defaultDigestThreads(availableParallelism()),
    signup: env.FAULTLINE_SIGNUP ?? (mode === 'relaxed' ? 'open' : 'invite'),
    region: env.FAULTLINE_REGION ?? null,
    ingestUrls: Object.freeze({
      ...(env.INGEST_URL_AF_SOUTH_1 === undefined ? {} : { 'af-south-1': env.INGEST_URL_AF_SOUTH_1 }),
      ...(env.INGEST_URL_EU_CENTRAL_1 === undefined ? {} : { 'eu-central-1': env.INGEST_URL_EU_CENTRAL_1 }),
      ...(env.INGEST_URL_US_EAST_1 === undefined ? {} : { 'us-east-1': env.INGEST_URL_US_EAST_1 }),
    }),
    encryptionKeys: env.ENCRYPTION_KEYS ?? null,
    trustedProxies: env.TRUSTED_PROXIES,
    egressAllowCidrs: env.EGRESS_ALLOW_CIDRS,
    egressAllowHttp: env.EGRESS_ALLOW_HTTP === undefined ? mode === 'relaxed' : env.EGRESS_ALLOW_HTTP === '1',
    rateLimitScale: env.RATE_LIMIT_SCALE,
    maxBacklogEntries: env.MAX_BACKLOG,
    maxEventsPerIssueDay: env.MAX_EVENTS_PER_ISSUE_DAY,
    retryScale: env.FAULTLINE_RETRY_SCALE,
    canaryMinutes: env.FAULTLINE_CANARY_MINUTES,
    analysesCritical: env.FAULTLINE_ANALYSE_CRITICAL === '1',
    refreshOverlapMs: env.REFRESH_OVERLAP_MS,
    cookiePrefix: env.COOKIE_PREFIX,
    smtpUrl: env.SMTP_URL ?? null,
    mailFrom: env.MAIL_FROM ?? `Faultline <faultline@${new URL(env.PUBLIC_URL ?? 'http://localhost').hostname}>`,
    oauth: Object.freeze({ github: githubOf(env), google: googleOf(env) }),
    push: Object.freeze({
      expo: env.EXPO_BASE_URL === undefined ? null : { baseUrl: env.EXPO_BASE_URL },
      fcm: fcmOf(env),
    }),
    pagerBaseUrl: env.PAGER_BASE_URL,
    telegramBaseUrl: env.TELEGRAM_BASE_URL,
    totpStrict: env.TOTP_STRICT === '1',
    passwordCheck: env.PASSWORD_CHECK ?? (mode === 'relaxed' ? 'warn' : 'block'),
    metricsToken: env.METRICS_TOKEN ?? null,
    chatSigningSecret: env.CHAT_SIGNING_SECRET ?? null,
    ai: aiOf(env),
    backup: Object.freeze({
      folder: backupPlaceOf(env),
      everyMs: env.BACKUP_HOURS * 3_600_000,
      keep: env.BACKUP_KEEP,
      key: backupKeyOf(env),
    }),
    otlp: otlpOf(env),
    blocks: Object.freeze({
      url: env.BLOCKS_URL === undefined ? null : s3AddressOf('BLOCKS_URL', env.BLOCKS_URL, env),
      afterDays: env.BLOCKS_AFTER_DAYS,
    }),
    s3: s3Of(env),
    logLevel: env.LOG_LEVEL,
    version,
  })
}

/** A thread keeps about two cores busy with its share of the database; intake, API and the rest need as much. */
const defaultDigestThreads = (cores: number): number => Math.min(MAX_DIGEST_THREADS, Math.max(1, Math.floor(cores / 4)))

/** Settings whose values never appear on a terminal or in a log. */
const SECRET_NAMES = new Set([
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

type Settings = z.output<typeof Environment>

/**
 * Secrets may be in files, as containers and systemd hand them over: `ENCRYPTION_KEYS_FILE` names one with the value of
 * `ENCRYPTION_KEYS`.
 * @throws ConfigError when a file cannot be read or both are set
 */
function withSecretFiles(given: Record<string, string | undefined>): Record<string, string | undefined> {
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

/** @throws ConfigError when there are two passwords, or one without an address */
function databaseUrlOf({ DATABASE_URL: url, DATABASE_PASSWORD: password }: Settings): string | null {
  if (password === undefined) return url ?? null
  if (url === undefined || !URL.canParse(url))
    throw new ConfigError('DATABASE_PASSWORD needs DATABASE_URL, an address without a password.')
  const address = new URL(url)
  if (address.password !== '')
    throw new ConfigError('DATABASE_URL has a password, and DATABASE_PASSWORD is set: keep one of them.')
  address.password = encodeURIComponent(password)
  // An address without a host, such as a socket, takes none.
  if (address.password === '')
    throw new ConfigError('DATABASE_PASSWORD needs a DATABASE_URL with a host. Put the password into DATABASE_URL.')
  return address.href
}

/** @throws ConfigError when settings of the log do not fit together; it names no content */
function intakeLogOf(env: Settings): IntakeLogSettings | null {
  const { SPOOL_URL: url, SPOOL_CREDENTIALS: credentials = null, SPOOL_CA: ca = null } = env
  if (url === undefined) {
    if (credentials !== null || ca !== null)
      throw new ConfigError(`${credentials === null ? 'SPOOL_CA' : 'SPOOL_CREDENTIALS'} needs SPOOL_URL.`)
    return null
  }
  const rest = url.slice(url.indexOf('://') + 3)
  const at = rest.lastIndexOf('@')
  const servers = list(rest.slice(at + 1))
  const [name, password] = at === -1 ? [] : partsOfUser(rest.slice(0, at)).map(decodedText)
  if (servers.length === 0 || servers.some((server) => !URL.canParse(`http://${server}`)))
    throw new ConfigError('SPOOL_URL must name servers as host:port, separated by commas.')
  if (name !== undefined && credentials !== null)
    throw new ConfigError('SPOOL_URL has a user or token, and SPOOL_CREDENTIALS is set: keep one of them.')
  return Object.freeze({
    servers,
    user: password === undefined ? null : (name ?? null),
    password: password ?? null,
    token: password === undefined ? (name ?? null) : null,
    credentials,
    isTls: url.startsWith('tls:') || ca !== null,
    ca,
    stream: env.SPOOL_STREAM,
    replicas: Number(env.SPOOL_REPLICAS),
    maxBytes: env.SPOOL_MAX_MB * 1024 * 1024,
  })
}

/** Name and password; a token alone. A password may hold colons. */
const partsOfUser = (text: string): string[] =>
  text.includes(':') ? [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)] : [text]

/** @throws ConfigError when it is not written as parts of addresses are */
function decodedText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ConfigError('SPOOL_URL has a user or password with a % that is not written as %25.')
  }
}

function githubOf(env: Settings): Config['oauth']['github'] {
  const client = clientOf('OAUTH_GITHUB', env.OAUTH_GITHUB_CLIENT_ID, env.OAUTH_GITHUB_CLIENT_SECRET)
  return client === null ? null : { ...client, baseUrl: env.OAUTH_GITHUB_BASE_URL }
}

function googleOf(env: Settings): Config['oauth']['google'] {
  const client = clientOf('OAUTH_GOOGLE', env.OAUTH_GOOGLE_CLIENT_ID, env.OAUTH_GOOGLE_CLIENT_SECRET)
  return client === null ? null : { ...client, issuer: env.OAUTH_GOOGLE_ISSUER }
}

const AI_BASE_URLS = { openai: 'https://api.openai.com/v1', anthropic: 'https://api.anthropic.com' } as const

/** @throws ConfigError when settings of the model do not fit together */
function aiOf(env: Settings): AiSettings {
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

/** @throws ConfigError when the settings of the store do not fit together */
function s3Of(env: Settings): S3Settings | null {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey, S3_REGION: region } = env
  if (accessKeyId === undefined && secretAccessKey === undefined) return null
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together: set both or none.')
  return Object.freeze({
    endpoint: env.S3_ENDPOINT ?? `https://s3.${region}.amazonaws.com`,
    region,
    accessKeyId,
    secretAccessKey,
    // MinIO, Ceph and R2 take it, and their certificates often name one host.
    pathStyle: env.S3_PATH_STYLE === undefined ? env.S3_ENDPOINT !== undefined : env.S3_PATH_STYLE === '1',
  })
}

/** @throws ConfigError for an `s3://` address that cannot be used */
function backupPlaceOf(env: Settings): string | null {
  const { BACKUP_FOLDER: given } = env
  if (given === undefined) return null
  return given.startsWith('s3:') ? s3AddressOf('BACKUP_FOLDER', given, env) : resolve(given)
}

function s3AddressOf(name: string, address: string, env: Settings): string {
  if (!S3_ADDRESS.test(address))
    throw new ConfigError(
      `${name} must be s3://bucket/prefix, of letters, digits, dots, hyphens and underscores (it is ${JSON.stringify(address)}).`,
    )
  if (env.S3_ACCESS_KEY_ID === undefined)
    throw new ConfigError(`${name} needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY, the key of the store.`)
  return address.replace(/\/$/, '')
}

const BACKUP_KEY_BYTES = 32

/** @throws ConfigError that names no content */
function backupKeyOf({ BACKUP_KEY: text }: Settings): Buffer | null {
  if (text === undefined) return null
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== BACKUP_KEY_BYTES || new Set(bytes).size < 8)
    throw new ConfigError('BACKUP_KEY must be base64 of 32 random bytes, for example from "openssl rand -base64 32".')
  return bytes
}

/** The names and meanings of OpenTelemetry. @throws ConfigError when headers or attributes are no list of pairs */
function otlpOf(env: Settings): OtlpSettings | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: own } = env
  const url = own ?? (base === undefined ? undefined : `${base}/v1/metrics`)
  if (url === undefined || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null
  const headers = pairsOf('OTEL_EXPORTER_OTLP_HEADERS', env)
  if (!Object.entries(headers).every(([name, value]) => /^[\w.-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value)))
    throw new ConfigError(
      'OTEL_EXPORTER_OTLP_HEADERS must hold names and printable values, such as authorization=Bearer%20x.',
    )
  const attributes = pairsOf('OTEL_RESOURCE_ATTRIBUTES', env)
  const name = env.OTEL_SERVICE_NAME ?? attributes['service.name'] ?? 'faultline'
  return Object.freeze({
    url,
    headers,
    intervalMs: env.OTEL_METRIC_EXPORT_INTERVAL,
    timeoutMs: env.OTEL_EXPORTER_OTLP_TIMEOUT,
    resource: { ...attributes, 'service.name': name },
  })
}

/** `name=value,name=value` with percent-encoded values. @throws ConfigError without the value */
function pairsOf(
  setting: 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES',
  env: Settings,
): Record<string, string> {
  try {
    return Object.fromEntries(
      list(env[setting] ?? '').map((pair) => {
        const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
        if (name === '') throw new URIError(pair)
        return [decodeURIComponent(name.trim()), decodeURIComponent(value.trim())]
      }),
    )
  } catch {
    throw new ConfigError(`${setting} must be name=value pairs separated by commas, with values percent-encoded.`)
  }
}

/** The parts that we use of the file that Google calls a key of a service account. */
const ServiceAccount = z.object({
  type: z.literal('service_account'),
  project_id: z.string().regex(/^[a-z0-9.:-]{1,100}$/i),
  client_email: z.string().min(3),
  private_key: z.string(),
  private_key_id: z.string().optional(),
  token_uri: webUrl.default('https://oauth2.googleapis.com/token'),
})

/** @throws ConfigError when the file is not the key of a service account; it names no content */
function fcmOf(env: Settings): FcmSettings | null {
  const path = env.FCM_SERVICE_ACCOUNT
  if (path === undefined) return null
  try {
    const account = ServiceAccount.parse(JSON.parse(readFileSync(path, 'utf8')))
    return Object.freeze({
      baseUrl: env.FCM_BASE_URL,
      projectId: account.project_id,
      clientEmail: account.client_email,
      privateKey: createPrivateKey(account.private_key),
      privateKeyId: account.private_key_id ?? null,
      tokenUrl: account.token_uri,
    })
  } catch {
    throw new ConfigError(
      `FCM_SERVICE_ACCOUNT must name a readable file with the JSON key of a service account of Firebase (it is ${JSON.stringify(path)}).`,
    )
  }
}

/** @throws ConfigError when only one of the two is set */
function clientOf(name: string, clientId: string | undefined, clientSecret: string | undefined) {
  if (clientId === undefined && clientSecret === undefined) return null
  if (clientId === undefined || clientSecret === undefined)
    throw new ConfigError(`${name}_CLIENT_ID and ${name}_CLIENT_SECRET belong together: set both or none.`)
  return { clientId, clientSecret }
}

/** The version in package.json. */
export const packageVersion = (): string => manifest().version

/** The package that npm installs names another folder of data than a checkout, whose own folder it is. */
const Manifest = z.object({ version: z.string(), dataFolder: z.string().default('data') })

const manifest = (): z.infer<typeof Manifest> =>
  Manifest.parse(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')))

/** What `faultline upload` reads, a client of a service. Null where nothing is set. */
export type UploadEnvironment = {
  readonly url: string | null
  readonly token: string | null
  /** Short name or id. */
  readonly project: string | null
  /** The folder that relative paths begin at. */
  readonly folder: string
}

/** Reads the environment of a client. Builds that use a Sentry-family tool have its names set already. */
export function readUploadEnvironment(environment: Environment = process.env): UploadEnvironment {
  const first = (...names: readonly string[]): string | null =>
    names.map((name) => environment[name]?.trim() ?? '').find((value) => value !== '') ?? null
  return {
    url: first('FAULTLINE_URL', 'SENTRY_URL'),
    token: first('FAULTLINE_TOKEN', 'SENTRY_AUTH_TOKEN'),
    project: first('FAULTLINE_PROJECT', 'SENTRY_PROJECT'),
    folder: callersFolder(environment),
  }
}

/**
 * The folder that relative paths of a command begin at. npm runs scripts in the folder of their package, and names the
 * folder that it was started in.
 */
export function callersFolder(environment: Environment = process.env): string {
  const here = process.cwd()
  return here === resolve(import.meta.dirname, '..') ? (environment['INIT_CWD'] ?? here) : here
}
