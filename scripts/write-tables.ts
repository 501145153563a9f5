import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../server/platform/embedded-postgres/start.ts'
import { Database } from '../server/platform/storage/database.ts'
import { migrate } from '../server/platform/storage/migrate.ts'
import { createPool } from '../server/platform/storage/pool.ts'
import { tableTypes } from './table-types.ts'

/** `npm run tables`: migrates an empty database and writes its row types; a test fails while the two differ. */
const file = new URL('../server/platform/storage/tables.gen.ts', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'faultline-tables-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => {}, durability: 'none-for-tests' })
try {
  const { connectionString } = postgres
  const pool = createPool({ connectionString, name: 'write tables', max: 1, onError: () => {} })
  try {
    const client = await pool.connect()
    await migrate(client)
    client.release()
    writeFileSync(file, await tableTypes(new Database(pool)))
  } finally {
    await pool.end()
  }
} finally {
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
console.log('server/platform/storage/tables.gen.ts written')
