import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../server/embedded-postgres/start.ts'
import { Database } from '../server/storage/database.ts'
import { migrate } from '../server/storage/migrate.ts'
import { createPool } from '../server/storage/pool.ts'
import { tableTypes } from './table-types.ts'

/** `npm run tables`: migrates an empty database and writes its row types; a test fails while the two differ. */
const file = new URL('../server/storage/tables.gen.ts', import.meta.url)
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
console.log('server/storage/tables.gen.ts written')
