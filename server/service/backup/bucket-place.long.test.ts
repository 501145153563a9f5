import { randomBytes } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { adminCommand } from '#test/kit/admin-command.ts'
import { emptyDatabase } from '#test/kit/empty-database.ts'
import { startS3Server } from '#test/kit/s3-server.ts'
import { systemClock } from '../../platform/kernel/clock.ts'
import { checkBodies, checkStores } from '../doctor/check-stores.ts'
import { dayPlus, utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { backUp, contentsOf, never, restore, serverToBackUp } from './backup.fixture.ts'
import { deriveBackupKey } from './backup-key.ts'
import { pruneBackups } from './backup-place.ts'
import { bucketPlace } from './bucket-place.ts'

const server = await startS3Server()
afterAll(() => server.close())
const t = await serverToBackUp()
/** A closed day whose file is larger than a part of an upload. */
const day = dayPlus(utcDay(new Date()), -3)
await ensureDayPartitions(t.app.db, [{ table: 'event_blocks' }], day)
for (let block = 1; block <= 5; block++)
  await t.app.db.query('insert into event_blocks (received_day, block_id, body) values ($1, $2, $3)', [
    day,
    block,
    randomBytes(4_000_000),
  ])

beforeEach(() => {
  server.objects.clear()
  server.uploads.clear()
  server.requests.length = 0
  server.largestBytes = 0
  server.fault = () => null
  server.now = () => new Date()
})

const place = () =>
  bucketPlace('s3://bucket/backups', server.settings, { clock: systemClock, signal: never, retryScale: 0 })
const keysOf = (start: string): string[] => [...server.objects.keys()].filter((key) => key.startsWith(start))
const env = {
  DATABASE_URL: t.connectionString,
  FAULTLINE_DATA_DIR: t.dataDir,
  LOG_LEVEL: 'error',
  S3_ENDPOINT: server.url,
  S3_REGION: server.settings.region,
  S3_ACCESS_KEY_ID: server.settings.accessKeyId,
  S3_SECRET_ACCESS_KEY: server.settings.secretAccessKey,
}

test('a backup that is cut off leaves no manifest, and the next one uses what it finished and is restored', async () => {
  const key = { key: deriveBackupKey(randomBytes(32)) }
  // The key loses its rights when the large file is there.
  server.fault = ({ key: name }) =>
    server.objects.has('backups/unfinished.ndjson') && !name.endsWith('unfinished.ndjson')
      ? { status: 403, code: 'AccessDenied' }
      : null
  await expect(backUp(t, place(), key)).rejects.toThrow(
    /^s3:\/\/bucket\/backups cannot be used: The access key may not do this in the bucket bucket\. .*Backups that it holds are unchanged\.$/,
  )
  expect(keysOf('backups/backup-')).toEqual([])
  server.fault = () => null
  server.requests.length = 0
  const { name } = await backUp(t, place(), key)
  expect(server.requests.filter((request) => request.startsWith('POST'))).toEqual([])
  expect(server.largestBytes, 'no body is larger than a part').toBe(16 * 1024 * 1024)
  expect([keysOf('backups/backup-'), keysOf('backups/drafts/'), keysOf('backups/unfinished')]).toEqual([
    [`backups/backup-${name}.json`],
    [],
    [],
  ])
  const files = [...server.objects].filter(([file]) => file.startsWith('backups/files/'))
  expect(files.filter(([, { body }]) => body.subarray(0, 5).toString() !== 'FLBK1')).toEqual([])
  const target = await emptyDatabase()
  await restore(place(), target.connectionString, key)
  expect(await contentsOf(target.connectionString)).toEqual(await contentsOf(t.connectionString))

  // A changed byte is found before anything is written.
  const [, largest] = files.toSorted(([, a], [, b]) => b.body.length - a.body.length)[0] ?? []
  largest?.body.writeUInt8(largest.body.readUInt8(5) ^ 1, 5)
  await expect(restore(place(), target.connectionString, key)).rejects.toThrow(/was changed after it was written/)
}, 60_000)

test('a file that another installation deleted meanwhile ends the backup', async () => {
  server.fault = ({ key }) => {
    const [file] = keysOf('backups/files/')
    if (key === '' && file !== undefined) server.objects.delete(file)
    return null
  }
  await expect(backUp(t, place())).rejects.toThrow(/has lost the file of .* Give each installation a place of its own/)
  expect(keysOf('backups/backup-')).toEqual([])
}, 60_000)

test('files that no backup names are deleted when they are a day old', async () => {
  const store = (name: string, tables: string[]) =>
    server.objects.set(`backups/backup-${name}.json`, {
      body: Buffer.from(`{}\n${JSON.stringify({ tables: tables.map((sha256) => ({ sha256 })) })}\n`),
      modifiedAt: new Date(),
    })
  const file = (sha256: string, hoursOld: number) =>
    server.objects.set(`backups/files/${sha256}`, {
      body: Buffer.from(sha256),
      modifiedAt: new Date(Date.now() - hoursOld * 3_600_000),
    })
  store('2026-11-27T01-00-00Z', ['old', 'shared'])
  store('2026-11-28T01-00-00Z', ['shared', 'new'])
  for (const name of ['old', 'shared', 'new', 'stray']) file(name, 30)
  file('fresh', 23)
  expect(await pruneBackups(place(), 1)).toBe(1)
  expect([...server.objects.keys()].toSorted()).toEqual([
    'backups/backup-2026-11-28T01-00-00Z.json',
    'backups/files/fresh',
    'backups/files/new',
    'backups/files/shared',
  ])
})

test('the commands take s3:// addresses, and say in one line what is wrong', async () => {
  const refused = await adminCommand(['backup', 'list'], {
    ...env,
    BACKUP_FOLDER: 's3://bucket/backups/',
    S3_SECRET_ACCESS_KEY: 'another',
  })
  expect(refused).toMatchObject({ code: 1, lines: [expect.stringMatching(/s3:.* Correct S3_SECRET_ACCESS_KEY\. /)] })
  const without = await adminCommand(['backup', 'list', 's3://bucket/backups'], { FAULTLINE_DATA_DIR: t.dataDir })
  expect(without.lines).toEqual([expect.stringMatching(/needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY/)])
}, 60_000)

test('the doctor writes, reads and deletes an object', async () => {
  const config = {
    ...t.app.config,
    backup: { ...t.app.config.backup, folder: 's3://bucket/backups' },
    s3: server.settings,
  }
  expect(await checkStores(config, systemClock)).toMatchObject([{ level: 'ok' }])
  expect(server.objects.size).toBe(0)
  server.fault = ({ method }) => (method === 'DELETE' ? { status: 403, code: 'AccessDenied' } : null)
  expect(await checkStores(config, systemClock)).toMatchObject([
    {
      level: 'problem',
      text: expect.stringMatching(/^s3:\/\/bucket\/backups: The access key may not do this/) as unknown,
    },
  ])
})

test('the doctor finds bodies without a store, and objects that are lost; only a confirmed command gives them up', async () => {
  const id = newId()
  const db = t.app.db
  const insert = `insert into event_segments values ($1, current_date, '', 3, 'stored', now() - interval '2 hours')`
  await db.query(insert, [id])
  const unset = { ...t.app.config, s3: server.settings }
  const config = { ...unset, blocks: { ...unset.blocks, url: 's3://bucket/events' } }
  const text = (of: string) => expect.stringContaining(of) as unknown
  expect(await checkBodies(db, unset, systemClock)).toMatchObject({ level: 'problem', text: text('Set it again') })
  expect(await checkBodies(db, config, systemClock)).toMatchObject({
    level: 'problem',
    text: text('lost 1 of 1 object'),
  })
  const refused = await adminCommand(['bodies', 'forget-lost', '--yes'], { ...env, BLOCKS_URL: 's3://bucket/events' })
  expect(refused).toMatchObject({
    code: 1,
    lines: [text('s3://bucket/events has none of 1 object. Check BLOCKS_URL.')],
  })
  const { rows } = await db.query<{ day: string }>('select received_day as day from event_segments')
  server.objects.set(`events/blocks/${rows[0]?.day}/${id}`, { body: Buffer.from('abc'), modifiedAt: new Date() })
  expect(await checkBodies(db, config, systemClock)).toMatchObject({ level: 'ok' })
  await db.query('delete from event_segments')
})
