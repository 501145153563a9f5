import { afterEach, expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { spoolEntry } from './entry.fixture.ts'
import { type SpoolEntry, shardsOfThread } from './entry.ts'
import { createHandOver, createHandOvers, type ThreadHandOver } from './hand-over.ts'
import { claimShards, type SpoolBatch, type SpoolReader, settleBatches, SpoolFencedError } from './read.ts'
import { PartRows } from './part-rows.ts'
import type { StoredRow } from './spool.queries.ts'
import { createSpool, type Spool } from './write.ts'

const { app } = await testApp({ realTime: true })
const all = { maxRows: 1000, maxBytes: 1 << 30 }

const anEntry = (body: string, projectNumber = 4): SpoolEntry =>
  spoolEntry({
    projectNumber,
    receivedAtMs: app.clock.now().getTime(),
    userAgent: 'agent "quoted" \u0000 \ud800',
    body,
  })

const open: { close(): Promise<void> }[] = []
const opened = <T extends { close(): Promise<void> }>(thing: T): T => {
  open.push(thing)
  return thing
}

afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
  await app.db.query('truncate spool')
})

/** An intake and a digest thread of one process; the parts are empty and read. */
async function aPair(handOver: ThreadHandOver = createHandOver()): Promise<{ to: Spool; from: SpoolReader }> {
  const to = opened(createSpool(app, {}, handOver))
  const from = opened(await claimShards(app, handOver.connect()))
  for (const part of from.parts()) await from.read(part, all)
  return { to, from }
}

const texts = (batches: readonly SpoolBatch[]): string[] =>
  batches.flatMap(({ entries }) => entries.map(({ body }) => body.toString()))
const idsOf = (batches: readonly SpoolBatch[]): number[] => batches.map(({ id }) => id)

/** Appends one row each. */
async function append(to: Spool, ...bodies: string[]): Promise<void> {
  for (const body of bodies) await to.append(anEntry(body))
}

const messagesArrive = () =>
  new Promise((resolve) => {
    setTimeout(resolve, 20)
  })

/** Breaks the rows in the table, so that a read of it would return other bodies. */
const spoilTable = () => app.db.query(`update spool set body = convert_to(repeat('x', length(body)), 'utf8')`)

test('rows that were handed over come in order, whole, without a notification and without reading the table', async () => {
  const { to, from } = await aPair()
  const listener = await app.db.reserve({ onNotification: () => expect.unreachable() })
  await listener.query('listen faultline_spool')
  const sent = anEntry('one')
  await to.append(sent)
  await append(to, 'two', 'three')
  await waitFor('their announcement', async () => (await from.wait()).has(0))
  await spoilTable()
  const batches = await from.read(0, { maxRows: 2, maxBytes: 1 << 30 })
  expect(texts(batches)).toEqual(['one', 'two'])
  expect(batches[0]).toMatchObject({ part: 0, attempts: 0, bytes: 3 })
  expect(batches[0]?.entries).toEqual([sent])
  expect(texts(await from.read(0, all))).toEqual(['three'])
  expect(await from.read(0, all)).toEqual([])
  await app.tx((tx) => settleBatches(tx, 0, batches))
  from.settled(0, idsOf(batches))
  expect(batches[0]?.entries[0]?.body).toHaveLength(0)
  listener.release(true)
})

test('after the shards were divided, each thread gets the rows of its own parts', async () => {
  const handOvers = createHandOvers()
  const to = opened(createSpool(app, {}, handOvers))
  const alone = await claimShards(app, handOvers.to(0).connect())
  expect(alone.parts()).toEqual([0, 1, 2, 3])
  await to.append(anEntry('before', 6))
  await alone.close()
  handOvers.divide(2)
  const threads: SpoolReader[] = []
  for (const index of [0, 1])
    threads.push(opened(await claimShards(app, handOvers.to(index).connect(), shardsOfThread(index, 2))))
  expect(threads.map((thread) => thread.parts())).toEqual([
    [0, 1],
    [2, 3],
  ])
  expect(texts((await threads[1]?.read(2, all)) ?? [])).toEqual(['before'])
  for (const thread of threads) for (const part of thread.parts()) await thread.read(part, all)
  for (const projectNumber of [4, 5, 6, 7]) await to.append(anEntry(`project ${projectNumber}`, projectNumber))
  await messagesArrive()
  await spoilTable()
  const got = threads.map(async (thread) => {
    const read = await Promise.all(thread.parts().map((part) => thread.read(part, all)))
    return read.flatMap(texts)
  })
  expect(await Promise.all(got)).toEqual([
    ['project 4', 'project 5'],
    ['project 6', 'project 7'],
  ])
})

test('a row that was read before it was handed over is returned once', async () => {
  const { to, from } = await aPair()
  const shared = to.append(anEntry('one'))
  // The table has it as soon as it is committed, perhaps before the message.
  const seen: string[] = []
  await waitFor('the row', async () => {
    from.checkTable()
    seen.push(...texts(await from.read(0, all)))
    return seen.length > 0
  })
  await shared
  await messagesArrive()
  seen.push(...texts(await from.read(0, all)))
  expect(seen).toEqual(['one'])
})

test('rows that found no place are read from the table in their turn, and every row once', async () => {
  const handOver = createHandOver(() => 1_000)
  const { to, from } = await aPair(handOver)
  const sent = Array.from({ length: 12 }, (_, i) => `row ${i}`)
  await append(to, ...sent)
  await messagesArrive()
  const got: string[] = []
  for (let i = 0; i < 4; i++) got.push(...texts(await from.read(0, { maxRows: 2, maxBytes: 1 << 30 })))
  // There is place again, after a gap.
  await append(to, 'later')
  await messagesArrive()
  for (let i = 0; i < 8; i++) got.push(...texts(await from.read(0, { maxRows: 2, maxBytes: 1 << 30 })))
  expect(got).toEqual([...sent, 'later'])
})

test('a flood in one part leaves place for the others', async () => {
  const { to, from } = await aPair(createHandOver(() => 1_000))
  await append(to, ...Array.from({ length: 12 }, (_, i) => `row ${i}`))
  await to.append(anEntry('quiet', 5))
  await messagesArrive()
  await spoilTable()
  expect(texts(await from.read(1, all))).toEqual(['quiet'])
  expect(texts(await from.read(0, all)).slice(0, 2)).toEqual(['row 0', 'row 1'])
})

test('rows of another process are read after their notification, in the order of their ids', async () => {
  const { to, from } = await aPair()
  const other = opened(createSpool(app))
  await append(other, 'theirs')
  await append(to, 'ours')
  await messagesArrive()
  expect(texts([...(await from.read(0, all)), ...(await from.read(0, all))])).toEqual(['theirs', 'ours'])
})

test('rows that another reader settled fail once; what is left is read from the table', async () => {
  const { to, from } = await aPair()
  await append(to, 'one', 'two')
  await messagesArrive()
  const batches = await from.read(0, { maxRows: 1, maxBytes: 1 << 30 })
  await app.tx((tx) => settleBatches(tx, 0, batches))
  await expect(app.tx((tx) => settleBatches(tx, 0, batches))).rejects.toThrow(SpoolFencedError)
  from.giveBack(0)
  expect(texts(await from.read(0, all))).toEqual(['two'])
  expect(await from.read(0, all)).toEqual([])
})

test('after a restart the digest thread reads what its predecessor had in hand, and the oldest row counts an attempt', async () => {
  const handOver = createHandOver()
  const to = opened(createSpool(app, {}, handOver))
  const first = await claimShards(app, handOver.connect())
  await append(to, 'before')
  await messagesArrive()
  expect(texts(await first.read(0, all))).toEqual(['before'])
  await append(to, 'waits')
  await first.close()
  await append(to, 'between')
  const second = opened(await claimShards(app, handOver.connect()))
  await append(to, 'after')
  await messagesArrive()
  const batches = [...(await second.read(0, all)), ...(await second.read(0, all))]
  expect(texts(batches)).toEqual(['before', 'waits', 'between', 'after'])
  expect(batches.map(({ attempts }) => attempts)).toEqual([1, 0, 0, 0])
})

test('a digest thread that reads no part gets none handed over, and readers are notified', async () => {
  const { from } = await aPair()
  let notified = false
  const listener = await app.db.reserve({ onNotification: () => (notified = true) })
  await listener.query('listen faultline_spool')
  const handOver = createHandOver()
  const to = opened(createSpool(app, {}, handOver))
  opened(await claimShards(app, handOver.connect()))
  expect(handOver.takes(0)).toBe(false)
  await append(to, 'one')
  await waitFor('the notification', () => notified)
  listener.release(true)
  from.checkTable()
  expect(texts(await from.read(0, all))).toEqual(['one'])
})

/** A part over a table in memory. */
function aPart() {
  const table: StoredRow[] = []
  let looks = 0
  let waitingBytes = 0
  const rows = new PartRows({
    lanes: (except) => {
      looks++
      return Promise.resolve([
        ...new Set(table.filter(({ id }) => !except.includes(id)).map((row) => row.projectNumber)),
      ])
    },
    select({ lanes, except, maxRows }) {
      const found = lanes.flatMap(({ projectNumber, afterId, beforeId }) =>
        table
          .filter(
            (row) =>
              row.projectNumber === projectNumber &&
              row.id > afterId &&
              row.id < (beforeId ?? Infinity) &&
              !except.includes(row.id),
          )
          .toSorted((a, b) => a.id - b.id)
          .slice(0, maxRows),
      )
      return Promise.resolve(found.slice(0, maxRows))
    },
    isHandedOver: true,
    onFreed: (_project, bytes) => (waitingBytes -= bytes),
    onSettled: () => {},
    onLost: () => {},
    nowMs: () => 0,
  })
  const add = (id: number, attempts = 0, projectNumber = 4): void => {
    table.push({
      projectNumber,
      id,
      attempts,
      receivedAt: new Date(0),
      entries: Buffer.alloc(0),
      body: Buffer.alloc(10),
    })
  }
  return {
    rows,
    looks: () => looks,
    add,
    waitingBytes: () => waitingBytes,
    hand(id: number, hasGap = false, projectNumber = 4) {
      waitingBytes += 10
      rows.take({
        projectNumber,
        hasGap,
        row: { id, receivedAtMs: 0, bytes: new ArrayBuffer(10), bodyBytes: 10 },
      })
    },
    read: async (maxRows = 100) => (await rows.read({ maxRows, maxBytes: 1 << 20 })).map(({ id }) => id),
  }
}

test('rows handed over twice, out of order and late come once, and their bytes are freed', async () => {
  const part = aPart()
  expect(await part.read()).toEqual([])
  for (const id of [2, 1, 2, 4]) part.hand(id)
  expect(await part.read(3)).toEqual([2, 1, 4])
  for (const id of [1, 4, 5]) part.hand(id)
  expect(await part.read()).toEqual([5])
  expect(part.looks()).toBe(1)
  expect(part.waitingBytes()).toBe(0)
})

test('a gap is filled from the table up to the next row that was handed over', async () => {
  const part = aPart()
  await part.read()
  for (const id of [1, 2, 3, 4, 5]) part.add(id)
  part.hand(1)
  part.rows.take({ projectNumber: 4, hasGap: true, row: null })
  part.hand(4, true)
  expect(await part.read()).toEqual([1])
  expect(await part.read()).toEqual([2, 3])
  expect(await part.read()).toEqual([4])
  part.rows.take({ projectNumber: 4, hasGap: true, row: null })
  expect(await part.read()).toEqual([5])
  expect(await part.read()).toEqual([])
})

test('a row with a lower id that becomes visible late is read when the table is looked into again', async () => {
  const part = aPart()
  for (const id of [2, 3, 4]) part.add(id)
  expect(await part.read(2)).toEqual([2, 3])
  expect(await part.read()).toEqual([4])
  part.add(1)
  part.hand(5)
  expect(await part.read()).toEqual([5])
  part.rows.checkTable()
  expect(await part.read()).toEqual([1])
})

test('a suspect row is read alone, between the others', async () => {
  const part = aPart()
  part.add(1)
  part.add(2, 3)
  part.add(3)
  expect(await part.read()).toEqual([1])
  expect(await part.read()).toEqual([2])
  expect(await part.read()).toEqual([3])
})

test('after giving back, rows in hand and rows that wait are read from the table', async () => {
  const part = aPart()
  await part.read()
  for (const id of [1, 2, 3]) {
    part.add(id)
    part.hand(id)
  }
  expect(await part.read(2)).toEqual([1, 2])
  part.rows.settled([1])
  part.rows.giveBack()
  expect(part.waitingBytes()).toBe(0)
  part.hand(2)
  expect(await part.read()).toEqual([1, 2, 3])
})

test('reading the table fails: the next read looks again', async () => {
  let fails = true
  const rows = new PartRows({
    lanes: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve([])),
    select: () => Promise.resolve([]),
    isHandedOver: true,
    onFreed: () => {},
    onSettled: () => {},
    onLost: () => {},
    nowMs: () => 0,
  })
  await expect(rows.read(all)).rejects.toThrow('away')
  fails = false
  expect(await rows.read(all)).toEqual([])
})
