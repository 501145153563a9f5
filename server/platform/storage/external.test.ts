import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DatabaseStartError } from './pool.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded-postgres/start.ts'
import { checkExternalDatabase } from './external.ts'

let parent: string
let db: EmbeddedPostgres
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'faultline-external-'))
  chmodSync(parent, 0o755)
  db = await startEmbeddedPostgres({
    dataDir: join(parent, 'data'),
    log: () => {},
    binaries: 'pg15',
    durability: 'none-for-tests',
  })
  await run(`create role guest login`, `create database latin encoding 'LATIN1' template template0`)
})
afterAll(async () => {
  await db.stop()
  rmSync(parent, { recursive: true, force: true })
})

async function run(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: db.connectionString })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/** The working URL with parts replaced. */
function address(change: { user?: string; database?: string } = {}): string {
  const url = new URL(db.connectionString)
  if (change.user) url.username = change.user
  if (change.database) url.pathname = `/${change.database}`
  return url.href
}

async function refusal(url: string, options?: { timeoutMs?: number; minMajor?: number }): Promise<string> {
  const error: unknown = await checkExternalDatabase(url, options).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(DatabaseStartError)
  const { message } = error as Error
  expect(message).not.toContain('\n')
  expect(message).not.toContain('hunter2')
  return message
}

test('PostgreSQL 15 is new enough', async () => {
  expect(await checkExternalDatabase(db.connectionString)).toEqual({ majorVersion: 15 })
})

test('the error for an older server names its version', async () => {
  expect(await refusal(db.connectionString, { minMajor: 16 })).toBe(
    'DATABASE_URL leads to PostgreSQL 15, Faultline needs 16 or newer.',
  )
})

test('a database that does not exist', async () => {
  expect(await refusal(address({ database: 'nowhere' }))).toContain('has no database nowhere (DATABASE_URL)')
})

test('a user that does not exist', async () => {
  expect(await refusal(address({ user: 'stranger' }))).toContain('refuses the user stranger')
})

test('a user who may not create tables', async () => {
  expect(await refusal(address({ user: 'guest' }))).toContain('may not create tables')
})

test('a database that cannot store all text', async () => {
  expect(await refusal(address({ database: 'latin' }))).toContain('stores text as LATIN1')
})

test('a port that no server listens on', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  expect(await refusal(`postgres://me:hunter2@127.0.0.1:${port}/db`)).toContain(
    `No PostgreSQL answers at 127.0.0.1:${port}`,
  )
})

test('a server that accepts the connection and sends nothing', async () => {
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  expect(await refusal(`postgres://me:hunter2@127.0.0.1:${port}/db`, { timeoutMs: 200 })).toContain('cannot be reached')
  await new Promise((resolve) => server.close(resolve))
})

test('a host without an address', async () => {
  expect(await refusal('postgres://me:hunter2@nothing.invalid/db')).toContain(
    'nothing.invalid of DATABASE_URL has no address',
  )
})

test('a socket that does not exist', async () => {
  expect(await refusal('postgres://me@localhost/db?host=/nonexistent')).toContain('the socket in /nonexistent')
})

test('an invalid URL', async () => {
  expect(await refusal('postgres://me:hunter2@[::/db')).toContain('is not a valid address')
})
