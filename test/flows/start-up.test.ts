import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { migrateDatabase } from '#server/service/cli/database.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#server/platform/embedded-postgres/start.ts'
import { freePort } from '#test/kit/free-port.ts'
import { RUNS_LONG } from '#test/kit/long.ts'
import { killAtOnce, nothingRunsIn, pidsNaming } from '#test/kit/processes.ts'
import { databaseFolder } from '#test/kit/scratch.ts'
import { waitFor } from '#test/kit/wait.ts'
import {
  canRunPackages,
  isRoot,
  launch,
  makeCheckout,
  makeScratch,
  unprivileged,
  type Start,
  usersNaming,
} from './installation.ts'

// Starts of the whole product, also on busy machines.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const scratch = makeScratch()
const checkout = join(scratch.path, 'checkout')
/** That other users may enter. */
const databases = databaseFolder('faultline-start-up-')
chmodSync(databases, 0o755)
const running: Start[] = []

beforeAll(async () => {
  makeCheckout(checkout)
  const database = await startEmbeddedPostgres({ dataDir: prepared, log: () => {}, durability: 'none-for-tests' })
  await migrateDatabase(database.connectionString, () => {})
  await database.stop()
})
afterAll(async () => {
  for (const start of running) await start.killHard()
  await nothingRunsIn(scratch.path)
  await nothingRunsIn(databases)
  scratch.remove()
  rmSync(databases, { recursive: true, force: true })
})

let counter = 0
const freshDataDir = (): string => join(databases, `data-${++counter}`)

/** The data directory of a first start, for tests of something else. */
const prepared = join(databases, 'prepared')
function usedDataDir(): string {
  const dataDir = freshDataDir()
  execFileSync('cp', ['-a', prepared, dataDir])
  return dataDir
}

async function start(from: string, options: Parameters<typeof launch>[1] = {}): Promise<Start> {
  const started = await launch(from, options)
  running.push(started)
  return started
}

async function stop(started: Start, dataDir: string): Promise<void> {
  started.interrupt()
  await started.exited
  await nothingRunsIn(dataDir)
}

const account = { email: 'ada@example.com', password: 'correct horse battery staple' }
const post = (url: string, path: string, body: object) =>
  fetch(`${url}/api/auth/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(body),
  })
const signUp = (url: string) => post(url, 'signup', { ...account, name: 'Ada', org: 'Analytical Engines' })
const logIn = (url: string) => post(url, 'login', account)

function removeIfEmpty(directory: string): void {
  if (existsSync(directory) && readdirSync(directory).length === 0) rmdirSync(directory)
}

/** The process must exit by itself with code 1 and print one line with the reason. */
async function refusal(started: Start): Promise<string> {
  expect(await started.exited).toBe(1)
  const errors = started.lines.filter((line) => line.startsWith('faultline: '))
  expect(errors, started.lines.join('\n')).toHaveLength(1)
  expect(started.lines.join('\n')).not.toMatch(/^\s+at /m)
  return errors[0] ?? ''
}

test('npm start serves, prints its address in one line, and Ctrl-C ends every process', async () => {
  const dataDir = freshDataDir()
  const started = await start(checkout, { dataDir })
  const line = await started.ready()
  expect(line).toContain(started.url)
  expect(line).toContain(dataDir)
  expect((await fetch(`${started.url}/readyz`)).status).toBe(200)
  const page = await fetch(started.url)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(await page.text()).toContain('<div id="root"')

  await stop(started, dataDir)
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
  expect(existsSync(join(dataDir, 'faultline.lock'))).toBe(false)
})

test.runIf(RUNS_LONG)(
  'as a service: SIGTERM at any moment of the start leaves no process and no error, and the next start works',
  async () => {
    const dataDir = freshDataDir()
    // When the test reads the output late, the start is further on, which is as good a moment.
    for (const moment of [/^starting the database/, /^migrating| is ready/, /^migrating| is ready/, / is ready/]) {
      const started = await start(checkout, { dataDir, withoutNpm: true })
      const lineAt = () => started.lines.findIndex((line) => moment.test(line))
      await waitFor(`a line like ${moment}`, () => lineAt() !== -1, 60_000)
      const at = lineAt()
      // Signal one process, the one that was started.
      expect(started.serverPid()).toBe(started.child.pid)
      started.child.kill('SIGTERM')
      expect(await started.exited, started.lines.join('\n')).toBe(0)
      await nothingRunsIn(dataDir)
      expect(readdirSync(dataDir).filter((name) => /lock|init|run/.test(name))).toEqual([])
      expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
      // It printed nothing but its usual lines.
      const later = started.lines
        .slice(at)
        .filter((line) => !/^(starting|migrating|Stopping)|^ {2}created| is ready/.test(line))
      expect(later).toEqual([])
    }
  },
)

test.runIf(RUNS_LONG)('two installations run on one machine; a second one on the same data is refused', async () => {
  const [one, two] = [usedDataDir(), usedDataDir()]
  const first = await start(checkout, { dataDir: one, withoutNpm: true })
  const second = await start(checkout, { dataDir: two, withoutNpm: true })
  await Promise.all([first.ready(), second.ready()])
  expect((await signUp(first.url)).status).toBe(201)
  expect((await logIn(second.url)).status).toBe(401)

  const third = await start(checkout, { dataDir: one, withoutNpm: true })
  expect(await refusal(third)).toContain(`already runs on ${one} (process ${first.serverPid()})`)
  expect((await logIn(first.url)).status).toBe(200)

  const port = Number(new URL(first.url).port)
  const fourth = await start(checkout, { dataDir: usedDataDir(), port, withoutNpm: true })
  expect(await refusal(fourth)).toContain(`Another program already listens on 127.0.0.1:${port}.`)
  await Promise.all([stop(first, one), stop(second, two)])
})

describe('after kill -9', () => {
  test('of the service: the next start needs no recovery', async () => {
    const dataDir = usedDataDir()
    const first = await start(checkout, { dataDir, withoutNpm: true })
    await first.ready()
    expect((await signUp(first.url)).status).toBe(201)
    await first.killHard()

    const next = await start(checkout, { dataDir, withoutNpm: true })
    await next.ready()
    expect((await logIn(next.url)).status).toBe(200)
    await stop(next, dataDir)
  })

  test.runIf(RUNS_LONG)('of everything at once, with stale files: the next start recovers', async () => {
    const dataDir = usedDataDir()
    const first = await start(checkout, { dataDir, withoutNpm: true })
    await first.ready()
    expect((await signUp(first.url)).status).toBe(201)
    killAtOnce([first.serverPid(), ...pidsNaming(dataDir)])
    await first.exited
    await nothingRunsIn(dataDir)
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(true)
    expect(existsSync(join(dataDir, 'faultline.lock'))).toBe(true)

    const next = await start(checkout, { dataDir, withoutNpm: true })
    await next.ready()
    expect((await logIn(next.url)).status).toBe(200)
    expect(next.lines.join('\n')).toContain('recovered from an unclean stop')
    await stop(next, dataDir)
  })

  test('of the database: the service starts it again and continues', async () => {
    const dataDir = usedDataDir()
    const started = await start(checkout, { dataDir, withoutNpm: true })
    await started.ready()
    expect((await signUp(started.url)).status).toBe(201)
    const postmaster = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
    process.kill(postmaster, 'SIGKILL')
    await waitFor('a log-in to succeed again', async () => (await logIn(started.url)).status === 200, 60_000)
    await stop(started, dataDir)
  })
})

describe('users', () => {
  test.runIf(isRoot)('root: the database runs as a user without rights', async () => {
    const dataDir = usedDataDir()
    const started = await start(checkout, { dataDir, withoutNpm: true })
    await started.ready()
    const databases = usersNaming(join(dataDir, 'postgres'))
    expect(databases.length).toBeGreaterThan(0)
    expect(databases).not.toContain(0)
    await stop(started, dataDir)
  })

  test.runIf(RUNS_LONG && isRoot && canRunPackages(unprivileged))(
    'an ordinary user, with everything below the checkout',
    async () => {
      const own = makeCheckout(join(scratch.path, 'checkout-unprivileged'), { owner: unprivileged })
      const started = await start(own, { user: unprivileged })
      expect(await started.ready()).toContain(join(own, 'data'))
      expect(new Set(usersNaming(join(own, 'data')))).toEqual(new Set([unprivileged.uid]))
      await stop(started, own)
    },
  )

  test.runIf(isRoot && canRunPackages(unprivileged))("an ordinary user on another user's data is refused", async () => {
    const dataDir = freshDataDir()
    mkdirSync(dataDir, { mode: 0o711 })
    const started = await start(checkout, { dataDir, user: unprivileged })
    expect(await refusal(started)).toContain(`${dataDir} cannot be used (this user may not write there)`)
  })

  test.runIf(RUNS_LONG && isRoot)('root, in a checkout that only its owner can enter', async () => {
    const locked = join(scratch.path, 'locked')
    mkdirSync(locked, { mode: 0o700 })
    const own = makeCheckout(join(locked, 'checkout'), { ownPostgres: true })
    const moved = `/var/lib/faultline/${createHash('sha256').update(own).digest('hex').slice(0, 16)}`
    onTestFinished(() => {
      rmSync(moved, { recursive: true, force: true })
      removeIfEmpty('/var/lib/faultline')
    })

    const started = await start(own)
    expect(await started.ready()).toContain(moved)
    expect((await signUp(started.url)).status).toBe(201)
    await stop(started, own)
    expect(existsSync(join(own, 'data'))).toBe(false)

    const explicit = join(locked, 'data')
    expect(await refusal(await start(own, { dataDir: explicit }))).toContain(
      `FAULTLINE_DATA_DIR ${explicit} cannot be entered`,
    )

    // Elsewhere it works from such a checkout too.
    const outside = usedDataDir()
    const again = await start(own, { dataDir: outside, withoutNpm: true })
    expect(await again.ready()).toContain(outside)
    await stop(again, own)
  })
})

describe('a data directory from before the first release', () => {
  /** Works on the directory's database while no service uses it. */
  async function onDatabase<T>(dataDir: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const database = await startEmbeddedPostgres({ dataDir, log: () => {}, durability: 'none-for-tests' })
    const client = new pg.Client({ connectionString: database.connectionString })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
      await database.stop()
    }
  }
  type Relation = { relname: string; relfilenode: string; applied: string }
  const contents = async (client: pg.Client): Promise<Relation[]> => {
    const { rows } = await client.query<Relation>(
      `select relname, relfilenode, (select string_agg(name || digest, ' ' order by name) from schema_migrations) as applied
       from pg_class where relnamespace not in ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace) order by 1, 2`,
    )
    return rows
  }

  test('start and migrate print one line about what to do, and change nothing', async () => {
    const dataDir = usedDataDir()
    const before = await onDatabase(dataDir, async (client) => {
      await client.query(
        `delete from schema_migrations; insert into schema_migrations values ('0001_accounts.sql', 'a'), ('0002_projects.sql', 'b'), ('0003_spool.sql', 'c'), ('0004_issues.sql', 'd')`,
      )
      return contents(client)
    })
    const sentence =
      'faultline: The database comes from Faultline 0.1 before its release and cannot be upgraded. Start with an empty one: name another FAULTLINE_DATA_DIR or DATABASE_URL.'
    expect(await refusal(await start(checkout, { dataDir, withoutNpm: true }))).toBe(sentence)

    const migrating = spawnSync(process.execPath, ['server/main.ts', 'migrate'], {
      cwd: checkout,
      env: { PATH: process.env['PATH'], FAULTLINE_DATA_DIR: dataDir },
      encoding: 'utf8',
    })
    expect(migrating).toMatchObject({ status: 1, stderr: `${sentence}\n` })
    expect(await onDatabase(dataDir, contents)).toEqual(before)
  })
})

describe('an external database', () => {
  let db: EmbeddedPostgres
  beforeAll(async () => {
    db = await startEmbeddedPostgres({
      dataDir: freshDataDir(),
      log: () => {},
      binaries: 'pg15',
      durability: 'none-for-tests',
    })
  })
  afterAll(() => db.stop())

  test.runIf(RUNS_LONG)('PostgreSQL 15 by DATABASE_URL: migrated, used, and no embedded one is started', async () => {
    const dataDir = freshDataDir()
    const started = await start(checkout, { dataDir, env: { DATABASE_URL: db.connectionString } })
    await started.ready()
    expect((await signUp(started.url)).status).toBe(201)
    expect((await logIn(started.url)).status).toBe(200)
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
    await stop(started, dataDir)

    const again = await start(checkout, { dataDir, env: { DATABASE_URL: db.connectionString }, withoutNpm: true })
    await again.ready()
    expect((await logIn(again.url)).status).toBe(200)
    await stop(again, dataDir)
  })

  test('a server that does not answer is one line without the password', async () => {
    const url = `postgres://faultline:hunter2@127.0.0.1:${await freePort()}/faultline`
    const line = await refusal(await start(checkout, { dataDir: freshDataDir(), env: { DATABASE_URL: url } }))
    expect(line).toContain('No PostgreSQL answers at 127.0.0.1')
    expect(line).not.toContain('hunter2')
  })
})

describe('settings', () => {
  test.for([
    [{ FAULTLINE_SINGUP: 'open' }, 'FAULTLINE_SINGUP is not a setting'],
    [{ PORT: 'eighty' }, 'PORT must be a number'],
    [{ NODE_ENV: 'production' }, 'PUBLIC_URL is required'],
  ] as const)('%o is refused before anything starts', async ([env, reason]) => {
    const dataDir = freshDataDir()
    expect(await refusal(await start(checkout, { dataDir, env, withoutNpm: true }))).toContain(reason)
    expect(existsSync(dataDir)).toBe(false)
  })
})
