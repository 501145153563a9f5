import { ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { childrenOf, endBy, exitOf, killAtOnce, send } from '#test/kit/processes.ts'
import { databaseFolder } from '#test/kit/scratch.ts'
import { waitFor } from '#test/kit/wait.ts'
import { DatabaseStartError } from '../storage/pool.ts'
import { recordedPostmaster } from './orphans.ts'
import { isAlive, postgresProcessesIn } from './processes.ts'
import { startEmbeddedPostgres } from './start.ts'

vi.setConfig({ testTimeout: 90_000 })

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const db of running.splice(0)) await db.stop()
})

function freshDir(name = 'data'): string {
  const parent = databaseFolder('faultline-embedded-')
  chmodSync(parent, 0o755)
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  return join(parent, name)
}

async function start(dataDir: string, options: Partial<Parameters<typeof startEmbeddedPostgres>[0]> = {}) {
  const lines: string[] = []
  const db = await startEmbeddedPostgres({
    dataDir,
    log: (line) => lines.push(line),
    durability: 'none-for-tests',
    ...options,
  })
  running.push(db)
  return { ...db, lines }
}

/** The data directory of a first start, copied by tests that need a used one. */
let prepared = ''
beforeAll(async () => {
  prepared = databaseFolder('faultline-prepared-')
  const db = await startEmbeddedPostgres({ dataDir: prepared, log: () => {}, durability: 'none-for-tests' })
  await db.stop()
})
afterAll(() => rmSync(prepared, { recursive: true, force: true }))

/** A directory with a database that was started before. */
function usedDir(): string {
  const dataDir = freshDir()
  execFileSync('cp', ['-a', prepared, dataDir])
  return dataDir
}

/** Runs one statement on a new connection. */
async function query<T extends pg.QueryResultRow>(connectionString: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<T>(sql)
    return rows
  } finally {
    await client.end()
  }
}

/** Starts the fixture process, which runs a database on `dataDir`. */
async function hold(dataDir: string): Promise<{ child: ChildProcess; connectionString: string; notes: string[] }> {
  const fixture = join(import.meta.dirname, 'hold.fixture.ts')
  const child = spawn(process.execPath, [fixture, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, ...(JSON.parse(line) as { connectionString: string; notes: string[] }) }
}

const clusterOf = (dataDir: string): string => join(dataDir, 'postgres')

/** Waits for the end of the database, which needs a checkpoint longer than the process that started it. */
const databaseEnd = (dataDir: string) =>
  waitFor('the database to end', () => postgresProcessesIn(clusterOf(dataDir)).length === 0, 60_000)

describe('a first start', () => {
  test('creates a database that keeps its data', async () => {
    const dataDir = freshDir()
    const first = await start(dataDir)
    expect(first.notes).toEqual([`created a new database in ${clusterOf(dataDir)}`])
    expect(first.majorVersion).toBe(18)
    await query(first.connectionString, "create table kept as select 'süß 🙂' as word")
    await first.stop()
    expect(postgresProcessesIn(clusterOf(dataDir))).toEqual([])

    const second = await start(dataDir)
    expect(second.notes).toEqual([])
    expect(await query(second.connectionString, 'select word from kept')).toEqual([{ word: 'süß 🙂' }])
  })

  test('is durable, checked and closed to the network', async () => {
    const db = await start(freshDir(), { durability: 'full' })
    const names = [
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'data_checksums',
      'listen_addresses',
      'server_encoding',
      'TimeZone',
    ]
    const rows = await query<{ name: string; setting: string }>(
      db.connectionString,
      `select name, setting from pg_settings where name in (${names.map((name) => `'${name}'`).join(',')})`,
    )
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      data_checksums: 'on',
      listen_addresses: '',
      server_encoding: 'UTF8',
      TimeZone: 'UTC',
    })
    const socketDir = new URL(db.connectionString).searchParams.get('host') ?? ''
    expect(statSync(socketDir).mode & 0o777).toBe(0o700)
    expect(statSync(clusterOf(db.dataDir)).mode & 0o777).toBe(0o700)
  })

  test('knows upper and lower case beyond ASCII and sorts by code point', async () => {
    const db = await start(usedDir())
    expect(await query(db.connectionString, "select lower('ÄÉ') as low, 'Z' < 'a' as by_code_point")).toEqual([
      { low: 'äé', by_code_point: true },
    ])
  })

  test('never runs the server as root', async () => {
    const db = await start(usedDir())
    const pid = recordedPostmaster(clusterOf(db.dataDir)) ?? 0
    expect(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]).not.toBe('0')
  })

  test('works with a path that is too long for a socket, or has spaces, quotes and commas', async () => {
    const dataDir = freshDir(`a "b", c's ü ${'x'.repeat(120)}`)
    const db = await start(dataDir)
    expect(await query(db.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
    const socketDir = new URL(db.connectionString).searchParams.get('host') ?? ''
    onTestFinished(() => rmSync(socketDir, { recursive: true, force: true }))
    expect(socketDir.startsWith(dataDir)).toBe(false)
    expect(statSync(socketDir).mode & 0o777).toBe(0o700)
  })

  test.runIf(process.getuid?.() === 0)('works under the strictest umask, the database as another user', async () => {
    const before = process.umask(0o077)
    onTestFinished(() => void process.umask(before))
    const db = await start(freshDir('deep/er/data'), { durability: 'full' })
    expect(await query(db.connectionString, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test('two installations run side by side', async () => {
    const [one, two] = await Promise.all([start(usedDir()), start(usedDir())])
    await query(one.connectionString, 'create table mine (n int)')
    expect(await query(two.connectionString, "select to_regclass('mine') as other")).toEqual([{ other: null }])
  })

  test('PostgreSQL 15 starts the same way', async () => {
    const db = await start(freshDir(), { binaries: 'pg15' })
    expect(db.majorVersion).toBe(15)
    expect(
      await query(db.connectionString, "select current_setting('server_version_num')::int / 10000 as major"),
    ).toEqual([{ major: 15 }])
  })

  test('an existing data directory that others can read becomes private; a shared directory stays', async () => {
    for (const [entry, isOurs] of [
      [null, true],
      ['other-file', false],
    ] as const) {
      const dataDir = freshDir()
      mkdirSync(dataDir, { recursive: true })
      chmodSync(dataDir, 0o777)
      if (entry !== null) writeFileSync(join(dataDir, entry), '')
      await start(dataDir)
      expect(statSync(dataDir).mode & 0o077).toBe(isOurs ? (process.getuid?.() === 0 ? 0o011 : 0) : 0o077)
    }
  })

  test('the server lets no connection over TCP in', async () => {
    const dataDir = usedDir()
    await start(dataDir)
    const rules = readFileSync(join(clusterOf(dataDir), 'pg_hba.conf'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('host'))
    expect(rules.length).toBeGreaterThan(0)
    for (const rule of rules) expect(rule).toMatch(/reject\s*$/)
  })
})

describe('refuses in one line', () => {
  const refusal = async (dataDir: string): Promise<string> => {
    const error: unknown = await start(dataDir).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(DatabaseStartError)
    const { message } = error as Error
    expect(message).not.toContain('\n')
    return message
  }

  test('a second start on the same data', async () => {
    const dataDir = usedDir()
    await start(dataDir)
    expect(await refusal(dataDir)).toContain(`already runs on ${dataDir} (process ${process.pid})`)
  })

  test('data of another major version', async () => {
    const dataDir = usedDir()
    writeFileSync(join(clusterOf(dataDir), 'PG_VERSION'), '17\n')
    expect(await refusal(dataDir)).toContain('was created by PostgreSQL 17')
    // A refusal does not leave the directory locked.
    writeFileSync(join(clusterOf(dataDir), 'PG_VERSION'), '18\n')
    await start(dataDir)
  })

  test('a directory without a database', async () => {
    const dataDir = freshDir()
    mkdirSync(clusterOf(dataDir), { recursive: true })
    writeFileSync(join(clusterOf(dataDir), 'holiday.jpg'), '')
    expect(await refusal(dataDir)).toContain('holds no PostgreSQL data')
  })

  test('a data directory that is a file', async () => {
    const dataDir = freshDir()
    writeFileSync(dataDir, '')
    expect(await refusal(dataDir)).toContain('cannot be used')
  })

  test('damaged data, with the reason of the server', async () => {
    const dataDir = usedDir()
    rmSync(join(clusterOf(dataDir), 'global', 'pg_control'))
    expect(await refusal(dataDir)).toMatch(/PostgreSQL did not start .*pg_control/)
  })
})

describe('an aborted start', () => {
  const startAborted = (dataDir: string, signal: AbortSignal): Promise<string> =>
    start(dataDir, { durability: 'full', signal }).then(
      () => 'it started',
      () => 'aborted',
    )

  test('leaves no files when the database was being created', async () => {
    const dataDir = freshDir()
    const stop = new AbortController()
    const starting = startAborted(dataDir, stop.signal)
    await waitFor('the creation', () => existsSync(join(dataDir, '.postgres-init/cluster')))
    stop.abort()
    expect(await starting).toBe('aborted')
    expect(existsSync(join(dataDir, 'faultline.lock'))).toBe(false)
    expect(postgresProcessesIn(clusterOf(dataDir))).toEqual([])
    expect(readdirSync(dataDir)).not.toContain('.postgres-init')
    expect(readdirSync(dataDir)).not.toContain('postgres')
  })

  test('ends the server when it was starting, and the next start needs no recovery', async () => {
    const dataDir = usedDir()
    // The server waits for its access rules, until this test writes them.
    const rulesFile = join(clusterOf(dataDir), 'pg_hba.conf')
    const rules = readFileSync(rulesFile)
    rmSync(rulesFile)
    execFileSync('mkfifo', ['-m', '644', rulesFile])
    const stop = new AbortController()
    const starting = startAborted(dataDir, stop.signal)
    await waitFor('the server', () => existsSync(join(clusterOf(dataDir), 'postmaster.pid')))
    const kill = vi.spyOn(ChildProcess.prototype, 'kill')
    onTestFinished(() => kill.mockRestore())
    stop.abort()
    await waitFor('its end', () => kill.mock.calls.some(([name]) => name === 'SIGINT'))
    await writeFile(rulesFile, rules)
    expect(await starting).toBe('aborted')
    expect(existsSync(join(dataDir, 'faultline.lock'))).toBe(false)
    expect(postgresProcessesIn(clusterOf(dataDir))).toEqual([])
    expect(existsSync(join(clusterOf(dataDir), 'postmaster.pid'))).toBe(false)
    rmSync(rulesFile)
    writeFileSync(rulesFile, rules)
    expect((await start(dataDir)).notes).toEqual([])
  })
})

describe('recovery', () => {
  test('a killed server is started again at the same address', async () => {
    const db = await start(usedDir(), { durability: 'full' })
    await query(db.connectionString, 'create table kept as select 1 as one')
    const killed = recordedPostmaster(clusterOf(db.dataDir)) ?? 0
    process.kill(killed, 'SIGKILL')

    const isBack = async () => {
      try {
        return (await query(db.connectionString, 'select one from kept')).length === 1
      } catch {
        return false
      }
    }
    await expect.poll(isBack, { timeout: 60_000 }).toBe(true)
    expect(recordedPostmaster(clusterOf(db.dataDir))).not.toBe(killed)
    expect(db.lines.join('\n')).toContain('was ended by SIGKILL: starting it again')
  })

  test('the server stops when our process is killed', async () => {
    const dataDir = usedDir()
    const { child, connectionString } = await hold(dataDir)
    await query(connectionString, 'create table kept as select 1 as one')
    await endBy(child, 'SIGKILL')
    await databaseEnd(dataDir)
    // It was shut down, so there is nothing to recover.
    const next = await start(dataDir)
    expect(next.notes).toEqual([])
    expect(await query(next.connectionString, 'select one from kept')).toEqual([{ one: 1 }])
  })

  test('an orphaned server is stopped before the next one starts', async () => {
    const dataDir = usedDir()
    const { child, connectionString } = await hold(dataDir)
    await query(connectionString, 'create table kept as select 1 as one')
    const orphan = recordedPostmaster(clusterOf(dataDir)) ?? 0
    // Without its watchdog: the shell whose parent is the fixture.
    for (const pid of childrenOf(child.pid ?? 0)) if (pid !== orphan) send(pid, 'SIGKILL')
    await endBy(child, 'SIGKILL')
    expect(isAlive(orphan)).toBe(true)

    const next = await start(dataDir)
    expect(next.notes).toEqual([`stopped the database that an earlier start left running (process ${orphan})`])
    expect(isAlive(orphan)).toBe(false)
    expect(await query(next.connectionString, 'select one from kept')).toEqual([{ one: 1 }])
  })

  test('after all processes are killed, the log is replayed and stale files are removed', async () => {
    const dataDir = usedDir()
    const { child, connectionString } = await hold(dataDir)
    await query(connectionString, 'create table kept as select 1 as one')
    const pid = child.pid ?? 0
    killAtOnce([pid, ...childrenOf(pid), ...postgresProcessesIn(clusterOf(dataDir))])
    await exitOf(child)
    await databaseEnd(dataDir)
    expect(existsSync(join(clusterOf(dataDir), 'postmaster.pid'))).toBe(true)
    expect(existsSync(join(dataDir, 'faultline.lock'))).toBe(true)

    const next = await start(dataDir)
    expect(next.notes).toEqual(['the database recovered from an unclean stop'])
    expect(await query(next.connectionString, 'select one from kept')).toEqual([{ one: 1 }])
  })

  test('starts when the recorded process id belongs to an unrelated process', async () => {
    const dataDir = usedDir()
    const bystander = spawn('sleep', ['60'])
    onTestFinished(() => void bystander.kill('SIGKILL'))
    writeFileSync(
      join(clusterOf(dataDir), 'postmaster.pid'),
      `${bystander.pid}\n${clusterOf(dataDir)}\n1\n5432\n\n\n\nready\n`,
    )
    await start(dataDir)
    expect(isAlive(bystander.pid ?? 0)).toBe(true)
  })

  test('an incomplete initialisation is started again', async () => {
    const dataDir = freshDir()
    mkdirSync(join(dataDir, '.postgres-init', 'cluster'), { recursive: true })
    writeFileSync(join(dataDir, '.postgres-init', 'cluster', 'PG_VERSION'), '18\n')
    const db = await start(dataDir)
    expect(db.notes).toEqual([`created a new database in ${clusterOf(dataDir)}`])
    expect(existsSync(join(dataDir, '.postgres-init'))).toBe(false)
  })

  test('SIGTERM leaves no process and no lock', async () => {
    const dataDir = usedDir()
    const { child } = await hold(dataDir)
    expect(await endBy(child, 'SIGTERM')).toEqual({ code: 0, signal: null })
    expect(postgresProcessesIn(clusterOf(dataDir))).toEqual([])
    expect(existsSync(join(dataDir, 'faultline.lock'))).toBe(false)
  })
})
