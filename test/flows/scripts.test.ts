import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { makeScratch } from './installation.ts'

/** The scripts behind `npm start`, `npm test` and `npm run check`, in a small checkout for this test. */

const root = join(import.meta.dirname, '../..')
let checkout = ''

beforeEach(() => {
  const scratch = makeScratch()
  onTestFinished(scratch.remove)
  checkout = join(scratch.path, 'checkout')
  cpSync(join(root, 'scripts'), join(checkout, 'scripts'), { recursive: true })
  cpSync(join(root, 'package.json'), join(checkout, 'package.json'))
})

type Result = { code: number | null; out: string; err: string }

function run(args: string[], env: Record<string, string> = {}): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>()
  const child = execFile(
    process.execPath,
    args,
    { cwd: checkout, env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(checkout, '.compile-cache'), ...env } },
    (_error, out, err) => resolve({ code: child.exitCode, out, err }),
  )
  return promise
}

describe('the right Node', () => {
  /** Makes the running Node report an old version. */
  const asNode20 = ['--import', 'data:text/javascript,Object.defineProperty(process,"version",{value:"v20.19.0"})']

  test.for(['start', 'test', 'check'])('npm %s prints one line about what is missing', async (name) => {
    mkdirSync(join(checkout, 'node_modules'))
    const { code, out, err } = await run([...asNode20, `scripts/${name}.mjs`])
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toMatch(/^Faultline needs Node 24 or newer and found only v20\.19\.0: install its packages .*\n$/)
  })

  test('the packaged one is used, whichever Node runs the script', async () => {
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
    const script = `import { findNode } from './scripts/runtime.mjs'; process.stdout.write(findNode())`
    const { out } = await run([...asNode20, '--input-type=module', '-e', script])
    expect(out).toMatch(/node_modules\/node-[\w-]+\/bin\/node$/)
  })

  test('without it, the running Node is used when it is new enough', async () => {
    mkdirSync(join(checkout, 'node_modules'))
    const script = `import { findNode } from './scripts/runtime.mjs'; process.stdout.write(findNode())`
    expect((await run(['--input-type=module', '-e', script])).out).toBe(process.execPath)
  })

  test('a packaged one that cannot run here is skipped', async () => {
    const [name = ''] = readdirSync(join(root, 'node_modules')).filter((entry) =>
      /^node-(?:linux|darwin|bin)/.test(entry),
    )
    mkdirSync(join(checkout, 'node_modules', name, 'bin'), { recursive: true })
    writeFileSync(join(checkout, 'node_modules', name, 'bin', 'node'), '\x7fELF for another machine', { mode: 0o755 })
    const script = `import { findNode } from './scripts/runtime.mjs'; process.stdout.write(findNode())`
    expect((await run(['--input-type=module', '-e', script])).out).toBe(process.execPath)
  })
})

describe('packages that are missing', () => {
  const lockfile = (version: string) =>
    JSON.stringify({
      packages: {
        '': {},
        'node_modules/alpha': { version },
        'node_modules/tool': { version: '1.0.0', dev: true },
        'node_modules/other-machine': { version: '1.0.0', optional: true },
      },
    })
  /** An npm that counts its runs, takes a moment, and installs what the lockfile names. */
  const fakeNpm = (body: string) => {
    const bin = join(checkout, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'npm'), `#!/bin/sh\necho "$@" >> npm-runs\n${body}\n`, { mode: 0o755 })
    return { PATH: `${bin}:${process.env['PATH'] ?? ''}`, npm_execpath: '' }
  }
  const INSTALL = `[ -e busy ] && echo "two at once" >> npm-runs
touch busy; sleep 0.3; rm -rf node_modules; mkdir -p node_modules/alpha node_modules/tool
cp package-lock.json node_modules/.package-lock.json; rm busy`
  const ensure = (env: Record<string, string>, withDev = true) =>
    run(
      [
        '--input-type=module',
        '-e',
        `import { ensureInstalled } from './scripts/install.mjs'
         await ensureInstalled(process.cwd(), { withDev: ${withDev}, closing: '0 passed, 1 failed\\n' })
         process.stdout.write('runs further\\n')`,
      ],
      env,
    )
  const runs = () => {
    const file = join(checkout, 'npm-runs')
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
  }
  beforeEach(() => writeFileSync(join(checkout, 'package-lock.json'), lockfile('1.0.0')))

  test('are installed once, with the reason, and not again while they fit', async () => {
    const env = fakeNpm(INSTALL)
    const first = await ensure(env)
    expect(first.out).toMatch(
      /^The packages are not installed yet: installing them with npm ci\.\nInstalling the packages …\n.*done in [\d.]+ s\nruns further\n$/,
    )
    expect(runs()).toEqual([expect.stringMatching(/^ci .*--include=dev$/)])
    expect((await ensure(env)).out).toBe('runs further\n')
    expect(existsSync(join(checkout, '.install-lock'))).toBe(false)

    writeFileSync(join(checkout, 'package-lock.json'), lockfile('2.0.0'))
    expect((await ensure(env)).out).toMatch(/^The package alpha is 1\.0\.0, and package-lock\.json names 2\.0\.0: /)
    rmSync(join(checkout, 'node_modules/tool'), { recursive: true })
    expect((await ensure(env, false)).out).toBe('runs further\n')
    expect((await ensure(env)).out).toMatch(/^The package tool is missing: /)
    // npm writes its record last: without it, the installation was interrupted.
    rmSync(join(checkout, 'node_modules/.package-lock.json'))
    expect((await ensure(env)).out).toMatch(/^The packages are not installed completely: /)
    expect(runs()).toHaveLength(4)
  })

  test('are installed by one of several processes that start at once', async () => {
    const env = fakeNpm(INSTALL)
    const all = await Promise.all(Array.from({ length: 4 }, () => ensure(env)))
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(runs()).toHaveLength(1)
    expect(all.filter(({ out }) => out.includes('Another process installs the packages'))).not.toHaveLength(4)
  })

  test('are installed although a process that was killed left its lock', async () => {
    const env = fakeNpm(INSTALL)
    const file = join(checkout, '.install-lock')
    writeFileSync(file, 'killed')
    const old = new Date(Date.now() - 60_000)
    utimesSync(file, old, old)
    const all = await Promise.all([ensure(env), ensure(env), ensure(env)])
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(runs()).toHaveLength(1)
    expect(readdirSync(checkout).filter((name) => name.startsWith('.install-lock'))).toEqual([])
  })

  test('cannot be installed without a network: the reason, what to do, and the closing line', async () => {
    const env = fakeNpm('echo "npm error code ENOTFOUND" >&2; exit 1')
    const { code, out, err } = await ensure(env)
    expect(code).toBe(1)
    expect(out).toMatch(/failed after [\d.]+ s\n0 passed, 1 failed\n$/)
    expect(err).toMatch(/^The package registry cannot be reached \(ENOTFOUND\)\. Connect .*then start again\..*\n$/)
    expect(existsSync(join(checkout, '.install-lock'))).toBe(false)
  })

  test('cannot be installed for another reason: npm says it', async () => {
    const env = fakeNpm('echo "npm error disk full" >&2; exit 1')
    expect((await ensure(env)).err).toBe('npm error disk full\nnpm ci failed: see above, then start again.\n')
  })

  test('of another checkout, behind a link, are left alone', async () => {
    mkdirSync(join(checkout, 'elsewhere'))
    symlinkSync('elsewhere', join(checkout, 'node_modules'))
    expect((await ensure(fakeNpm(INSTALL))).out).toBe('runs further\n')
    expect(runs()).toEqual([])
  })
})

describe('npm start', () => {
  beforeEach(() => {
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
    mkdirSync(join(checkout, 'server'))
    writeFileSync(
      join(checkout, 'server/main.ts'),
      `console.log('serving', process.argv.slice(2).join(' '))\nprocess.exitCode = 7 as number\n`,
    )
  })
  const withWeb = () => {
    mkdirSync(join(checkout, 'web'))
    writeFileSync(join(checkout, 'web/index.html'), '<script type="module" src="./main.ts"></script>')
    writeFileSync(join(checkout, 'web/main.ts'), `document.title = 'first' satisfies string`)
    writeFileSync(join(checkout, 'vite.config.ts'), `export default { root: 'web', build: { outDir: 'dist' } }`)
  }
  const builtCode = () =>
    readdirSync(join(checkout, 'web/dist/assets'))
      .map((file) => readFileSync(join(checkout, 'web/dist/assets', file), 'utf8'))
      .join('')

  test('starts the server and passes its output, arguments and exit code on', async () => {
    expect(await run(['scripts/start.mjs', '--roles=api'])).toEqual({
      code: 7,
      out: 'serving serve --roles=api\n',
      err: '',
    })
  })

  test('builds the dashboard when it is missing or its sources changed, and prints so', async () => {
    withWeb()
    const first = await run(['scripts/start.mjs'])
    expect(first.out).toMatch(/^Building the dashboard …\nBuilding the dashboard: done in [\d.]+ s\nserving serve\n$/)
    expect(builtCode()).toContain('first')

    expect((await run(['scripts/start.mjs'])).out).toBe('serving serve\n')

    writeFileSync(join(checkout, 'web/main.ts'), `document.title = 'second'`)
    expect((await run(['scripts/start.mjs'])).out).toContain('Building the dashboard: done')
    expect(builtCode()).toContain('second')
    expect(readdirSync(join(checkout, 'web')).toSorted()).toEqual(['dist', 'index.html', 'main.ts'])

    mkdirSync(join(checkout, 'shared'))
    writeFileSync(join(checkout, 'shared/limits.ts'), 'export const LIMIT = 1')
    expect((await run(['scripts/start.mjs'])).out).toContain('Building the dashboard: done')
    expect((await run(['scripts/start.mjs'])).out).toBe('serving serve\n')
  })

  test('when the dashboard cannot be built, the earlier build is served, or the start fails', async () => {
    withWeb()
    writeFileSync(join(checkout, 'web/main.ts'), `import './nowhere.ts'`)
    const without = await run(['scripts/start.mjs'])
    expect(without.code).toBe(1)
    expect(without.out).not.toContain('serving')
    expect(without.err).toContain('nowhere.ts')
    expect(existsSync(join(checkout, 'web/dist'))).toBe(false)

    writeFileSync(join(checkout, 'web/main.ts'), `document.title = 'good'`)
    await run(['scripts/start.mjs'])
    writeFileSync(join(checkout, 'web/main.ts'), `import './nowhere.ts'`)
    const withOld = await run(['scripts/start.mjs'])
    expect(withOld.out).toContain('serving serve')
    expect(withOld.err).toContain('serving the one built before')
    expect(builtCode()).toContain('good')
  })

  test('an unknown argument is an error; --help prints the options', async () => {
    const { code, err } = await run(['scripts/start.mjs', '--verbose'])
    expect(code).toBe(1)
    expect(err).toContain('Unknown argument --verbose.')
    expect((await run(['scripts/start.mjs', '--help'])).out).toContain('npm run dev')
  })
})

describe('npm test', () => {
  beforeEach(() => {
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
    writeFileSync(
      join(checkout, 'vitest.config.ts'),
      `export default { test: { include: ['*.test.ts'], fileParallelism: false } }`,
    )
  })
  const withTests = (name: string, body: string) =>
    writeFileSync(join(checkout, `${name}.test.ts`), `import { expect, test } from 'vitest'\n${body}\n`)
  /** Last line and exit code. */
  const closing = async (...args: string[]) => {
    const { code, out } = await run(['scripts/test.mjs', ...args], { NODE_ENV: 'production' })
    return [out.trimEnd().split('\n').at(-1), code]
  }

  test('the last line is the number of passed and failed tests', async () => {
    withTests('good', `test('a', () => { expect(process.env.NODE_ENV).toBe('test') })\ntest('b', () => {})`)
    expect(await closing()).toEqual(['2 passed, 0 failed', 0])
    withTests('bad', `test('c', () => { expect(1).toBe(2) })`)
    expect(await closing()).toEqual(['2 passed, 1 failed', 1])
    expect(await closing('good')).toEqual(['2 passed, 0 failed', 0])
  })

  test('a file that does not load, and an error outside any test, are failures', async () => {
    withTests('good', `test('a', () => {})`)
    withTests('broken', `import './nowhere.ts'`)
    expect(await closing()).toEqual(['1 passed, 1 failed', 1])
    rmSync(join(checkout, 'broken.test.ts'))
    withTests('late', `test('b', () => { void Promise.reject(new Error('not awaited')) })`)
    expect(await closing()).toEqual(['2 passed, 1 failed', 1])
  })

  test('no tests at all are a failure', async () => {
    expect(await closing()).toEqual(['0 passed, 1 failed', 1])
  })
})
