import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from './config/config.ts'
import { ConfigError } from './config/environment.ts'
import { newId } from './platform/kernel/ids.ts'

const STRICT = { NODE_ENV: 'production', PUBLIC_URL: 'https://f.example.com', ENCRYPTION_KEYS: 'k1:c2VjcmV0' }

test('an empty environment: relaxed mode, loopback, open sign-up', () => {
  expect(readConfig({})).toMatchObject({
    mode: 'relaxed',
    host: '127.0.0.1',
    port: 8000,
    publicUrl: 'http://127.0.0.1:8000',
    databaseUrl: null,
    signup: 'open',
    passwordCheck: 'warn',
    rateLimitScale: 1,
    refreshOverlapMs: 50,
    cookiePrefix: '',
    roles: ['ingest', 'api', 'digest', 'schedule', 'deliver'],
  })
})

test.each([[{ NODE_ENV: 'production' }], [{ HOST: '0.0.0.0' }], [{ HOST: '192.168.1.4' }], [{ HOST: '::' }]])(
  '%j is strict: the public address and the encryption keys are required',
  (env) => {
    expect(() => readConfig({ ...env })).toThrow(/^PUBLIC_URL is required/)
    expect(() => readConfig({ ...env, PUBLIC_URL: 'https://f.example.com' })).toThrow(/^ENCRYPTION_KEYS is required/)
    expect(readConfig({ ...STRICT, ...env })).toMatchObject({
      mode: 'strict',
      signup: 'invite',
      passwordCheck: 'block',
    })
  },
)

test.each([[{ HOST: 'localhost' }], [{ HOST: '::1' }], [{ HOST: '127.0.0.2' }]])('%j is relaxed', (env) => {
  expect(readConfig(env).mode).toBe('relaxed')
})

test('names of the upload command may be set beside the service', () => {
  expect(readConfig({ FAULTLINE_URL: 'https://x', FAULTLINE_TOKEN: 'svc_1', FAULTLINE_PROJECT: 'shop' })).toEqual(
    readConfig({}),
  )
})

describe('an invalid value throws one line that names the variable', () => {
  test.each([
    [{ FAULTLINE_SINGUP: 'open' }, 'FAULTLINE_SINGUP is not a setting of Faultline'],
    [{ PORT: 'eighty' }, 'PORT must be a number from 0 to 65535 (it is "eighty")'],
    [{ PORT: '70000' }, 'PORT must be'],
    [{ PORT: '80.5' }, 'PORT must be a whole number'],
    [{ PUBLIC_URL: 'example.com' }, 'PUBLIC_URL must be an http or https URL'],
    [{ PUBLIC_URL: 'https://u:p@example.com' }, 'PUBLIC_URL must hold no user name'],
    [{ FAULTLINE_SIGNUP: 'maybe' }, 'FAULTLINE_SIGNUP must be one of open, invite, closed'],
    [{ FAULTLINE_REGION: 'mars' }, 'FAULTLINE_REGION must be one of'],
    [{ FAULTLINE_ROLES: 'serve' }, 'FAULTLINE_ROLES must be one of'],
    [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL must begin with postgres://'],
    [{ TRUSTED_PROXIES: '10.0.0.0/8, nonsense' }, 'TRUSTED_PROXIES must be addresses'],
    [{ EGRESS_ALLOW_CIDRS: '10.0.0.0/8, nonsense' }, 'EGRESS_ALLOW_CIDRS must be addresses'],
    [{ EGRESS_ALLOW_CIDRS: '10.0.0.0/33' }, 'EGRESS_ALLOW_CIDRS must be addresses'],
    [{ EGRESS_ALLOW_CIDRS: '10.1/16' }, 'EGRESS_ALLOW_CIDRS must be addresses'],
    [{ EGRESS_ALLOW_CIDRS: '010.0.0.0/8' }, 'EGRESS_ALLOW_CIDRS must be addresses'],
    [{ EGRESS_ALLOW_CIDRS: '::ffff:10.0.0.0/104' }, 'EGRESS_ALLOW_CIDRS must be addresses'],
    [{ EGRESS_ALLOW_CIDRS: '10.0.0.0/8,0.0.0.0/0' }, 'EGRESS_ALLOW_CIDRS must not hold a range of all addresses'],
    [{ EGRESS_ALLOW_CIDRS: '::/0' }, 'EGRESS_ALLOW_CIDRS must not hold a range of all addresses'],
    [{ EGRESS_ALLOW_HTTP: 'yes' }, 'EGRESS_ALLOW_HTTP must be one of 0, 1'],
    [{ RATE_LIMIT_SCALE: '-1' }, 'RATE_LIMIT_SCALE must be'],
    [{ REFRESH_OVERLAP_MS: '20000' }, 'REFRESH_OVERLAP_MS must be'],
    [{ COOKIE_PREFIX: 'x' }, 'COOKIE_PREFIX must be empty or __Host-'],
    [{ COOKIE_PREFIX: '__Host-' }, 'COOKIE_PREFIX __Host- needs a PUBLIC_URL'],
    [{ METRICS_TOKEN: 'short' }, 'METRICS_TOKEN must be at least 16'],
    [{ CHAT_SIGNING_SECRET: 'short' }, 'CHAT_SIGNING_SECRET must be at least 16'],
    [{ BACKUP_HOURS: '0' }, 'BACKUP_HOURS must be a number from 1 to 8760'],
    [{ BACKUP_KEY: 'dG9vIHNob3J0' }, 'BACKUP_KEY must be base64 of 32 random bytes'],
    [{ BACKUP_KEY: Buffer.alloc(32).toString('base64') }, 'BACKUP_KEY must be base64 of 32 random bytes'],
    [{ BACKUP_KEY: 'x', BACKUP_KEY_FILE: '/x' }, 'BACKUP_KEY and BACKUP_KEY_FILE are both set'],
    [{ BACKUP_KEY_FILE: '/does/not/exist' }, 'BACKUP_KEY_FILE must name a readable file'],
    [{ BACKUP_FOLDER: 's3://bucket/backups' }, 'BACKUP_FOLDER needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY'],
    [{ BACKUP_FOLDER: 's3://bucket/../x' }, 'BACKUP_FOLDER must be s3://bucket/prefix'],
    [{ S3_ACCESS_KEY_ID: 'key' }, 'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY belong together'],
    [{ S3_REGION: 'Frankfurt am Main' }, 'S3_REGION must be the name of a region'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of'],
  ])('%j', (env, message) => {
    expect(() => readConfig(env)).toThrow(ConfigError)
    expect(() => readConfig(env)).toThrow(message)
    expect(() => readConfig(env)).not.toThrow('\n')
  })

  test('the line does not contain secrets', () => {
    expect(() => readConfig({ METRICS_TOKEN: 'topsecret' })).not.toThrow('topsecret')
    expect(() => readConfig({ CHAT_SIGNING_SECRET: 'topsecret' })).not.toThrow('topsecret')
    expect(() => readConfig({ BACKUP_KEY: 'topsecret' })).not.toThrow('topsecret')
    expect(() => readConfig({ DATABASE_URL: 'mysql://u:topsecret@h/d' })).not.toThrow('topsecret')
  })
})

test('an empty variable counts as not set, a public address loses its final slash', () => {
  expect(readConfig({ PORT: '', PUBLIC_URL: 'http://f.example.com/base/' })).toMatchObject({
    port: 8000,
    publicUrl: 'http://f.example.com/base',
  })
})

test('outgoing requests: http only in relaxed mode unless set, no private addresses unless listed', () => {
  expect(readConfig({})).toMatchObject({ egressAllowHttp: true, egressAllowCidrs: [] })
  expect(readConfig(STRICT)).toMatchObject({ egressAllowHttp: false, egressAllowCidrs: [] })
  expect(readConfig({ EGRESS_ALLOW_HTTP: '0' }).egressAllowHttp).toBe(false)
  expect(readConfig({ ...STRICT, EGRESS_ALLOW_HTTP: '1' }).egressAllowHttp).toBe(true)
  const ranges = ['10.0.0.0/8', '192.168.1.7', 'fd00::/8', '::1']
  expect(readConfig({ ...STRICT, EGRESS_ALLOW_CIDRS: ranges.join(', ') }).egressAllowCidrs).toEqual(ranges)
})

describe('pushes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-config-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const account = {
    type: 'service_account',
    project_id: 'shop-1234',
    private_key_id: 'abcd',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'push@shop-1234.iam.gserviceaccount.com',
  }
  const fileWith = (content: string): string => {
    const path = join(folder, `${newId()}.json`)
    writeFileSync(path, content)
    return path
  }

  test('are off unless they are configured', () => {
    expect(readConfig({ FCM_BASE_URL: 'http://127.0.0.1:1' }).push).toEqual({ expo: null, fcm: null })
    expect(readConfig({ EXPO_BASE_URL: 'https://exp.host/' }).push.expo).toEqual({ baseUrl: 'https://exp.host' })
  })

  test('read the key of a service account', () => {
    const { fcm } = readConfig({ FCM_SERVICE_ACCOUNT: fileWith(JSON.stringify(account)) }).push
    expect(fcm).toMatchObject({
      baseUrl: 'https://fcm.googleapis.com',
      projectId: 'shop-1234',
      clientEmail: account.client_email,
      privateKeyId: 'abcd',
      tokenUrl: 'https://oauth2.googleapis.com/token',
    })
    expect(fcm?.privateKey.equals(privateKey)).toBe(true)
  })

  test.each([
    ['no file', () => join(folder, 'missing.json')],
    ['no JSON', () => fileWith('secret text')],
    ['another kind of key', () => fileWith(JSON.stringify({ ...account, type: 'authorized_user' }))],
    ['a damaged key', () => fileWith(JSON.stringify({ ...account, private_key: 'secret text' }))],
  ])('refuse %s in one line without its content', (_name, path) => {
    const read = () => readConfig({ FCM_SERVICE_ACCOUNT: path() })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(/^FCM_SERVICE_ACCOUNT must name (?!.*secret).*$/)
  })
})

describe('the model of the assistant', () => {
  test('is none unless it is configured', () => {
    expect(readConfig({}).ai).toEqual({
      model: null,
      price: { input: 0, output: 0 },
      requestsPerMinute: 20,
      tokensPerDay: null,
      usdPerMonth: null,
      keepsTexts: false,
    })
  })

  test.each([
    [{ AI_PROVIDER: 'openai', AI_MODEL: 'm' }, 'https://api.openai.com/v1', null],
    [{ AI_PROVIDER: 'anthropic', AI_MODEL: 'm', AI_API_KEY: 'k' }, 'https://api.anthropic.com', 'k'],
    [{ AI_PROVIDER: 'ollama', AI_MODEL: 'm', AI_BASE_URL: 'http://127.0.0.1:11434/' }, 'http://127.0.0.1:11434', null],
  ])('%j', (env, baseUrl, apiKey) => {
    expect(readConfig(env).ai.model).toEqual({ provider: env.AI_PROVIDER, baseUrl, name: 'm', apiKey })
  })

  test.each([
    [{ AI_PROVIDER: 'other' }, /^AI_PROVIDER must be one of openai, anthropic, ollama/],
    [{ AI_PROVIDER: 'openai' }, /^AI_PROVIDER needs AI_MODEL/],
    [{ AI_MODEL: 'm' }, /^AI_MODEL needs AI_PROVIDER/],
    [{ AI_PROVIDER: 'anthropic', AI_MODEL: 'm' }, /^AI_PROVIDER anthropic needs AI_API_KEY/],
    [{ AI_PROVIDER: 'ollama', AI_MODEL: 'm' }, /^AI_PROVIDER ollama needs AI_BASE_URL/],
    [{ AI_USD_PER_MONTH: '5' }, /^AI_USD_PER_MONTH needs AI_USD_PER_MILLION_INPUT_TOKENS/],
    [{ AI_PROVIDER: 'openai', AI_MODEL: 'm', AI_API_KEY: 'secret key' }, /^AI_API_KEY must (?!.*secret)/],
  ])('%j is refused', (env, line) => {
    expect(() => readConfig(env)).toThrow(line)
  })
})

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-secrets-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (text: string): string => {
    const path = join(folder, newId())
    writeFileSync(path, text)
    return path
  }

  test('are read, without the line break at their end', () => {
    const { ENCRYPTION_KEYS: keys, ...env } = STRICT
    const backupKey = Buffer.from(Array.from({ length: 32 }, (_, index) => index))
    const config = readConfig({
      ...env,
      ENCRYPTION_KEYS_FILE: file(`${keys}\n`),
      METRICS_TOKEN_FILE: file('m'.repeat(20)),
      BACKUP_KEY_FILE: file(`${backupKey.toString('base64')}\n`),
    })
    expect(config).toMatchObject({ encryptionKeys: keys, metricsToken: 'm'.repeat(20), backup: { key: backupKey } })
  })

  test('the password of the database goes into its address', () => {
    const DATABASE_URL = 'postgres://faultline@db.internal:5433/faultline?sslmode=verify-full'
    const { databaseUrl } = readConfig({ DATABASE_URL, DATABASE_PASSWORD_FILE: file('p@ss/w%rd:é\n') })
    const url = new URL(databaseUrl ?? '')
    expect(decodeURIComponent(url.password)).toBe('p@ss/w%rd:é')
    expect(url.host + url.pathname + url.search).toBe('db.internal:5433/faultline?sslmode=verify-full')
  })

  test('the address of the intake log names servers, and a user or a token', () => {
    const { intakeLog } = readConfig({ SPOOL_URL_FILE: file('nats://me:p%40ss%3Aword@a:4222,b:4222,c\n') })
    expect(intakeLog).toMatchObject({
      servers: ['a:4222', 'b:4222', 'c'],
      user: 'me',
      password: 'p@ss:word',
      token: null,
    })
    expect(intakeLog).toMatchObject({ isTls: false, stream: 'faultline_spool', replicas: 3, maxBytes: 4 * 1024 ** 3 })
    expect(readConfig({ SPOOL_URL: 'nats://me:a:b@c' }).intakeLog).toMatchObject({ user: 'me', password: 'a:b' })
    expect(readConfig({ SPOOL_URL: 'tls://secret@a' }).intakeLog).toMatchObject({
      user: null,
      token: 'secret',
      isTls: true,
    })
    expect(readConfig({}).intakeLog).toBeNull()
  })

  test.each([
    [{ SPOOL_URL: 'nats://me:hidden-word@' }, 'SPOOL_URL must name servers'],
    [{ SPOOL_URL: 'nats://me:%hidden-word@a' }, 'SPOOL_URL has a user or password with a %'],
    [{ SPOOL_URL: 'http://hidden-word@a' }, 'SPOOL_URL must be nats://'],
    [{ SPOOL_URL: 'nats://me@a', SPOOL_CREDENTIALS: 'hidden-word' }, 'SPOOL_URL has a user or token'],
    [{ SPOOL_CA: 'hidden-word' }, 'SPOOL_CA needs SPOOL_URL'],
    [
      { DATABASE_URL: 'postgres:///f?host=/run/x', DATABASE_PASSWORD: 'p' },
      'DATABASE_PASSWORD needs a DATABASE_URL with a host',
    ],
    [{ METRICS_TOKEN_FILE: join(folder, 'none') }, 'METRICS_TOKEN_FILE must name a readable file'],
    [{ METRICS_TOKEN_FILE: file('\n') }, 'METRICS_TOKEN_FILE names an empty file'],
    [
      { METRICS_TOKEN: 'm'.repeat(20), METRICS_TOKEN_FILE: file('m'.repeat(20)) },
      'METRICS_TOKEN and METRICS_TOKEN_FILE are both set',
    ],
    [{ DATABASE_PASSWORD: 'hidden-word' }, 'DATABASE_PASSWORD needs DATABASE_URL'],
    [
      { DATABASE_PASSWORD: 'hidden-word', DATABASE_URL: 'postgres://f:other-word@db/f' },
      'DATABASE_URL has a password, and DATABASE_PASSWORD is set',
    ],
  ])('%j ends with a line', (env, line) => {
    expect(() => readConfig(env)).toThrow(line)
    expect(() => readConfig(env)).not.toThrow(/-word/)
  })
})
