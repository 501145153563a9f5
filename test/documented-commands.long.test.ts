import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Service, startService } from '#bench/service.ts'
import { SCOPES } from '#shared/permissions.ts'
import { documentedCommands, NOT_RUN, notRunBecause } from '#test/kit/documented-commands.ts'
import { fakeSentry, type FakeSentry } from '#test/kit/fake-sentry.ts'
import { readSamples } from '#test/kit/samples.ts'
import { startS3Server, type S3Server } from '#test/kit/s3-server.ts'
import { anEvent } from '#test/kit/sdk.ts'
import { zipOf } from '#test/kit/zip.ts'

/**
 * Runs every command of README.md and docs/ against a real service: each block of shell as a script, each span of code on its own.
 * Programs and commands of `NOT_RUN` are replaced by one that only notes its arguments.
 */

const root = join(import.meta.dirname, '..')
const ENCRYPTION_KEYS = `k1:${randomBytes(32).toString('base64')}`
const OWNER = { email: 'owner@example.com', password: 'correct horse battery staple 42' }
const OTHER = { email: 'other@example.com', password: 'another horse battery staple 43' }
const folder = mkdtempSync(join(tmpdir(), 'faultline-docs-'))
const at = (...parts: string[]): string => join(folder, ...parts)
/** Like a clone of the repository: a command may write into it. */
const checkout = at('checkout')
const noted = at('noted')

let service: Service
let sentry: FakeSentry
let s3: S3Server
/** Settings of the service and of the operator's commands. */
let settings: Record<string, string> = {}
/** Blocks take these from the environment. */
let variables: Record<string, string> = {}
/** Texts of pages, and what stands for them here; in this order. */
let replacements: (readonly [shown: string | RegExp, real: string])[] = []

beforeAll(async () => {
  chmodSync(folder, 0o755)
  makeCheckout()
  writeShims()
  ;[sentry, s3] = await Promise.all([
    fakeSentry(new Date(), [{ id: '7', slug: 'shop', platform: 'javascript', publicKey: 'f'.repeat(32), issues: [] }]),
    startS3Server(),
  ])
  settings = {
    ENCRYPTION_KEYS,
    FAULTLINE_DATA_DIR: at('data'),
    // The sources of the test have addresses of this machine.
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    EGRESS_ALLOW_HTTP: '1',
    S3_ENDPOINT: s3.url,
    S3_REGION: s3.settings.region,
    BLOCKS_URL: 's3://bucket/blocks',
    S3_ACCESS_KEY_ID: s3.settings.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.settings.secretAccessKey,
  }
  // Without a build of the dashboard, which no command needs.
  const command = [process.execPath, join(root, 'server/main.ts'), 'serve']
  service = await startService({ dataDir: at('data'), env: settings, command })
  settings['PUBLIC_URL'] = service.url
  writeFileSync(at('run/secrets/s3'), s3.settings.secretAccessKey)
  const { projectId, number, publicKey, cookie, key } = await signUp()
  const release = await call('/api/releases', { projectId, version: '4.11.0' }, cookie)
  variables = {
    FAULTLINE: service.url,
    KEY: key,
    PROJECT: projectId,
    RELEASE: z.object({ id: z.string() }).parse(release).id,
    COOKIES: cookie,
    PASSWORD: 'secret',
    IMPORT_TOKEN: sentry.token,
  }
  replacements = [
    ['https://sentry.example.com', sentry.url],
    ['--url <address>', `--url ${sentry.url}`],
    ['https://minio.example.com S3_ACCESS_KEY_ID=…', `${s3.url} S3_ACCESS_KEY_ID=${s3.settings.accessKeyId}`],
    ['s3://backups/', 's3://bucket/'],
    [/\/api\/7\/([^'"\s]*?)KEY/g, `/api/${number}/$1${publicKey}`],
    [/https:\/\/faultline\.example(?:\.com)?(?=[/\s])/g, service.url],
    ['0198f…', projectId],
    ['services/…', 'services/T0/B0/example'],
    ['IMPORT_TOKEN=…', `IMPORT_TOKEN=${sentry.token}`],
    ['ENCRYPTION_KEYS=…', `ENCRYPTION_KEYS=${ENCRYPTION_KEYS}`],
    ['svc_…', key],
    ['/usr/local/bin/backup', 'true'],
    [/<folder(?: or [^>]*)?>|\[folder\]|\/mnt\/backups/g, at('backups')],
    ['[--name <name>]', ''],
    ['--new-org <name>', '--new-org Second'],
    [/(owner create .*)<address>/, '$1new@example.com'],
    ['<address>', OTHER.email],
    [/--org <slug> --project <slug>/g, '--org meadowlark --project shop'],
    [/\[?--org <slug>\]?/g, '--org meadowlark'],
    ['[--session <id>]', ''],
    ['<domain>', 'example.com'],
    ['<files>', 'events.ndjson'],
    ['[ids]', '--all'],
    ['< file', '< password'],
    ['/opt/faultline run', `${checkout} run`],
    ['/path/to/data/run', at('data/run')],
    [/(?<=[\s"'=])\/(etc|opt|srv|run|path)(?=\/)/g, at('$1')],
    ['<name> [--seed=n] [--full]', 'kill-intake'],
  ]
}, 240_000)

afterAll(async () => {
  await service?.stop()
  await sentry?.close()
  await s3?.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
})

/** The sources behind links, and the files that commands name. */
function makeCheckout(): void {
  mkdirSync(checkout)
  for (const name of readdirSync(root).filter((entry) => !['.git', 'build', 'package.json'].includes(entry)))
    symlinkSync(join(root, name), join(checkout, name))
  cpSync(join(root, 'package.json'), join(checkout, 'package.json'))
  const artefact = (name: string): Buffer => readFileSync(join(root, 'test/fixtures/samples/artefacts', name))
  const event = { ...anEvent({ error: 'old' }), timestamp: '2026-01-02T03:04:05Z' }
  const sentAt = '2026-01-02T03:04:05Z'
  const body = JSON.stringify({ ...event, event_id: 'f'.repeat(32) })
  const [dump] = readSamples(/^\/api\/4501\/minidump\//).filter(({ headers }) => headers['content-encoding'] === 'gzip')
  const files: Record<string, string | Buffer> = {
    'events.ndjson': `${JSON.stringify(event)}\n`,
    'more.envelope': `${JSON.stringify({ event_id: 'f'.repeat(32), sent_at: sentAt })}\n{"type":"event"}\n${body}\n`,
    password: `${OTHER.password} again\n`,
    'crash.dmp': dump === undefined ? '' : gunzipSync(dump.body),
    'dist/app.js.map': artefact('app.min.js.map'),
    'dist/app.js': artefact('app.min.js'),
    'Shop.dSYM.zip': zipOf({ 'Shop.dSYM/Contents/Resources/DWARF/Acme': artefact('Acme.dSYM-DWARF.macho') }),
    'app/build/outputs/mapping/release/mapping.txt': artefact('proguard-mapping.txt'),
    'build/Shop.xcarchive/dSYMs/Acme.dSYM/Contents/Resources/DWARF/Acme': artefact('Acme.dSYM-DWARF.macho'),
    'app/build/intermediates/merged_native_libs/libacme.so': artefact('libacme.so'),
    'build/symbols/libgame.so': artefact('libgame.so'),
    '../etc/systemd/system/other.service': '',
    '../run/secrets/other': '',
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, name)), { recursive: true })
    writeFileSync(join(checkout, name), content)
  }
}

/** Programs that note their arguments instead of running; curl also notes the statuses of its answers. */
function writeShims(): void {
  mkdirSync(at('bin'))
  const shim = (name: string, script: string): void =>
    writeFileSync(at('bin', name), `#!/bin/bash\n${script}\n`, { mode: 0o755 })
  const real = (name: string): string =>
    (process.env['PATH'] ?? '')
      .split(delimiter)
      .map((one) => join(one, name))
      .find(existsSync) ?? `/usr/bin/${name}`
  const programs = new Set(NOT_RUN.map(({ starts }) => starts.split(' ', 1)[0] ?? ''))
  for (const name of programs) if (name !== 'npm') shim(name, `echo "${name} $*" >> ${noted}`)
  const known = NOT_RUN.filter(({ starts }) => starts.startsWith('npm ')).map(({ starts }) => `"${starts.slice(4)}"*`)
  shim(
    'npm',
    `case "$*" in
  *" --help") ;;
  ${known.join('|')}) echo "npm $*" >> ${noted}; exit 0 ;;
  *"admin -- restore"*) export FAULTLINE_DATA_DIR=$(mktemp -d ${at('restored-XXXX')}); chmod 755 $FAULTLINE_DATA_DIR ;;
esac
exec ${real('npm')} "$@"`,
  )
  shim('curl', `exec ${real('curl')} -w '%{stderr}curl answered %{http_code}\\n' "$@"`)
}

async function call(path: string, body: unknown, cookie = '', method = 'POST'): Promise<unknown> {
  const response = await fetch(service.url + path, {
    method,
    headers: { 'content-type': 'application/json', origin: service.url, cookie },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response.json()
}

async function signUp() {
  await call('/api/auth/signup', { ...OWNER, name: 'Owner', org: 'Meadowlark' })
  await call('/api/auth/signup', { ...OTHER, name: 'Other', org: 'Acme' })
  const login = await fetch(`${service.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: service.url },
    body: JSON.stringify(OWNER),
  })
  const cookie = login.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ')
  const made = await call('/api/projects', { name: 'Shop', platform: 'web', region: 'eu-central-1' }, cookie)
  const project = z.object({ id: z.string(), number: z.number(), dsn: z.string() }).parse(made)
  const { key } = z
    .object({ key: z.string() })
    .parse(await call('/api/api-keys', { name: 'docs', scopes: SCOPES }, cookie))
  return { projectId: project.id, number: project.number, publicKey: new URL(project.dsn).username, cookie, key }
}

const realised = (text: string): string =>
  replacements.reduce(
    (script, [shown, real]) => script.replaceAll(typeof shown === 'string' ? shown : new RegExp(shown, 'g'), real),
    text,
  )

type Ran = { readonly code: number; readonly output: string; readonly statuses: number[] }

async function run(text: string): Promise<Ran> {
  const env = {
    PATH: `${at('bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    HOME: at('home'),
    npm_config_update_notifier: 'false',
    // A secret is either in a variable or in a file.
    ...Object.fromEntries(Object.entries(settings).filter(([name]) => !text.includes(`${name}_FILE=`))),
    ...variables,
  }
  return new Promise((resolve) => {
    const child = execFile(
      'bash',
      ['-e', '-o', 'pipefail', '-c', realised(text)],
      { cwd: checkout, env, timeout: 120_000 },
      (_error, out, err) => {
        const output = `${out}\n${err}`
        const answered = [...output.matchAll(/curl answered (\d+)/g)].map(([, status]) => Number(status))
        resolve({ code: child.exitCode ?? -1, output, statuses: answered })
      },
    )
    child.stdin?.end()
  })
}

/** Commands that say by their exit code that something is missing here; all others end with 0. */
const ENDS: Readonly<Record<string, { readonly code: number; readonly says: string }>> = {
  'npm run admin -- user disable-2fa --email <address>': {
    code: 1,
    says: 'Two-factor authentication of this user is off.',
  },
  'npm run admin -- sso verify-domain --org <slug> --domain <domain>': { code: 1, says: 'an owner must add it first' },
  'npm run admin -- signing-keys rotate': { code: 1, says: 'was published less than ten minutes ago' },
  // The embedded database belongs to the service that runs.
  'npm run admin -- migrate': { code: 1, says: 'Faultline already runs on' },
}

const commands = documentedCommands().filter(({ text, isBlock }) => isBlock || notRunBecause(text) === null)

test.each(commands)('$page: $text', async ({ text }) => {
  const { code = 0, says = '' } = ENDS[text.trim()] ?? {}
  const ran = await run(text)
  expect(ran.code, ran.output).toBe(code)
  expect(ran.output).toContain(says)
  for (const status of ran.statuses) expect(status, ran.output).toBeOneOf([200, 201, 202])
  expect(ran.statuses.length).toBeGreaterThanOrEqual(/^\s*curl /m.test(text) ? 1 : 0)
})
