import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { testApp } from '#test/kit/test-app.ts'
import { startEmbeddedPostgres } from '../../platform/embedded-postgres/start.ts'
import { migrateDatabase } from './database.ts'

const t = await testApp()

const verify = (settings: Readonly<Record<string, string>>) =>
  adminCommand(['audit', 'verify'], { LOG_LEVEL: 'error', ...settings })

function aDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'faultline-audit-'))
  // For the user of the embedded database.
  chmodSync(directory, 0o711)
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const external = { DATABASE_URL: t.connectionString, FAULTLINE_DATA_DIR: t.dataDir }

test('what the operator can correct is one line', async () => {
  const ENCRYPTION_KEYS = `k9:${Buffer.from('a'.repeat(31) + 'b').toString('base64')}`
  expect(await verify({ ...external, ENCRYPTION_KEYS })).toEqual({
    code: 1,
    lines: ['faultline: ENCRYPTION_KEYS does not fit this database. Name the key that it was set up with.'],
  })
  const empty = aDirectory()
  expect(await verify({ FAULTLINE_DATA_DIR: empty })).toEqual({
    code: 1,
    lines: [`faultline: There is no database in ${empty}.`],
  })
  await t.app.db.query('alter table schema_migrations rename to other')
  expect(await verify(external)).toEqual({
    code: 1,
    lines: ['faultline: The database is not up to date. Run the command "migrate" first.'],
  })
  await t.app.db.query('alter table other rename to schema_migrations')
})

test('it creates no keys', async () => {
  const dataDir = aDirectory()
  const { code, lines } = await verify({ ...external, FAULTLINE_DATA_DIR: dataDir })
  expect(code).toBe(1)
  expect(lines).toEqual([expect.stringMatching(/^faultline: ENCRYPTION_KEYS is not set, and .* does not exist\.$/)])
  expect(existsSync(join(dataDir, 'keys'))).toBe(false)
})

test('beside a running service, it reads its embedded database', { timeout: 60_000 }, async () => {
  const dataDir = join(aDirectory(), 'data')
  mkdirSync(dataDir)
  const running = await startEmbeddedPostgres({ dataDir, log: () => {}, durability: 'none-for-tests' })
  onTestFinished(() => running.stop())
  await migrateDatabase(running.connectionString, () => {})
  const ENCRYPTION_KEYS = `k1:${Buffer.from('a'.repeat(31) + 'b').toString('base64')}`
  const { code, lines } = await verify({ FAULTLINE_DATA_DIR: dataDir, ENCRYPTION_KEYS })
  expect(code).toBe(1)
  // Only someone who has read the database knows.
  expect(lines.at(-1)).toBe('faultline: There is no audit log yet: the database has no key of it.')
})
