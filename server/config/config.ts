import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { readBackupPlace, readBackupKey, type BackupSettings } from './backups.ts'
import {
  PROCESS_ROLES,
  MAX_DIGEST_THREADS,
  type SIGNUP_MODES,
  type REGIONS,
  type LOG_LEVELS,
  ConfigError,
  Environment,
  KNOWN_PREFIXED,
  UPLOAD_NAMES,
  SECRET_NAMES,
  withSecretFiles,
  type ProcessRole,
  type Settings,
} from './environment.ts'
import { readFcm, type FcmSettings } from './firebase.ts'
import { readIntakeLog, type IntakeLogSettings } from './intake-log.ts'
import { manifest } from './manifest.ts'
import { readAi, type AiSettings } from './models.ts'
import { readS3, checkS3Address, type S3Settings } from './object-store.ts'
import { readOtlp, type OtlpSettings } from './otlp.ts'

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
  /** Whether a process with all roles and the embedded database writes its spool to a file, too. */
  readonly usesSpoolFile: boolean
  readonly roles: readonly ProcessRole[]
  /** Maximum threads of a process with the role `digest`: further ones than the first run while a backlog lasts. */
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
    intakeLog: readIntakeLog(env),
    usesSpoolFile: env.FAULTLINE_SPOOL_FILE === 'on',
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
      fcm: readFcm(env),
    }),
    pagerBaseUrl: env.PAGER_BASE_URL,
    telegramBaseUrl: env.TELEGRAM_BASE_URL,
    totpStrict: env.TOTP_STRICT === '1',
    passwordCheck: env.PASSWORD_CHECK ?? (mode === 'relaxed' ? 'warn' : 'block'),
    metricsToken: env.METRICS_TOKEN ?? null,
    chatSigningSecret: env.CHAT_SIGNING_SECRET ?? null,
    ai: readAi(env),
    backup: Object.freeze({
      folder: readBackupPlace(env),
      everyMs: env.BACKUP_HOURS * 3_600_000,
      keep: env.BACKUP_KEEP,
      key: readBackupKey(env),
    }),
    otlp: readOtlp(env),
    blocks: Object.freeze({
      url: env.BLOCKS_URL === undefined ? null : checkS3Address('BLOCKS_URL', env.BLOCKS_URL, env),
      afterDays: env.BLOCKS_AFTER_DAYS,
    }),
    s3: readS3(env),
    logLevel: env.LOG_LEVEL,
    version,
  })
}

/** A thread keeps two cores and more busy: the other parts of an event take longer than its digest thread (docs/scaling.md). */
export const defaultDigestThreads = (cores: number): number =>
  Math.min(MAX_DIGEST_THREADS, Math.max(1, Math.floor(cores / 2)))

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

function githubOf(env: Settings): Config['oauth']['github'] {
  const client = clientOf('OAUTH_GITHUB', env.OAUTH_GITHUB_CLIENT_ID, env.OAUTH_GITHUB_CLIENT_SECRET)
  return client === null ? null : { ...client, baseUrl: env.OAUTH_GITHUB_BASE_URL }
}

function googleOf(env: Settings): Config['oauth']['google'] {
  const client = clientOf('OAUTH_GOOGLE', env.OAUTH_GOOGLE_CLIENT_ID, env.OAUTH_GOOGLE_CLIENT_SECRET)
  return client === null ? null : { ...client, issuer: env.OAUTH_GOOGLE_ISSUER }
}

/** @throws ConfigError when only one of the two is set */
function clientOf(name: string, clientId: string | undefined, clientSecret: string | undefined) {
  if (clientId === undefined && clientSecret === undefined) return null
  if (clientId === undefined || clientSecret === undefined)
    throw new ConfigError(`${name}_CLIENT_ID and ${name}_CLIENT_SECRET belong together: set both or none.`)
  return { clientId, clientSecret }
}
