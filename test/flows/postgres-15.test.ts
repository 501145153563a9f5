import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createApp } from '#server/app.ts'
import { migrateDatabase } from '#server/cli/database.ts'
import { startService } from '#server/cli/service.ts'
import { readConfig } from '#server/config.ts'
import { startEmbeddedPostgres } from '#server/storage/embedded/start.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import type { Issue } from '#server/issues/issues.api.ts'

/** The main story on the oldest PostgreSQL an operator may bring: no SQL of ours is newer than it. */

const folder = mkdtempSync(join(tmpdir(), 'faultline-pg15-'))
const postgres = await startEmbeddedPostgres({
  dataDir: folder,
  log: () => {},
  binaries: 'pg15',
  durability: 'none-for-tests',
})
await migrateDatabase(postgres.connectionString, () => {})
const config = readConfig({ FAULTLINE_DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'error' })
const app = await createApp(config, postgres.connectionString, 6, 'test')
const service = await startService(app, postgres.connectionString, { digestion: 'manual' })
afterAll(async () => {
  await service.close()
  await app.close()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('PostgreSQL 15: sign up, send, read, search, resolve, see it come back, delete', async () => {
  expect(postgres.majorVersion).toBe(15)
  const ada = await aFounder(service.publicUrl)
  const project = await aProject(ada)
  const send = async (fields: Record<string, unknown>): Promise<void> => {
    expect((await sendEvent(service.publicUrl, project.dsn, anEvent(fields))).status).toBe(200)
    await service.drain()
  }
  await send({ user: { id: '1' }, extra: { password: 'secret' } })
  await send({ user: { id: '2' } })
  const found = (await ada.get('/api/issues/search?q=confirmPayment')).as<{ items: Issue[] }>()
  expect(found.items).toMatchObject([{ event_count: 2, user_count: 2, status: 'unresolved' }])
  const at = `/api/issues/${found.items[0]?.id}`
  expect((await ada.patch(at, { status: 'resolved' })).status).toBe(200)
  await send({ timestamp: Date.now() / 1000 + 1 })
  expect((await ada.get(at)).body).toMatchObject({ status: 'regressed', event_count: 3 })
  expect((await ada.get('/api/issues/volume?range=7d')).body).toMatchObject({ total: 3 })
  expect((await ada.post(`/api/projects/${project.id}/rotate-dsn`, { grace_seconds: 0 })).status).toBe(200)
  expect((await sendEvent(service.publicUrl, project.dsn, anEvent())).status).toBe(403)
  expect((await ada.delete(at)).status).toBe(204)
  expect((await ada.get('/api/issues')).body).toMatchObject({ total: 0 })
})
