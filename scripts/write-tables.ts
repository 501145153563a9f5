import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../server/embedded-postgres/start.ts'
import { migrate } from '../server/storage/migrate.ts'
import { tableTypes } from './table-types.ts'

/** `npm run tables`: migrates an empty database and writes its row types; a test fails while the two differ. */
const file = new URL('../server/storage/tables.gen.ts', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'faultline-tables-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => {}, durability: 'none-for-tests' })
try {
  const client = new pg.Client({ connectionString: postgres.connectionString })
  await client.connect()
  try {
    await migrate(client)
    writeFileSync(file, await tableTypes(client))
  } finally {
    await client.end()
  }
} finally {
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
console.log('server/storage/tables.gen.ts written')
