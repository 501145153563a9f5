import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { client } from '#test/kit/client.ts'
import { nothingRunsIn } from '#test/kit/processes.ts'
import { waitFor } from '#test/kit/wait.ts'
import { launch, makeScratch, type Start } from '../flows/installation.ts'

/** The package as users have it: packed, installed into an empty folder, and run without the checkout. */

const root = join(import.meta.dirname, '../..')
const scratch = makeScratch()
const folder = join(scratch.path, 'home')
const SDK_APP = join(root, 'test/flows/apps/node-app.mjs')
const EMAIL = 'ada@example.com'
const PASSWORD = 'quartz-lantern-harbour-7'

/** The output of the build. */
let built = ''

const Lockfile = z.object({ packages: z.record(z.string(), z.object({ version: z.string() })) })
const Bill = z.object({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.literal('1.6'),
  components: z.array(
    z.object({
      'bom-ref': z.string(),
      name: z.string(),
      version: z.string().min(1),
      purl: z.string().startsWith('pkg:npm/'),
      licenses: z.array(z.object({ expression: z.string() })),
    }),
  ),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
})
type Bill = z.infer<typeof Bill>

beforeAll(() => {
  const script = join(root, 'scripts/package/write-package.ts')
  built = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script, `--out=${scratch.path}`], {
    cwd: root,
    encoding: 'utf8',
  })
  const [archive = ''] = readdirSync(scratch.path).filter((name) => name.endsWith('.tgz'))
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{}')
  if (process.env['PACKAGE_FROM_REGISTRY'] === '1') installFromRegistry(join(scratch.path, archive))
  else installFromCheckout(join(scratch.path, archive))
}, 300_000)

afterAll(async () => {
  await nothingRunsIn(scratch.path)
  scratch.remove()
})

function installFromRegistry(archive: string): void {
  execFileSync('npm', ['install', '--no-audit', '--no-fund', archive], { cwd: folder, stdio: 'ignore' })
}

/** Without a network: the packages that the lockfile of the package names, and no other, from those of this checkout. */
function installFromCheckout(archive: string): void {
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  execFileSync('tar', ['-xzf', archive, '-C', packages])
  execFileSync('mv', [join(packages, 'package'), join(packages, 'faultline')])
  const { packages: locked } = Lockfile.parse(JSON.parse(inPackage('npm-shrinkwrap.json')))
  for (const path of Object.keys(locked).filter((name) => existsSync(join(root, name)) && name !== '')) {
    // Folders of nested packages came with the package around them.
    if (existsSync(join(folder, path))) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    const link = spawnSync('cp', ['-al', join(root, path), join(folder, path)], { stdio: 'ignore' })
    if (link.status !== 0) execFileSync('cp', ['-a', join(root, path), join(folder, path)])
  }
  mkdirSync(join(packages, '.bin'))
  symlinkSync('../faultline/scripts/faultline.mjs', join(packages, '.bin/faultline'))
}

const inPackage = (path: string): string => readFileSync(join(folder, 'node_modules/faultline', path), 'utf8')
const PROGRAM = 'node_modules/.bin/faultline'
const run = (...args: string[]) => spawnSync(join(folder, PROGRAM), args, { cwd: folder, encoding: 'utf8' })

async function start(): Promise<Start & { line: string }> {
  const started = await launch(folder, { program: PROGRAM })
  onTestFinished(() => started.killHard())
  return { ...started, line: await started.ready() }
}

test('faultline serves what an SDK sends, and has it after a restart', async () => {
  const first = await start()
  expect(first.line).toContain(`data in ${join(folder, 'faultline-data')},`)
  expect(await (await fetch(first.url)).text()).toContain('<div id="root"')
  expect((await fetch(`${first.url}/api/openapi.json`)).status).toBe(200)

  const person = client(first.url)
  await person.post('/api/auth/signup', { email: EMAIL, password: PASSWORD, name: 'Ada', org: 'Engines' })
  await person.post('/api/auth/login', { email: EMAIL, password: PASSWORD })
  const project = await person.post('/api/projects', { name: 'Shop', platform: 'web', region: 'eu-central-1' })
  const sent = spawnSync(process.execPath, [SDK_APP, 'sentry-node-11', 'handled'], {
    env: { PATH: process.env['PATH'], SENTRY_DSN: String(project.body['dsn']) },
    encoding: 'utf8',
  })
  expect(sent).toMatchObject({ status: 0, stderr: '' })
  const titles = async (by: typeof person): Promise<string[]> => {
    const answer = await by.get('/api/issues')
    return answer.as<{ items: { title: string }[] }>().items.map(({ title }) => title)
  }
  await waitFor('the issue', async () => (await titles(person)).length > 0)
  expect(await titles(person)).toEqual(['PaymentError: charge failed'])

  const sessions = run('user', 'sessions', '--email', EMAIL)
  expect(sessions.status, sessions.stderr).toBe(0)
  expect(sessions.stdout).toContain('1 session')

  first.interrupt()
  expect(await first.exited).toBe(0)
  const second = await start()
  const again = client(second.url)
  expect((await again.post('/api/auth/login', { email: EMAIL, password: PASSWORD })).status).toBe(200)
  expect(await titles(again)).toEqual(['PaymentError: charge failed'])
  second.interrupt()
  expect(await second.exited).toBe(0)
})

test('the build says how large the package is', () => {
  expect(built).toMatch(/faultline-.*\.tgz: [\d,]+ files, [\d.]+ MB, [\d.]+ MB packed\n$/)
})

test('faultline --help lists the commands', () => {
  const { status, stdout } = run('--help')
  expect(status).toBe(0)
  for (const name of ['serve', 'migrate', 'owner', 'user', 'keys', 'import', 'upload'])
    expect(stdout).toContain(`  ${name} `)
})

test('the package has its licence, notices and a bill of materials that names each locked package', () => {
  expect(inPackage('LICENSE')).toContain('MIT License')
  expect(inPackage('THIRD-PARTY-NOTICES').length).toBeGreaterThan(10_000)
  const bill: Bill = Bill.parse(JSON.parse(inPackage('sbom.cdx.json')))
  const named = new Set(bill.components.map(({ name, version }) => `${name} ${version}`))
  const { packages } = Lockfile.parse(JSON.parse(inPackage('npm-shrinkwrap.json')))
  const locked = Object.entries(packages).filter(([path]) => path !== '')
  const missing = locked.filter(
    ([path, { version }]) => !named.has(`${path.replace(/^.*node_modules\//, '')} ${version}`),
  )
  expect(missing).toEqual([])
  // Packages that are built into the dashboard are not installed.
  expect([...named].some((one) => one.startsWith('react '))).toBe(true)
  expect(packages['node_modules/react']).toBeUndefined()
  const references = new Set(bill.components.map((one) => one['bom-ref']))
  expect(references.size).toBe(bill.components.length)
  const dangling = bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((one) => !references.has(one))
  expect(dangling).toEqual([])
})
