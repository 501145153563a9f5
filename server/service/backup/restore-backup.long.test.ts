import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { RUNS_LONG } from '#test/kit/long.ts'
import { adminCommand } from '#test/kit/admin-command.ts'
import { startDatabaseProxy } from '#test/kit/database-proxy.ts'
import { emptyDatabase } from '#test/kit/empty-database.ts'
import { endBy, exitOf } from '#test/kit/processes.ts'
import { databaseFolder } from '#test/kit/scratch.ts'
import { waitFor } from '#test/kit/wait.ts'
import { startEmbeddedPostgres } from '../../platform/embedded-postgres/start.ts'
import { migrateDatabase } from '../cli/database.ts'
import { backupFolder, backUp, contentsOf, nothing, restore, schemaOf, serverToBackUp } from './backup.fixture.ts'
import { deriveBackupKey } from './backup-key.ts'

const t = await serverToBackUp()

const KEY = randomBytes(32)
const encrypted = { key: deriveBackupKey(KEY) }
const settings = { DATABASE_URL: t.connectionString, FAULTLINE_DATA_DIR: t.dataDir, LOG_LEVEL: 'error' }

/** The command in a process that can be killed. */
function admin(words: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, ['server/main.ts', ...words], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: 'ignore',
  })
}

const manifests = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('backup-'))

/** The largest file of a backup. */
function aFile(folder: string): string {
  const files = readdirSync(join(folder, 'files')).map((name) => join(folder, 'files', name))
  return files.toSorted((a, b) => statSync(b).size - statSync(a).size)[0] ?? ''
}

test('an encrypted backup is restored with its key, and holds no text of the database', async () => {
  const folder = backupFolder()
  await backUp(t, folder, encrypted)
  const stored = readdirSync(join(folder, 'files')).map((name) => readFileSync(join(folder, 'files', name)))
  expect(stored.filter((bytes) => bytes.subarray(0, 5).toString() !== 'FLBK1')).toEqual([])
  const target = await emptyDatabase()
  await restore(folder, target.connectionString, encrypted)
  expect(await contentsOf(target.connectionString)).toEqual(await contentsOf(t.connectionString))
}, 60_000)

test('each fault is refused by name before anything is written', async () => {
  const folder = backupFolder()
  await backUp(t, folder, encrypted)
  const plain = backupFolder()
  const { name } = await backUp(t, plain)
  const target = await emptyDatabase()
  const client = await target.connect()

  const refused = async (
    from: string,
    harm: (copy: string) => void,
    message: RegExp,
    options: Parameters<typeof restore>[2] = {},
  ): Promise<void> => {
    const copy = backupFolder()
    cpSync(from, copy, { recursive: true })
    harm(copy)
    await expect(restore(copy, target.connectionString, options)).rejects.toThrow(message)
    const { rows } = await client.query(`select 1 from pg_class where relnamespace = 'public'::regnamespace`)
    expect(rows, 'nothing is written').toEqual([])
  }
  const change = (path: string, at = 100): void => {
    const bytes = readFileSync(path)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    writeFileSync(path, bytes)
  }
  const manifestOf = (copy: string): string => join(copy, manifests(copy)[0] ?? '')

  await refused(plain, (copy) => change(aFile(copy)), /was changed after it was written/)
  await refused(plain, (copy) => appendFileSync(aFile(copy), 'x'), /is missing or has another size/)
  await refused(plain, (copy) => rmSync(aFile(copy)), /is missing or has another size/)
  await refused(
    plain,
    (copy) => writeFileSync(aFile(copy), readFileSync(aFile(copy)).subarray(0, -1)),
    /is missing or has another size/,
  )
  await refused(plain, (copy) => change(manifestOf(copy), 200), /was changed or cut off|is no manifest/)
  await refused(
    plain,
    (copy) => writeFileSync(manifestOf(copy), readFileSync(manifestOf(copy)).subarray(0, 500)),
    /was changed or cut off/,
  )
  await refused(
    plain,
    (copy) => {
      const text = readFileSync(manifestOf(copy), 'utf8')
      writeFileSync(manifestOf(copy), text.replace('"faultline_backup":1', '"faultline_backup":2'))
    },
    /was written by a newer version of Faultline \(format 2\)/,
  )
  await refused(plain, (copy) => rmSync(manifestOf(copy)), /holds no backup/)
  await refused(plain, nothing, /has no backup 2020-01-01T00-00-00Z/, { name: '2020-01-01T00-00-00Z' })
  await refused(plain, nothing, /is not encrypted/, encrypted)
  await refused(folder, nothing, /is encrypted\. Set BACKUP_KEY/)
  await refused(folder, nothing, /is encrypted with another key/, { key: deriveBackupKey(randomBytes(32)) })
  // Only the holder of the key can write a manifest.
  await refused(
    folder,
    (copy) => {
      const forged = readFileSync(manifestOf(copy), 'utf8').replace('"version":"test"', '"version":"fake"')
      writeFileSync(manifestOf(copy), forged)
    },
    /was changed or cut off/,
    encrypted,
  )
  expect(name).toMatch(/^\d{4}-/)
}, 90_000)

test('a database with tables is refused', async () => {
  const folder = backupFolder()
  await backUp(t, folder)
  const target = await emptyDatabase()
  const client = await target.connect()
  await client.query('create table things (id integer)')
  await expect(restore(folder, target.connectionString)).rejects.toThrow(/is not empty \(it has things\)/)
  await expect(restore(folder, t.connectionString)).rejects.toThrow(/is not empty/)
}, 60_000)

test('a table that someone added to the database is left out, and named', async () => {
  await t.app.db.query('create table notes_of_the_operator (id integer)')
  onTestFinished(async () => void (await t.app.db.query('drop table notes_of_the_operator')))
  const folder = backupFolder()
  const { tables } = await backUp(t, folder)
  const lines: string[] = []
  const restored = await restore(folder, (await emptyDatabase()).connectionString, { log: (line) => lines.push(line) })
  expect(restored.tables).toBe(tables - 1)
  expect(lines).toContain('left out: the table notes_of_the_operator, which is none of Faultline')
}, 60_000)

test('a backup that was killed leaves none, and the next one uses what it wrote', async () => {
  const folder = backupFolder()
  const proxy = await startDatabaseProxy(t.connectionString)
  onTestFinished(() => proxy.close())
  proxy.setFaults({ latencyMs: 30 })
  const child = admin(['backup', folder], { ...settings, DATABASE_URL: proxy.connectionString })
  const unfinished = join(folder, 'unfinished.ndjson')
  await waitFor('files', () => existsSync(unfinished) && readFileSync(unfinished, 'utf8').split('\n').length > 10)
  await endBy(child, 'SIGKILL')
  expect(manifests(folder)).toEqual([])
  await expect(restore(folder, (await emptyDatabase()).connectionString)).rejects.toThrow('holds no backup')
  // The lock of the killed process is free, and its connection ends soon.
  const done = await waitFor('the locks to be free', () =>
    backUp(t, folder).catch((error: unknown) => {
      if (error instanceof Error && error.message.includes('Another process')) return null
      throw error
    }),
  )
  expect(done.reusedFiles).toBeGreaterThan(5)
  expect(readdirSync(folder)).not.toContain('unfinished.ndjson')
  expect(readdirSync(join(folder, 'drafts'))).toEqual([])
  const target = await emptyDatabase()
  await restore(folder, target.connectionString)
  expect(await contentsOf(target.connectionString)).toEqual(await contentsOf(t.connectionString))
}, 90_000)

test.runIf(RUNS_LONG)(
  'a restore that was killed keeps the service from starting, and continues when it is started again',
  async () => {
    const folder = backupFolder()
    await backUp(t, folder)
    const target = await emptyDatabase()
    const client = await target.connect()
    const proxy = await startDatabaseProxy(target.connectionString)
    onTestFinished(() => proxy.close())
    proxy.setFaults({ latencyMs: 10 })
    const child = admin(['restore', folder], { ...settings, DATABASE_URL: proxy.connectionString })
    const filled = async (): Promise<number> => {
      const { rows } = await client.query<{ n: number }>('select count(*)::int as n from restore_steps where is_done')
      return rows[0]?.n ?? 0
    }
    await waitFor('some tables to be filled', async () => (await filled().catch(() => 0)) > 20)
    await endBy(child, 'SIGKILL')
    const before = await filled()
    await expect(migrateDatabase(target.connectionString, nothing)).rejects.toThrow(
      'A restore into this database was cut off',
    )
    const again = await waitFor('the lock to be free', async () => {
      const result = await adminCommand(['restore', folder], { ...settings, DATABASE_URL: target.connectionString })
      return result.lines.some((line) => line.includes('Another process')) ? null : result
    })
    expect(again.lines.join('\n')).toContain('a restore of this backup was cut off here: it continues')
    expect(again.code).toBe(0)
    expect(before).toBeGreaterThan(20)
    expect(await contentsOf(target.connectionString)).toEqual(await contentsOf(t.connectionString))
    expect(await schemaOf(target.connectionString)).toEqual(await schemaOf(t.connectionString))
  },
  120_000,
)

test('a database that goes away ends both with one line, and the restore continues afterwards', async () => {
  const folder = backupFolder()
  const proxy = await startDatabaseProxy(t.connectionString)
  onTestFinished(() => proxy.close())
  const cut = backUp({ ...t, connectionString: proxy.connectionString }, folder, {
    progress: () => proxy.setFaults({ reset: true }),
  })
  await expect(cut).rejects.toThrow(/^The database ended, or cannot be reached any more/)
  await waitFor('the locks to be free', () => backUp(t, folder).catch(() => null))
  const target = await emptyDatabase()
  const wire = await startDatabaseProxy(target.connectionString)
  onTestFinished(() => wire.close())
  let shown = 0
  const progress = (): void => {
    if (++shown === 20) wire.setFaults({ reset: true })
  }
  await expect(restore(folder, wire.connectionString, { progress })).rejects.toThrow(/^The database ended/)
  await waitFor('the lock to be free', () => restore(folder, target.connectionString).catch(() => null))
  expect(await contentsOf(target.connectionString)).toEqual(await contentsOf(t.connectionString))
}, 90_000)

test('PostgreSQL 15 takes a backup of 18, and its backup goes back', async () => {
  const dataDir = databaseFolder('faultline-backup15-')
  const old = await startEmbeddedPostgres({ dataDir, log: nothing, binaries: 'pg15', durability: 'none-for-tests' })
  onTestFinished(async () => {
    await old.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const folder = backupFolder()
  await backUp(t, folder)
  await restore(folder, old.connectionString)
  expect(await contentsOf(old.connectionString)).toEqual(await contentsOf(t.connectionString))
  const back = backupFolder()
  await backUp({ connectionString: old.connectionString, dataDir }, back)
  const target = await emptyDatabase()
  await restore(back, target.connectionString)
  expect(await contentsOf(target.connectionString)).toEqual(await contentsOf(t.connectionString))
}, 120_000)

test('the commands: a first backup in one line, and what a restore needs', async () => {
  const folder = backupFolder()
  const made = await adminCommand(['backup', folder], settings)
  expect(made.lines.at(-1)).toMatch(/^Backup .* is complete in .*\.$/)
  expect(made.lines.join('\n')).toContain('The encryption keys are not in it. Keep ')
  expect(made.code).toBe(0)
  const target = await emptyDatabase()
  const elsewhere = { ...settings, DATABASE_URL: target.connectionString, FAULTLINE_DATA_DIR: backupFolder() }
  const without = await adminCommand(['restore', folder], elsewhere)
  expect(without).toEqual({
    code: 1,
    lines: [expect.stringMatching(/^faultline: A restore needs the encryption keys of the installation/)],
  })
  const ENCRYPTION_KEYS = `k1:${randomBytes(32).toString('base64')}`
  const wrong = await adminCommand(['restore', folder], { ...elsewhere, ENCRYPTION_KEYS })
  expect([wrong.code, wrong.lines.at(-1)]).toEqual([1, expect.stringContaining('The encryption keys do not fit')])
  expect(await adminCommand(['backup'], settings)).toEqual({
    code: 1,
    lines: [expect.stringContaining('Name a folder')],
  })
}, 60_000)

test('a stop of the command in the middle ends it with its code', async () => {
  const folder = backupFolder()
  const proxy = await startDatabaseProxy(t.connectionString)
  onTestFinished(() => proxy.close())
  proxy.setFaults({ latencyMs: 30 })
  const child = admin(['backup', folder], { ...settings, DATABASE_URL: proxy.connectionString })
  await waitFor('files', () => existsSync(join(folder, 'unfinished.ndjson')))
  child.kill('SIGTERM')
  expect(await exitOf(child)).toEqual({ code: 1, signal: null })
  expect(manifests(folder)).toEqual([])
}, 60_000)
