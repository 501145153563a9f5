import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { spoolEntry } from './entry.fixture.ts'
import { packEntries, SHARD_NUMBERS, type SpoolEntry, spoolPart, unpackEntries } from './entry.ts'
import {
  claimShards,
  type SpoolBatch,
  type SpoolReader,
  quarantineBatch,
  quarantineEntry,
  settleBatches,
  SpoolFencedError,
} from './read.ts'
import type { RowLimits } from './part-rows.ts'
import { createSpool, type Spool } from './write.ts'

const { app, connectionString } = await testApp()
const PROJECT = '01890000-0000-7000-8000-000000000001'
await app.db.query(`insert into orgs (id, slug, name, data_key_sealed, created_at) values ($1, 'o', 'O', 'x', now())`, [
  PROJECT,
])
await app.db.query(
  `insert into projects (id, org_id, name, slug, platform, region, created_at) values ($1, $1, 'P', 'p', 'web', 'eu-central-1', now())`,
  [PROJECT],
)

const anEntry = (overrides: Partial<SpoolEntry> = {}): SpoolEntry =>
  spoolEntry({
    projectId: PROJECT,
    receivedAtMs: app.clock.now().getTime(),
    encoding: 'gzip',
    clientIp: '10.0.0.1',
    userAgent: 'agent "quoted" \u0000 \ud800',
    sdkClient: 'sentry.node/11',
    eventId: 'a'.repeat(32),
    body: 'body',
    ...overrides,
  })

const open: { close(): Promise<void> }[] = []
const opened = <T extends { close(): Promise<void> }>(thing: T): T => {
  open.push(thing)
  return thing
}
const spool = (...limits: Parameters<typeof createSpool> extends [unknown, ...infer Rest] ? Rest : never): Spool =>
  opened(createSpool(app, ...limits))
const reader = async (): Promise<SpoolReader> => opened(await claimShards(app))
const all = { maxRows: 1000, maxBytes: 1 << 30 }

afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
  await app.db.query('truncate spool, spool_quarantine')
})

async function readAll(from: SpoolReader): Promise<SpoolBatch[]> {
  const batches: SpoolBatch[] = []
  for (const part of from.parts()) batches.push(...(await from.read(part, all)))
  return batches
}

describe('append and read', () => {
  test('returns every entry unchanged', async () => {
    const entries = [
      anEntry({
        body: randomBytes(5_000),
        dropped: [
          { index: 3, reason: 'rate_limited' },
          { index: 4, reason: 'too_large' },
        ],
      }),
      anEntry({
        projectNumber: 5,
        endpoint: 'store',
        encoding: 'none',
        clientIp: null,
        eventId: null,
        body: Buffer.alloc(0),
      }),
      anEntry({ projectNumber: 9, encoding: 'zstd' }),
    ]
    const to = spool()
    await Promise.all(entries.map((entry) => to.append(entry)))
    const batches = await readAll(await reader())
    expect(batches.flatMap((batch) => batch.entries)).toEqual(entries)
    for (const batch of batches)
      for (const entry of batch.entries) expect(spoolPart(entry.projectNumber)).toBe(batch.part)
  })

  test('hundreds of appends share few rows and keep their order', async () => {
    const to = spool()
    await Promise.all(Array.from({ length: 1_200 }, (_, i) => to.append(anEntry({ body: Buffer.from(`${i}`) }))))
    const batches = await readAll(await reader())
    expect(batches.length).toBeLessThan(20)
    expect(batches.every((batch) => batch.entries.length <= 500)).toBe(true)
    expect(batches.flatMap((batch) => batch.entries).map((entry) => entry.body.toString())).toEqual(
      Array.from({ length: 1_200 }, (_, i) => `${i}`),
    )
  })

  test('each large entry gets its own row', async () => {
    const to = spool()
    const large = () => anEntry({ body: Buffer.alloc(3 * 1024 * 1024, 'x') })
    await Promise.all([to.append(large()), to.append(large()), to.append(large())])
    const batches = await readAll(await reader())
    expect(batches.map((batch) => batch.entries.length)).toEqual([1, 1, 1])
  })

  test('a read stops at its limits, but returns at least one row', async () => {
    const to = spool()
    for (let i = 0; i < 5; i++) await to.append(anEntry({ body: Buffer.alloc(1000) }))
    const from = await reader()
    const lengthOf = async (limits: RowLimits): Promise<number> => {
      from.giveBack(0)
      return (await from.read(0, limits)).length
    }
    expect(await lengthOf({ maxRows: 2, maxBytes: 1 << 20 })).toBe(2)
    expect(await lengthOf({ maxRows: 100, maxBytes: 2_500 })).toBe(3)
    expect(await lengthOf({ maxRows: 100, maxBytes: 1 })).toBe(1)
    expect(await from.read(0, all)).toHaveLength(4)
  })

  test('a read skips the rows in hand, and repeats them only when they were given back', async () => {
    const to = spool()
    for (let i = 0; i < 4; i++) await to.append(anEntry({ body: Buffer.from(`${i}`) }))
    const from = await reader()
    const idsOf = async (limits = all): Promise<number[]> => (await from.read(0, limits)).map(({ id }) => id)
    const first = await idsOf({ maxRows: 3, maxBytes: 1 << 20 })
    const [last] = await idsOf()
    from.checkTable()
    expect(await idsOf()).toEqual([])
    await app.tx((tx) => settleBatches(tx, 0, [{ projectNumber: 4, id: first[1]! }]))
    from.settled(0, [first[1]!])
    from.giveBack(0)
    expect(await idsOf()).toEqual([first[0], first[2], last])
  })
})

describe('settling', () => {
  test('deletes rows once; a second reader gets an error', async () => {
    await spool().append(anEntry())
    const [batch] = await readAll(await reader())
    await app.tx((tx) => settleBatches(tx, batch!.part, [batch!]))
    await expect(app.tx((tx) => settleBatches(tx, batch!.part, [batch!]))).rejects.toThrow(SpoolFencedError)
    expect(await opened(createSpool(app)).backlog()).toEqual({ rows: 0, entries: 0, bytes: 0, oldestAgeMs: 0 })
  })

  test('quarantine keeps bytes and reason', async () => {
    const entry = anEntry({ body: randomBytes(100) })
    await spool().append(entry)
    const [batch] = await readAll(await reader())
    await app.tx((tx) => quarantineBatch(tx, batch!, 'It always failed.', app.clock.now(), []))
    await app.tx((tx) => quarantineEntry(tx, entry, 'Again.', 1, app.clock.now(), []))
    const { rows } = await app.db.query<{ reason: string; entry: Buffer; body: Buffer }>(
      'select reason, entry, body from spool_quarantine order by id',
    )
    expect(rows.map((row) => row.reason)).toEqual(['It always failed.', 'Again.'])
    expect(unpackEntries(rows[0]!.entry, rows[0]!.body)).toEqual([entry])
    expect((await opened(createSpool(app)).backlog()).rows).toBe(0)
  })

  test('the backlog has rows, entries, bytes and age', async () => {
    const to = spool()
    await to.append(anEntry({ receivedAtMs: app.clock.now().getTime() - 5_000, body: Buffer.alloc(10) }))
    await to.append(anEntry({ projectNumber: 5, body: Buffer.alloc(7) }))
    expect(await to.backlog()).toEqual({ rows: 2, entries: 2, bytes: 17, oldestAgeMs: 5_000 })
  })
})

/** A connection of another process. */
async function connected(): Promise<pg.Client> {
  const other = new pg.Client({ connectionString })
  await other.connect()
  open.push({ close: () => other.end() })
  return other
}

describe('shards', () => {
  test('are locked by one reader at a time, and by the next when it closes', async () => {
    const first = await reader()
    const second = await reader()
    expect(first.shards()).toEqual(SHARD_NUMBERS)
    expect(second.shards()).toEqual([])
    await first.close()
    await waitFor('the second reader to take over', () => second.shards().length === SHARD_NUMBERS.length)
  })

  test('of a part may be read by two processes, each of which reads only its own projects', async () => {
    const other = await connected()
    await other.query('select pg_advisory_lock(720199, $1)', [4 + 5])
    const first = await reader()
    expect(first.shards(1)).toEqual([1, 9, 13])
    const to = spool()
    await to.append(anEntry({ projectNumber: 5 }))
    await to.append(anEntry({ projectNumber: 17 }))
    expect((await readAll(first)).map(({ projectNumber }) => projectNumber)).toEqual([17])
    await other.query('select pg_advisory_unlock_all()')
    await waitFor('the shard to be free', () => first.shards(1).length === 4)
    expect((await readAll(first)).map(({ projectNumber }) => projectNumber)).toEqual([5])
  })

  test('of a part are not read while a process of a former version reads the part, nor the other way round', async () => {
    const other = await connected()
    await other.query('select pg_advisory_lock(720199, 1)')
    const from = await reader()
    expect(from.parts()).toEqual([0, 2, 3])
    const to = spool()
    await to.append(anEntry({ projectNumber: 5 }))
    expect(await readAll(from)).toEqual([])
    await other.query('select pg_advisory_unlock_all()')
    await waitFor('the part to be free', () => from.shards(1).length === 4)
    expect(await readAll(from)).toHaveLength(1)
    const { rows } = await other.query<{ taken: boolean }>('select pg_try_advisory_lock(720199, 1) as taken')
    expect(rows).toEqual([{ taken: false }])
  })

  test('are locked again after the connection broke', async () => {
    const from = await reader()
    const other = new pg.Client({ connectionString })
    await other.connect()
    await other.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
    )
    await waitFor('the shards to be lost', () => from.shards().length === 0)
    await waitFor('the shards to be locked again', () => from.shards().length === SHARD_NUMBERS.length)
    await other.end()
  })

  test('the first read counts an attempt of the oldest row; after several attempts it is read alone', async () => {
    const to = spool()
    await to.append(anEntry())
    await to.append(anEntry())
    for (let attempt = 1; attempt <= 3; attempt++) {
      const from = await claimShards(app)
      const batches = await from.read(0, all)
      expect(batches.map((batch) => batch.attempts)).toEqual(attempt <= 2 ? [attempt, 0] : [attempt])
      await from.close()
    }
  })

  test('wait resolves when there are new rows', async () => {
    const from = await reader()
    await from.wait()
    const to = spool()
    const heard = from.wait()
    await to.append(anEntry())
    await heard
    expect(await from.read(0, all)).toHaveLength(1)
  })

  test('endWaits ends waits without parts', async () => {
    const from = await reader()
    await from.wait()
    const heard = [from.wait(), from.wait()]
    from.endWaits()
    expect(await Promise.all(heard)).toEqual([new Set(), new Set()])
  })

  test('notifications name the parts with new rows', async () => {
    const other = new pg.Client({ connectionString })
    await other.connect()
    const received: (string | undefined)[] = []
    other.on('notification', ({ payload }) => received.push(payload))
    await other.query('listen faultline_spool')
    const to = spool()
    await to.append(anEntry({ projectNumber: 5 }))
    await waitFor('the message', () => received.length > 0)
    await Promise.all([to.append(anEntry({ projectNumber: 4 })), to.append(anEntry({ projectNumber: 7 }))])
    await waitFor('the messages', () => received.join().includes('0') && received.join().includes('3'))
    expect(received[0]).toBe('1')
    expect(received.join()).not.toContain('2')
    await other.end()
  })

  test('notifications of one part do not delay the polling of others; one without a part means all', async () => {
    const from = await reader()
    await from.wait()
    await waitFor('the turn of another part', async () => {
      await notifyOf('0')
      return (await from.wait()).has(3)
    })
    await waitFor('a lone part', async () => {
      await notifyOf('2')
      const heard = await from.wait()
      return heard.size === 1 && heard.has(2)
    })
    await notifyOf('')
    await waitFor('all parts', async () => (await from.wait()).size === 4)
  })
})

const notifyOf = (parts: string) => app.db.query(`select pg_notify('faultline_spool', $1)`, [parts])

describe('pressure', () => {
  test('above the limits of memory an append is refused immediately, and accepted entries are stored', async () => {
    const to = spool({ maxWaitingEntries: 3, maxWaitingBytes: 1 << 20, maxBacklogBytes: 1 << 30 })
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => to.append(anEntry())))
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(3)
    expect(results.find((result) => result.status === 'rejected')?.reason).toMatchObject({
      code: 'rate_limited',
      details: { retryAfterSeconds: 5 },
    })
    expect(to.waiting()).toEqual({ entries: 0, bytes: 0 })
    expect((await to.backlog()).entries).toBe(3)
  })

  test('appends of a broken connection are refused as unavailable, and the next append succeeds', async () => {
    const to = spool()
    await to.append(anEntry())
    const other = new pg.Client({ connectionString })
    await other.connect()
    // Holds the table so that the flush hangs until its connection is cut.
    await other.query('begin; lock table spool')
    const hanging = to.append(anEntry({ body: Buffer.from('lost') }))
    hanging.catch(() => {})
    await waitFor('the flush to hang', async () => {
      const { rows } = await app.db.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid() and query like '%insert into spool (%'`,
      )
      for (const { pid } of rows) await app.db.query('select pg_terminate_backend($1)', [pid])
      return rows.length > 0
    })
    await expect(hanging).rejects.toMatchObject({ code: 'unavailable' })
    await other.query('rollback')
    await other.end()
    await to.append(anEntry({ body: Buffer.from('kept') }))
    const bodies = (await readAll(await reader())).flatMap((batch) =>
      batch.entries.map((entry) => entry.body.toString()),
    )
    expect(bodies).toEqual(['body', 'kept'])
  })

  test('close waits for pending appends and refuses later ones', async () => {
    const to = createSpool(app)
    const appended = to.append(anEntry())
    await to.close()
    await appended
    await expect(to.append(anEntry())).rejects.toMatchObject({ code: 'unavailable' })
  })
})

test('unpacking throws when a row does not fit its bodies', () => {
  const entry = anEntry()
  expect(() => unpackEntries(packEntries([entry]), Buffer.from('b'))).toThrow('spool row')
  expect(() => unpackEntries(Buffer.from('[[1]]'), entry.body)).toThrow()
})
