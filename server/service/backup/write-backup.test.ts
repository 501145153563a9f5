import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { emptyDatabase } from '#test/kit/empty-database.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { createApp } from '../app.ts'
import { startService } from '../cli/service.ts'
import { dayPlus, utcDay } from '../../platform/kernel/day.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { backupFolder, backUp, contentsOf, restore, schemaOf } from './backup.fixture.ts'
import { beginSnapshot, isSameTable, lockTables, selectTables, selectTablesToLock } from './copied-tables.queries.ts'

const t = await testServer({ realTime: true, digestion: 'inline' })
const owner = await t.founder()
const project = await t.project(owner)
await t.issue({ project, by: owner, times: 3 })
await t.sessions({ project, release: 'shop@1.0', started: new Date(), exited: 3 })
/** The use of a key is written a moment after the request. */
const quiet = () =>
  waitFor('the key to be seen', async () => {
    const { rows } = await t.app.db.query('select 1 from project_keys where last_seen_at is null')
    return rows.length === 0
  })

/** A closed day of log entries, written as the database does it. */
async function writeLogs(day: string, count: number): Promise<void> {
  await ensureDayPartitions(t.app.db, [{ table: 'logs' }], day)
  await t.app.db.query(
    `insert into logs (received_day, id, project_id, received_at, occurred_at, level, severity_number, body, environment, attributes)
     select $1::date, gen_random_uuid(), $2, $1::date, $1::date, 'info', 9, 'entry ' || n, 'production', '{}' from generate_series(1, $3::int) n`,
    [day, project.id, count],
  )
}

const today = utcDay(new Date())

test('a restored database has the same rows, indexes, constraints, triggers and sequences', async () => {
  await quiet()
  await writeLogs(dayPlus(today, -3), 5_000)
  const folder = backupFolder()
  const done = await backUp(t, folder)
  expect(done).toMatchObject({ reusedFiles: 0, deletedBackups: 0 })
  const target = await emptyDatabase()
  const restored = await restore(folder, target.connectionString)
  expect(restored).toMatchObject({ tables: done.tables, rows: done.rows, bytes: done.bytes })
  expect(await contentsOf(target.connectionString)).toEqual(await contentsOf(t.connectionString))
  expect(await schemaOf(target.connectionString)).toEqual(await schemaOf(t.connectionString))
}, 60_000)

test('its files and folders are for their owner only', async () => {
  const folder = backupFolder()
  await backUp(t, folder)
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  const open = [folder, ...paths].filter((path) => (statSync(path).mode & 0o077) !== 0)
  // SQLite makes the file of the lock, which is empty.
  expect(open.filter((path) => !path.endsWith('faultline.guard'))).toEqual([])
  expect(readdirSync(join(folder, 'drafts'))).toEqual([])
})

test('closed days that did not change are not written again, and one that changed is', async () => {
  const day = dayPlus(today, -5)
  await writeLogs(day, 2_000)
  const folder = backupFolder()
  const first = await backUp(t, folder)
  const fileOf = (name: string): string => {
    const [, text = ''] = readFileSync(join(folder, `backup-${name}.json`), 'utf8').split('\n')
    const { tables } = JSON.parse(text) as { tables: { name: string; sha256: string }[] }
    return tables.find((table) => table.name === `logs_${day.replaceAll('-', '')}`)?.sha256 ?? ''
  }
  await secondPassed(first.name)
  const second = await backUp(t, folder)
  expect(second.reusedFiles).toBeGreaterThan(100)
  expect(fileOf(second.name)).toBe(fileOf(first.name))
  // A migration that adds a column changes no row.
  await t.app.db.query('alter table logs add column later text')
  await secondPassed(second.name)
  const wider = await backUp(t, folder)
  expect(fileOf(wider.name)).not.toBe(fileOf(first.name))
  await t.app.db.query('alter table logs drop column later')
  await secondPassed(wider.name)
  // One of the rows in another place: as many rows, other content.
  await t.app.db.query(
    `update logs set body = 'changed' where ctid = (select min(ctid) from logs where received_day = $1) and received_day = $1`,
    [day],
  )
  const third = await backUp(t, folder, { keep: 1 })
  expect(third.deletedBackups).toBe(3)
  const target = await emptyDatabase()
  await restore(folder, target.connectionString)
  const client = await target.connect()
  const { rows } = await client.query(`select count(*)::int as n from logs where body = 'changed'`)
  expect(rows).toEqual([{ n: 1 }])
  expect(readdirSync(folder).filter((name) => name.startsWith('backup-'))).toEqual([`backup-${third.name}.json`])
  expect(existsSync(join(folder, 'files', fileOf(third.name)))).toBe(true)
}, 60_000)

/** The name of a backup is the second of its snapshot. */
const secondPassed = (name: string) =>
  waitFor('the next second', () => new Date().toISOString().slice(0, 19).replaceAll(':', '-') > name.slice(0, -1))

test('what was acknowledged before it began is in it, while events arrive', async () => {
  let isWriting = true
  const acknowledged: string[] = []
  const write = async (): Promise<void> => {
    while (isWriting) {
      const { status, id } = await sendEvent(t.url, project.dsn, anEvent())
      if (status === 200 && id !== null) acknowledged.push(id)
      await setImmediate()
    }
  }
  const writers = [write(), write()]
  await waitFor('events to arrive', () => acknowledged.length > 20)
  const before = [...acknowledged]
  const folder = backupFolder()
  await backUp(t, folder).finally(() => (isWriting = false))
  await Promise.all(writers)
  expect(acknowledged.length).toBeGreaterThan(before.length)
  const target = await emptyDatabase()
  await restore(folder, target.connectionString)
  // The service digests what waited on the spool, and continues as the one that was backed up.
  const app = await createApp(t.app.config, target.connectionString, 4, 'restored', { log: t.app.log })
  const service = await startService(app, target.connectionString, { digestion: 'manual', jobs: false, channels: [] })
  try {
    await service.drain()
    const { id } = await sendEvent(service.publicUrl, project.dsn, anEvent())
    await service.drain()
    const { rows } = await app.db.query<{ id: string }>(`select replace(event_id::text, '-', '') as id from events`)
    const stored = new Set(rows.map((row) => row.id))
    expect(before.filter((one) => !stored.has(one))).toEqual([])
    expect(stored).toContain(id)
    const { rows: wrong } = await app.db.query(
      `select i.id, i.event_count, e.n from issues i join (select issue_id, count(*) as n from events group by 1) e on e.issue_id = i.id
       where i.event_count <> e.n`,
    )
    expect(wrong).toEqual([])
  } finally {
    await service.close()
    await app.close()
  }
}, 90_000)

test('a new day begins while a backup holds its tables', async () => {
  const lead = await t.app.db.reserve()
  try {
    const tables = await selectTablesToLock(lead, dayPlus(today, -14))
    await beginSnapshot(lead)
    await lockTables(lead, tables)
    const day = dayPlus(today, 20)
    // Waits for ever where the lock is in the way.
    await ensureDayPartitions(t.app.db, [{ table: 'events' }, { table: 'logs' }], day)
    const { rows } = await t.app.db.query(`select to_regclass('events_${day.replaceAll('-', '')}') is not null as made`)
    expect(rows).toEqual([{ made: true }])
  } finally {
    lead.release(true)
  }
})

test('a table that packing would replace is locked, and one that was replaced is noticed', async () => {
  const [day, old] = [dayPlus(today, -3), dayPlus(today, -40)]
  await ensureDayPartitions(t.app.db, [{ table: 'logs' }], day)
  await ensureDayPartitions(t.app.db, [{ table: 'logs' }], old)
  const nameOf = (one: string): string => `logs_${one.replaceAll('-', '')}`
  const lead = await t.app.db.reserve()
  try {
    const tables = await selectTablesToLock(lead, dayPlus(today, -14))
    await beginSnapshot(lead)
    await lockTables(lead, tables)
    const seen = await selectTables(lead)
    const replace = (one: string): Promise<void> =>
      t.app.tx(async (tx) => {
        await tx.query(`set local lock_timeout = '200ms'`)
        await tx.query(`alter table logs detach partition ${nameOf(one)}`)
        await tx.query(`drop table ${nameOf(one)}`)
        await tx.query(
          `create table ${nameOf(one)} partition of logs for values from ('${one}') to ('${dayPlus(one, 1)}')`,
        )
      })
    await expect(replace(day)).rejects.toThrow('lock timeout')
    // Older partitions are too many to lock. The name of one leads to an empty table now.
    await replace(old)
    for (const [one, same] of [
      [day, true],
      [old, false],
    ] as const) {
      const table = seen.find(({ name }) => name === nameOf(one))
      expect(table === undefined ? null : await isSameTable(lead, table)).toBe(same)
    }
  } finally {
    lead.release(true)
  }
})

test('it is refused inside the data folder, in a folder with other files, and while another one runs', async () => {
  await expect(backUp(t, join(t.dataDir, 'backups'))).rejects.toThrow('is inside the data folder')
  await expect(backUp(t, '/usr')).rejects.toThrow(/holds other files, such as .*Name an empty folder/)
  const folder = backupFolder()
  const lead = await t.app.db.reserve()
  try {
    await lead.query('select pg_advisory_lock(7201994341)')
    await expect(backUp(t, folder)).rejects.toThrow('Another process runs a backup of this database.')
  } finally {
    lead.release(true)
  }
})

/** A disk of one megabyte, where this user may mount one. */
function tinyDisk(): string | null {
  const path = mkdtempSync(join(tmpdir(), 'faultline-tiny-'))
  onTestFinished(() => {
    spawnSync('umount', [path])
    rmSync(path, { recursive: true, force: true })
  })
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path]).status === 0 ? path : null
}

test('a full disk is named, leaves nothing behind and the older backup whole', async (context) => {
  const disk = tinyDisk()
  if (disk === null) return context.skip('needs a user who may mount a file system')
  const folder = join(disk, 'backups')
  const first = await backUp(t, folder)
  const files = readdirSync(join(folder, 'files'))
  await secondPassed(first.name)
  await t.app.db.query(
    `insert into logs (received_day, id, project_id, received_at, occurred_at, level, severity_number, body, environment, attributes)
     select $1::date, gen_random_uuid(), $2, now(), now(), 'info', 9, gen_random_uuid() || '' || gen_random_uuid(), 'production', '{}' from generate_series(1, 20000)`,
    [today, project.id],
  )
  await expect(backUp(t, folder)).rejects.toThrow(
    `The backup folder ${folder} cannot be used: the disk is full. Free some space, or name a folder on another disk. Backups that it holds are unchanged.`,
  )
  expect(readdirSync(folder).filter((name) => name.startsWith('backup-'))).toEqual([`backup-${first.name}.json`])
  expect(readdirSync(join(folder, 'files')), 'the disk has room again').toEqual(files)
  await restore(folder, (await emptyDatabase()).connectionString)
  // With room again, the next one finds nothing in its way.
  spawnSync('mount', ['-o', 'remount,size=50m', disk])
  await backUp(t, folder)
}, 60_000)

test('a stop in the middle leaves no backup, and the older one whole', async () => {
  const folder = backupFolder()
  const first = await backUp(t, folder)
  await secondPassed(first.name)
  const stopping = new AbortController()
  const stopped = backUp(t, folder, {
    signal: stopping.signal,
    progress: (done) => {
      if (done > 0) stopping.abort(new Error('stopped'))
    },
  })
  await expect(stopped).rejects.toThrow('stopped')
  expect(readdirSync(folder).filter((name) => name.startsWith('backup-'))).toEqual([`backup-${first.name}.json`])
  await restore(folder, (await emptyDatabase()).connectionString)
}, 60_000)
