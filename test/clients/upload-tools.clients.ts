import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { MissingSymbols } from '../../server/issues/missing-symbols/missing-symbols.api.ts'
import type { Issue } from '../../server/issues/rules/issue.api.ts'
import type { IssueDetail } from '../../server/issues/triage/issues.api.ts'
import type { WholeRelease } from '../../server/projects/releases/releases.api.ts'
import { aFounder, aProject } from '../kit/founder.ts'
import { freePort } from '../kit/free-port.ts'
import { newEventId } from '../kit/sdk.ts'
import { testServer } from '../kit/test-server.ts'
import { waitFor } from '../kit/wait.ts'
import { localDsn, run } from './run.ts'

/**
 * Published upload tools, unmodified, against the service: what they upload makes crashes readable. They know the service
 * from the environment variables that the page Symbols shows.
 */

const here = import.meta.dirname
const fixtures = join(here, '../fixtures')
const app = join(here, 'apps/minified')

// Tools upload chunks to the address that the service says.
const server = await testServer({
  realTime: true,
  digestion: 'inline',
  jobs: true,
  env: { PORT: String(await freePort()) },
})

/** Tests mostly wait: those of all groups run beside each other. */
const BESIDE = { concurrent: true }

/** A project, a folder to work in, and the environment of a build there. */
async function aBuild() {
  const person = await aFounder(server.url)
  const project = await aProject(person)
  const { org } = (await person.get('/api/me')).as<{ org: { slug: string } }>()
  const scopes = ['uploads:write', 'releases:write', 'releases:read', 'projects:read']
  const { key } = (await person.post('/api/api-keys', { name: 'CI', scopes })).as<{ key: string }>()
  const folder = mkdtempSync(join(tmpdir(), 'upload-tools-'))
  server.onClose(() => {
    rmSync(folder, { recursive: true, force: true })
    return Promise.resolve()
  })
  const env = {
    HOME: folder,
    SENTRY_URL: server.url,
    SENTRY_ORG: org.slug,
    SENTRY_PROJECT: project.slug,
    SENTRY_AUTH_TOKEN: key,
    SENTRY_CLI_NO_TELEMETRY: '1',
    SENTRY_CLI_NO_UPDATE_CHECK: '1',
    SENTRY_DISABLE_UPDATE_CHECK: 'true',
    DO_NOT_TRACK: '1',
  }
  /** Runs a program in the folder; it must succeed. */
  const must = async (...command: string[]): Promise<string> => {
    const { code, output } = await run(command, { env, cwd: folder })
    expect(code, `${command.join(' ')}\n${output}`).toBe(0)
    return output
  }
  return { person, project, org: org.slug, folder, env, must }
}
type Build = Awaited<ReturnType<typeof aBuild>>

const build = (...words: string[]): string[] => [process.execPath, join(app, 'build.mjs'), ...words]

/** Runs the built app, which crashes, and reads its event when every file is indexed. */
async function expectReadableCrash({ person, project, folder, env }: Build): Promise<void> {
  await indexed(person, project.id)
  const sdk = `file://${join(app, 'sdk.mjs')}`
  const { code, output } = await run([process.execPath, '--import', sdk, join(folder, 'dist/main.mjs')], {
    env: { ...env, SENTRY_DSN: localDsn(project.dsn, server.url), SENTRY_RELEASE: 'shop@1.0.0' },
  })
  expect(code, output).toBe(1)
  const issue = await newestIssue(person, project.id)
  const frames = issue.event?.exceptions.at(-1)?.stacktrace?.frames ?? []
  const shown = frames.filter(({ raw }) => raw !== undefined).toReversed()
  const [innermost] = shown
  expect(innermost, JSON.stringify(issue.event)).toMatchObject({ lineno: 13, in_app: true })
  expect(innermost?.filename).toMatch(/(?:^|\/)cart\.js$/)
  expect(innermost?.context_line).toBe('    return items.filter((item) => item.quantity > 0)')
  expect(shown.map((frame) => frame.function)).toEqual(expect.arrayContaining(['Cart.items', 'Cart.total', 'checkout']))
}

type Person = Build['person']

const Listed = z.object({
  items: z.array(z.object({ state: z.string(), problem: z.string().nullable(), debug_id: z.string().nullable() })),
})

/** Indexing yields to everything else on a busy machine. */
const INDEXING_TIMEOUT_MS = 90_000

/** Waits until all files of a project are indexed. @returns their debug ids */
async function indexed(person: Person, projectId: string): Promise<(string | null)[]> {
  const read = async (): Promise<(string | null)[] | null> => {
    const answers = await Promise.all(
      ['source-maps', 'dsyms'].map((kind) => person.get(`/api/projects/${projectId}/${kind}`)),
    )
    const files = answers.flatMap(({ body }) => Listed.parse(body).items)
    expect(files.filter(({ state }) => state === 'failed')).toEqual([])
    return files.length > 0 && files.every(({ state }) => state === 'ready') ? files.map((one) => one.debug_id) : null
  }
  return waitFor('files to be indexed', read, INDEXING_TIMEOUT_MS)
}

async function newestIssue(person: Person, projectId: string): Promise<IssueDetail> {
  const [issue] = await waitFor('an issue', async () => {
    const { items } = (await person.get(`/api/issues?projectId=${projectId}`)).as<{ items: Issue[] }>()
    return items.length > 0 ? items : null
  })
  return (await person.get(`/api/issues/${issue?.id}`)).as<IssueDetail>()
}

// ---- Command lines -------------------------------------------------------------------------------------------------

const fromHere = createRequire(join(here, 'x.js'))

/** The program of sentry-cli, which the package for the platform brings; null where there is none. */
function rustProgram(packageName: string): string | null {
  try {
    const near = createRequire(fromHere.resolve(`${packageName}/package.json`))
    return near.resolve(`@sentry/cli-${process.platform}-${process.arch}/bin/sentry-cli`)
  } catch {
    return null
  }
}

const RUST = {
  inject: ['sourcemaps', 'inject'],
  upload: ['sourcemaps', 'upload'],
  proguard: ['upload-proguard'],
  debugFiles: ['debug-files', 'upload', '--wait'],
  release: (_org: string, _project: string, version: string) => [
    ['releases', 'new', version],
    ['releases', 'set-commits', version, '--local'],
    ['releases', 'finalize', version],
    ['deploys', 'new', '--release', version, '--env', 'production', '--name', 'build 77'],
  ],
}
const TYPESCRIPT = {
  inject: ['sourcemap', 'inject'],
  upload: ['sourcemap', 'upload'],
  proguard: ['proguard', 'upload'],
  debugFiles: ['debug-files', 'upload', '--wait'],
  release: (org: string, project: string, version: string) => [
    ['release', 'create', `${org}/${version}`, '--project', project],
    ['release', 'set-commits', `${org}/${version}`, '--local'],
    ['release', 'finalize', `${org}/${version}`],
    ['release', 'deploy', `${org}/${version}`, 'production', 'build 77'],
  ],
}

const AUTHOR = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com']
const hasGit = spawnSync('git', ['--version']).status === 0

const typescript = join(here, 'node_modules/sentry/dist/bin.cjs')
const rust3 = rustProgram('@sentry/cli')
const rust2 = rustProgram('sentry-cli-2')
const COMMAND_LINES = [
  { name: 'sentry-cli 3.8.0', program: rust3 === null ? null : [rust3], words: RUST },
  { name: 'sentry-cli 2.58.6', program: rust2 === null ? null : [rust2], words: RUST },
  {
    name: 'sentry 0.49.0 (TypeScript)',
    program: existsSync(typescript) ? [process.execPath, typescript] : null,
    words: TYPESCRIPT,
  },
]

for (const { name, program, words } of COMMAND_LINES) {
  const title = program === null ? `${name} (it has no program for this machine)` : name
  describe.skipIf(program === null)(title, BESIDE, () => {
    const tool = program ?? []

    test('a minified crash is readable after inject and upload', async () => {
      const one = await aBuild()
      await one.must(...build('esbuild', join(one.folder, 'dist')))
      await one.must(...tool, ...words.inject, 'dist')
      await one.must(...tool, ...words.upload, 'dist')
      await expectReadableCrash(one)
    })

    test('mappings and debug files are stored and indexed', async () => {
      const one = await aBuild()
      const artefacts = join(fixtures, 'samples/artefacts')
      mkdirSync(join(one.folder, 'debug'))
      for (const file of ['Acme.dSYM-DWARF.macho', 'libgame.so', 'libacme.so', 'libacme.so.debug'])
        cpSync(join(artefacts, file), join(one.folder, 'debug', file))
      await one.must(...tool, ...words.proguard, join(artefacts, 'proguard-mapping.txt'))
      await one.must(...tool, ...words.debugFiles, 'debug')
      expect(new Set(await indexed(one.person, one.project.id))).toEqual(
        new Set([
          '4c4c44ac-5555-3144-a154-d2d28fc21b39',
          '47e097d5-0c96-92d5-cd45-1f9874e73dd7',
          '62b290d9-67a1-49aa-fa42-91caf18135a0',
          'bcc0ed9d-5b8f-5d9e-8f08-35edec4a0f10',
        ]),
      )
    })

    test.skipIf(!hasGit)(
      `a release has its commits, date and deploy${hasGit ? '' : ' (git is not installed)'}`,
      async () => {
        const one = await aBuild()
        await one.must('git', 'init', '--quiet')
        await one.must('git', ...AUTHOR, 'commit', '--quiet', '--allow-empty', '--message', 'cart: count lamps')
        for (const step of words.release(one.org, one.project.slug, 'mobile@1.4.0+77')) await one.must(...tool, ...step)
        const listed = await one.person.get(`/api/releases?projectId=${one.project.id}`)
        const [listedRelease] = listed.as<{ items: { id: string }[] }>().items
        const release = (await one.person.get(`/api/releases/${listedRelease?.id}`)).as<WholeRelease>()
        expect(release).toMatchObject({
          version: 'mobile@1.4.0+77',
          released_at: expect.any(String) as string,
          commits: [
            {
              id: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
              message: expect.stringContaining('cart: count lamps') as string,
            },
          ],
          deploys: [{ environment: 'production', name: 'build 77' }],
        })
      },
    )
  })
}

// ---- The worklist --------------------------------------------------------------------------------------------------

const HermesMap = z.object({ hermes: z.object({ map: z.unknown() }) })
const readJson = (name: string): unknown => JSON.parse(readFileSync(join(fixtures, name), 'utf8'))

for (const { name, program } of COMMAND_LINES.filter(({ words }) => words === RUST)) {
  describe.skipIf(program === null)(`commands of the worklist with ${name}`, BESIDE, () => {
    test('empty it', async () => {
      const one = await aBuild()
      const crash = {
        platform: 'java',
        exception: {
          values: [{ type: 'E', stacktrace: { frames: [{ module: 'a.a.b', function: 'b', lineno: 6 }] } }],
        },
        debug_meta: { images: [{ type: 'proguard', uuid: 'bcc0ed9d-5b8f-5d9e-8f08-35edec4a0f10' }] },
      }
      const recorded = ['react-native', 'ios', 'web'].map((app) => readJson(`crashes/${app}/event.json`))
      const events = z.array(z.record(z.string(), z.unknown())).parse([crash, ...recorded])
      const timestamp = server.app.clock.now().getTime() / 1000
      await server.events(
        one.project,
        events.map((event) => ({ ...event, event_id: newEventId(), timestamp })),
      )
      const missing = async () =>
        (await one.person.get(`/api/projects/${one.project.id}/missing-symbols`)).as<MissingSymbols>()
      const { items } = await missing()
      expect(items).toHaveLength(4)

      // As builds leave them where the commands look.
      const put = (file: string, content: string | Buffer): void => {
        mkdirSync(join(one.folder, file, '..'), { recursive: true })
        writeFileSync(join(one.folder, file), content)
      }
      const { hermes } = HermesMap.parse(readJson('source-maps/hermes.json'))
      put('dist/index.android.bundle.map', JSON.stringify(hermes.map))
      put('dist/shop-CDogiW7m.js.map', readFileSync(join(fixtures, 'crashes/web/shop-CDogiW7m.js.map')))
      put(
        'build/Shop.app.dSYM/Contents/Resources/DWARF/Shop',
        readFileSync(join(fixtures, 'crashes/ios/Shop.dSYM-DWARF')),
      )
      put(
        'app/build/outputs/mapping/release/mapping.txt',
        readFileSync(join(fixtures, 'samples/artefacts/proguard-mapping.txt')),
      )
      for (const { command } of items) {
        const [word, ...args] = command.split(' ')
        expect(word).toBe('sentry-cli')
        await one.must(...(program ?? []), ...args)
      }
      await indexed(one.person, one.project.id)
      await waitFor('the worklist to be empty', async () => ((await missing()).items.length === 0 ? true : null))
    })
  })
}

// ---- Plug-ins of bundlers ------------------------------------------------------------------------------------------

const PLUGINS = [
  { tool: 'vite', name: '@sentry/vite-plugin 11.9.0' },
  { tool: 'webpack', name: '@sentry/webpack-plugin 11.8.0' },
  { tool: 'rollup', name: '@sentry/rollup-plugin 5.4.0' },
  { tool: 'esbuild', name: '@sentry/esbuild-plugin 5.4.0' },
]

for (const { tool, name } of PLUGINS) {
  describe.skipIf(!existsSync(join(here, `node_modules/@sentry/${tool}-plugin`)))(name, BESIDE, () => {
    test('a crash of what it built is readable', async () => {
      const one = await aBuild()
      await one.must(...build(tool, join(one.folder, 'dist'), 'plug-in'))
      await expectReadableCrash(one)
    })
  })
}
