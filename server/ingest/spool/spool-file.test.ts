import fs, { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { fakeClock } from '#test/kit/fake-clock.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { spoolEntry } from './entry.fixture.ts'
import { isDigestedUpTo } from './erase-from-spool.ts'
import { startFileSync } from './file-sync.ts'
import { isInFile, readRecords } from './file-records.ts'
import { createHandOver, type ThreadHandOver } from './hand-over.ts'
import { moveRows } from './move-file-rows.ts'
import { backlogOfProject, largestLags, lateShards, readBacklog, readBacklogs } from './project-backlog.ts'
import { claimShards, type SpoolBatch, type SpoolReader, settleBatches, SpoolFencedError } from './read.ts'
import { emptySpoolFile, openSpoolFile, type SpoolFile, waitingInFile } from './spool-file.ts'
import { createSpool, mayBeStored, type Spool } from './write.ts'

const { app, dataDir, logLines } = await testApp({ realTime: true })
const all = { maxRows: 1000, maxBytes: 1 << 30 }
const folder = join(dataDir, 'spool')

const open: { close(): Promise<void> }[] = []
const opened = <T extends { close(): Promise<void> }>(thing: T): T => {
  open.push(thing)
  return thing
}

afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
  await app.db.query('truncate spool, spool_settled')
  rmSync(folder, { recursive: true, force: true })
})

test('syncs answer in their order, an error of one leaves the others, and a thread that ended is started again', async () => {
  const syncs = opened(startFileSync())
  const path = join(dataDir, 'synced')
  const file = fs.openSync(path, 'w')
  const results = await Promise.allSettled([syncs.sync(file), syncs.sync(-1), syncs.sync(file)])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  await syncs.close()
  await syncs.sync(file)
  fs.closeSync(file)
})

type Pair = { readonly to: Spool; readonly file: SpoolFile; readonly handOver: ThreadHandOver }

async function aSpool(
  options: Parameters<typeof openSpoolFile>[1] = {},
  using = app,
  maxBytes?: () => number,
): Promise<Pair> {
  const file = await openSpoolFile(using, options)
  if (file === null) throw new Error('the file is open')
  opened(file)
  const handOver = createHandOver(maxBytes, file)
  return { file, handOver, to: opened(createSpool(using, {}, handOver, null, file)) }
}

/** Opens a digest thread's end. The first row makes the first segment, and goes to the table meanwhile. */
async function aReader({ to, handOver }: Pair): Promise<SpoolReader> {
  const from = opened(await claimShards(app, handOver.connect()))
  for (const part of from.parts()) await from.read(part, all)
  await append(to, 'first')
  await waitFor('a segment', () => existsSync(folder) && readdirSync(folder).length > 0 && isReady(to, from))
  return from
}
async function isReady(to: Spool, from: SpoolReader): Promise<boolean> {
  await append(to, 'probe')
  const isThere = waitingInFile(app).length > 0
  const rows: SpoolBatch[] = []
  await waitFor('the probe', async () => {
    rows.push(...(await from.read(0, all)))
    return texts(rows).includes('probe')
  })
  await settle(from, rows)
  await waitFor('the file to be empty', () => waitingInFile(app).length === 0)
  return isThere
}

async function append(to: Spool, ...bodies: string[]): Promise<void> {
  for (const body of bodies)
    await to.append(spoolEntry({ projectNumber: 4, receivedAtMs: app.clock.now().getTime(), body }), 'org')
}
async function settle(from: SpoolReader, rows: readonly SpoolBatch[]): Promise<void> {
  await app.tx((tx) => settleBatches(tx, 0, rows))
  from.settled(
    0,
    rows.map(({ id }) => id),
  )
}
const texts = (batches: readonly SpoolBatch[]): string[] =>
  batches.flatMap(({ entries }) => entries.map(({ body }) => body.toString()))
async function handed(from: SpoolReader, count: number): Promise<SpoolBatch[]> {
  const rows: SpoolBatch[] = []
  await waitFor(`${count} rows`, async () => {
    rows.push(...(await from.read(0, all)))
    return rows.length >= count
  })
  return rows
}
async function inTable(): Promise<string[]> {
  const { rows } = await app.db.query<{ body: Buffer }>('select body from spool order by id')
  return rows.map(({ body }) => body.toString())
}

test('rows with a place in a digest thread go to the file alone, and what waits there counts', async () => {
  const pair = await aSpool()
  const from = await aReader(pair)
  const before = new Date(app.clock.now().getTime() - 1)
  await append(pair.to, 'one', 'two')
  expect(await inTable()).toEqual([])
  expect(await pair.to.backlog()).toMatchObject({ rows: 2, entries: 2, bytes: 6 })
  expect(await readBacklogs(app)).toEqual([{ projectNumber: 4, orgId: 'org', entries: 2, bytes: 6 }])
  const projectId = spoolEntry({ receivedAtMs: 0, body: '' }).projectId
  expect(await backlogOfProject(app, projectId)).toMatchObject({ projectNumber: 4, entries: 2, bytes: 6 })
  expect(await largestLags(app)).toMatchObject([{ projectNumber: 4, entries: 2 }])
  expect(await lateShards(app, -1_000)).toEqual([4])
  expect(await isDigestedUpTo(app, before)).toBe(true)
  expect(await isDigestedUpTo(app, app.clock.now())).toBe(false)
  const rows = await handed(from, 2)
  expect(texts(rows)).toEqual(['one', 'two'])
  expect(rows.every(({ id }) => isInFile(id))).toBe(true)
  await settle(from, rows)
  await waitFor('the file to be empty', () => waitingInFile(app).length === 0)
  expect(await readBacklog(app)).toEqual({ rows: 0, entries: 0, bytes: 0, oldestAgeMs: 0 })
  await expect(app.tx((tx) => settleBatches(tx, 0, rows))).rejects.toThrow(SpoolFencedError)
})

test('what a digest thread had and did not record is in the table after its end, once', async () => {
  const pair = await aSpool()
  const from = await aReader(pair)
  await append(pair.to, 'recorded', 'in hand')
  const [recorded, ...inHand] = await handed(from, 2)
  await append(pair.to, 'handed over')
  // Committed, but the thread ends before it can say so.
  await app.tx((tx) => settleBatches(tx, 0, recorded === undefined ? [] : [recorded]))
  await from.close()
  await waitFor('the rows in the table', async () => (await inTable()).length === 2)
  expect(await inTable()).toEqual(['in hand', 'handed over'])
  expect(waitingInFile(app)).toEqual([])
  await expect(app.tx((tx) => settleBatches(tx, 0, inHand))).rejects.toThrow(SpoolFencedError)
  const next = opened(await claimShards(app, pair.handOver.connect()))
  expect(texts(await next.read(0, all))).toEqual(['in hand', 'handed over'])
})

test('after a failure rows come back from the table, in their order, and a batch that was cut off records nothing twice', async () => {
  const pair = await aSpool()
  const from = await aReader(pair)
  await append(pair.to, 'one', 'two')
  await handed(from, 2)
  from.giveBack(0)
  expect(texts(await handed(from, 2))).toEqual(['one', 'two'])
  expect(await inTable()).toEqual(['one', 'two'])
})

test('while a row of a project waits in the table, those after it go there too, and everything comes in order', async () => {
  let maxBytes = 0
  const pair = await aSpool({}, app, () => maxBytes)
  maxBytes = 1 << 20
  const from = await aReader(pair)
  maxBytes = 0
  await append(pair.to, 'no place')
  maxBytes = 1 << 20
  await append(pair.to, 'behind it', 'in the file')
  expect(await inTable()).toEqual(['no place', 'behind it'])
  expect(texts(await handed(from, 3))).toEqual(['no place', 'behind it', 'in the file'])
})

test('rows of the file and a long backlog of the table take turns', async () => {
  const pair = await aSpool()
  const from = await aReader(pair)
  await append(opened(createSpool(app)), ...Array.from({ length: 4 }, (_, i) => `table ${i}`))
  await append(pair.to, 'file 0', 'file 1')
  await waitFor('the hand-over', () => new Promise((resolve) => void setTimeout(() => resolve(true), 20)))
  from.checkTable()
  const seen: string[] = []
  for (let i = 0; i < 6; i++) seen.push(...texts(await from.read(0, { maxRows: 1, maxBytes: 1 << 30 })))
  expect(seen).toEqual(['table 0', 'file 0', 'table 1', 'file 1', 'table 2', 'table 3'])
})

test('the next start moves what an ended process acknowledged and did not record into the table, once', async () => {
  const pair = await aSpool()
  const from = await aReader(pair)
  await append(pair.to, 'recorded', 'lost', 'lost too')
  const rows = await handed(from, 3)
  await settle(from, rows.slice(0, 1))
  // As kill -9 leaves it.
  const left = join(dataDir, 'left')
  cpSync(folder, left, { recursive: true })
  const settled = await app.db.query<{ id: number }>('select id from spool_settled')
  for (const thing of open.splice(0)) await thing.close()
  await app.db.query('truncate spool, spool_settled')
  await app.db.query('insert into spool_settled select unnest($1::bigint[])', [settled.rows.map(({ id }) => id)])
  rmSync(folder, { recursive: true })
  cpSync(left, folder, { recursive: true })
  rmSync(left, { recursive: true })

  // The first attempt fails: the file is not used, and stays as it is.
  vi.spyOn(app.db, 'tx').mockRejectedValueOnce(new Error('the disk is full'))
  expect(await openSpoolFile(app)).toBeNull()
  expect(await inTable()).toEqual([])
  // Switched off since.
  expect(await openSpoolFile(app, { isUsed: false })).toBeNull()
  expect(await inTable()).toEqual(['lost', 'lost too'])
  expect((await app.db.query('select id from spool_settled')).rows).toEqual([])
  expect(await openSpoolFile(app, { isUsed: false })).toBeNull()
  expect(await inTable()).toEqual(['lost', 'lost too'])
})

test('a backup beside the service finds everything that was acknowledged before it in the table', async () => {
  const pair = await aSpool()
  const from = await aReader(pair)
  await append(pair.to, 'one', 'two')
  const rows = await handed(from, 2)
  await settle(from, rows.slice(0, 1))
  await emptySpoolFile(app.db, dataDir)
  expect(await inTable()).toEqual(['two'])
  await emptySpoolFile(app.db, dataDir)
  expect(await inTable()).toEqual(['two'])
  await expect(app.tx((tx) => settleBatches(tx, 0, rows.slice(1)))).rejects.toThrow(SpoolFencedError)
  from.giveBack(0)
  await waitFor('the file to be empty', () => waitingInFile(app).length === 0)
  expect(texts(await handed(from, 1))).toEqual(['two'])
})

test('a segment whose rows are settled is written again, its ids are forgotten, and nothing of its last use returns', async () => {
  const pair = await aSpool({ maxSegments: 2 })
  const from = await aReader(pair)
  const paths = (): string[] => readdirSync(folder).map((name) => join(folder, name))
  const [path = ''] = paths()
  const before = readRecords(readFileSync(path))
  const large = 'x'.repeat(3 * 1024 * 1024)
  let appended = 0
  await waitFor('both segments to be written again', async () => {
    await append(pair.to, large)
    appended++
    await settle(from, await handed(from, 1))
    return paths().length === 2 && readRecords(readFileSync(path))[0]?.id !== before[0]?.id && appended > 8
  })
  await waitFor('old ids to be forgotten', async () => {
    const { rows } = await app.db.query<{ id: number }>('select id from spool_settled order by id')
    return rows[0]?.id !== before[0]?.id
  })
  // Read before it was written again, moved afterwards.
  expect(await moveRows(app.db, before, () => false)).toBe(0)
  await emptySpoolFile(app.db, dataDir)
  expect(await inTable()).toEqual([])
})

test('when all segments are full of rows that wait, the table takes further ones', async () => {
  const pair = await aSpool({ maxSegments: 1 })
  const from = await aReader(pair)
  const large = 'x'.repeat(3 * 1024 * 1024)
  await append(pair.to, large, large, large)
  expect(waitingInFile(app)).toHaveLength(2)
  expect(await inTable()).toHaveLength(1)
  const rows = await handed(from, 3)
  await settle(from, rows)
  await waitFor('the file to be empty', () => waitingInFile(app).length === 0)
  await append(pair.to, 'later')
  expect(waitingInFile(app)).toHaveLength(1)
})

/** The next write fails. */
function failWrite(how: 'error' | 'short'): () => void {
  const real = fs.writevSync
  const restore = (): void => {
    Object.assign(fs, { writevSync: real })
    syncBuiltinESMExports()
  }
  const faulty = (): number => {
    restore()
    if (how === 'short') return 10
    throw Object.assign(new Error('made to fail'), { code: 'EIO' })
  }
  Object.assign(fs, { writevSync: faulty })
  syncBuiltinESMExports()
  return restore
}

test.each([
  ['a write', 'error'],
  ['a write', 'short'],
  ['a sync', 'error'],
] as const)(
  '%s fails (%s): the table takes its rows and the next ones, once, and earlier rows stay',
  async (name, how) => {
    const syncs = startFileSync()
    const pair = await aSpool({ syncs })
    const from = await aReader(pair)
    await append(pair.to, 'before')
    const restore =
      name === 'a write'
        ? failWrite(how)
        : vi.spyOn(syncs, 'sync').mockRejectedValueOnce(new Error('EIO: made to fail')).mockRestore
    await append(pair.to, 'at the fault')
    restore()
    await append(pair.to, 'after')
    expect(await inTable()).toEqual(['at the fault', 'after'])
    // Whatever reached the disk is settled.
    await emptySpoolFile(app.db, dataDir)
    expect((await inTable()).toSorted()).toEqual(['after', 'at the fault', 'before'])
    expect(logLines.some(({ msg }) => String(msg).startsWith('the spool file cannot be written'))).toBe(true)
    from.giveBack(0)
    await waitFor('the file to be empty', () => waitingInFile(app).length === 0)
    expect(texts(await handed(from, 3)).toSorted()).toEqual(['after', 'at the fault', 'before'])
  },
)

test('a commit that neither the disk nor the database takes is refused, and may be stored', async () => {
  const pair = await aSpool()
  const from = await aReader(pair)
  const restore = failWrite('error')
  vi.spyOn(app.db, 'tx').mockRejectedValueOnce(new Error('the database is away'))
  const refusal: unknown = await append(pair.to, 'refused').catch((error: unknown) => error)
  restore()
  expect(refusal).toMatchObject({ code: 'unavailable' })
  expect(mayBeStored(refusal as object)).toBe(true)
  expect(waitingInFile(app)).toEqual([])
  await append(pair.to, 'after')
  expect(texts(await handed(from, 1))).toEqual(['after'])
})

test('rows that no thread records for a minute move into the table', async () => {
  const clock = fakeClock(new Date())
  const pair = await aSpool({ checkEveryMs: 5 }, { ...app, clock })
  const from = await aReader(pair)
  await append(pair.to, 'one')
  const rows = await handed(from, 1)
  const large = 'x'.repeat(3 * 1024 * 1024)
  // The next segment is in use.
  for (let i = 0; i < 4; i++) {
    await append(pair.to, large)
    await settle(from, await handed(from, 1))
  }
  await waitFor('the others to be settled', () => waitingInFile(app).length === 1)
  clock.advance(59_000)
  await waitFor('a check', () => new Promise((resolve) => void setTimeout(() => resolve(true), 30)))
  expect(await inTable()).toEqual([])
  clock.advance(2_000)
  await waitFor('the row in the table', async () => (await inTable()).length === 1)
  await waitFor('the file to be empty', () => waitingInFile(app).length === 0)
  // The thread still has it. Its segment is not written again, which would forget that the row was moved.
  for (let i = 0; i < 4; i++) await append(pair.to, large)
  await expect(app.tx((tx) => settleBatches(tx, 0, rows))).rejects.toThrow(SpoolFencedError)
})

test('the database is away while rows are to be moved: they wait in the file, and move when it is back', async () => {
  const pair = await aSpool()
  const from = await aReader(pair)
  await append(pair.to, 'one')
  await handed(from, 1)
  const tx = vi.spyOn(app.db, 'tx').mockRejectedValueOnce(new Error('the database is away'))
  await from.close()
  await waitFor('an attempt', () => tx.mock.calls.length > 0)
  expect(waitingInFile(app)).toHaveLength(1)
  await waitFor('the row in the table', async () => (await inTable()).length === 1)
  tx.mockRestore()
})

test('a clean stop leaves nothing in the file', async () => {
  const pair = await aSpool()
  const from = await aReader(pair)
  await append(pair.to, 'one')
  await pair.to.close()
  await pair.file.close()
  open.splice(0)
  expect(await inTable()).toEqual(['one'])
  for (const name of readdirSync(folder)) expect(readRecords(readFileSync(join(folder, name)))).toEqual([])
  await from.close()
})
