import { spawn } from 'node:child_process'
import { afterAll, expect, test } from 'vitest'
import { adminCommand } from '../kit/admin-command.ts'
import { emptyDatabase } from '../kit/empty-database.ts'
import { freePort } from '../kit/free-port.ts'
import { endBy } from '../kit/processes.ts'
import { testServer } from '../kit/test-server.ts'
import { waitFor } from '../kit/wait.ts'
import { moto } from './toolchains.ts'

/** Backups in a store of other authors that speaks S3. */

const store = await moto()
const t = await testServer({ realTime: true })
const owner = await t.founder()
await t.issue({ project: await t.project(owner), by: owner, times: 3 })
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const [program, ...args] = 'command' in store ? store.command : []
const server = program === undefined ? null : spawn(program, [...args, String(port)], { stdio: 'ignore' })
afterAll(async () => {
  if (server !== null) await endBy(server, 'SIGTERM')
})

const settings = {
  DATABASE_URL: t.connectionString,
  FAULTLINE_DATA_DIR: t.dataDir,
  LOG_LEVEL: 'error',
  S3_ENDPOINT: url,
  S3_ACCESS_KEY_ID: 'key',
  S3_SECRET_ACCESS_KEY: 'secret',
  BACKUP_FOLDER: 's3://backups/of/a-test',
}

test.skipIf(server === null)(
  `a backup is written, listed and restored${'missing' in store ? `: ${store.missing}` : ''}`,
  async () => {
    await waitFor('the store to answer', () =>
      fetch(`${url}/backups`, { method: 'PUT' }).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    const absent = await adminCommand(['backup', 's3://absent/place'], settings)
    expect(absent.lines.at(-1)).toMatch(/has no bucket absent\. Make it, or correct the name\./)
    const made = await adminCommand(['backup'], settings)
    expect(made.lines.at(-1)).toMatch(/is complete in s3:\/\/backups\/of\/a-test, after/)
    const listed = await adminCommand(['backup', 'list'], settings)
    expect(listed.lines.at(-1)).toBe('1 backup in s3://backups/of/a-test.')
    const target = await emptyDatabase()
    const restored = await adminCommand(['restore'], { ...settings, DATABASE_URL: target.connectionString })
    expect(restored.lines.at(-1)).toMatch(/^The restore is complete/)
  },
)
