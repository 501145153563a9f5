import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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
    expect(err).toMatch(/^Faultline needs Node 24 or newer and found only v20\.19\.0: run `npm ci` .*\n$/)
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

  test('packages that are not installed are named', async () => {
    const { code, err } = await run(['scripts/start.mjs'])
    expect({ code, err }).toEqual({ code: 1, err: 'The packages are not installed yet: run `npm ci` first.\n' })
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
