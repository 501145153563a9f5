import zlib from 'node:zlib'
import { expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { CONTENT_ENCODINGS } from '../../platform/kernel/inflate.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { MIN_NEW_BLOCK_EVENTS, NEW_BLOCK, openBlock, openBody } from './blocks.ts'
import { ANY_DAY } from './event-places.queries.ts'
import type { StoredEvent } from './event.ts'
import { DayBusyError, packDay } from './pack-day.ts'
import { storedEvents } from './packed-bodies.queries.ts'
import {
  deleteIssueEvents,
  deleteEventsOfDay,
  deleteEventsOfUser,
  insertEvents,
  newestEvents,
  readEvent,
  readEventsAt,
} from './store.queries.ts'

const { app, clock } = await testApp()
const TABLES = [{ table: 'events' }, { table: 'event_blocks' }]
const noPause = (): Promise<void> => Promise.resolve()

let daysUsed = 0
async function freshDay(): Promise<string> {
  const day = dayPlus(utcDay(clock.now()), -10 - 3 * daysUsed++)
  await ensureDayPartitions(app.db, TABLES, day)
  return day
}

const encode = {
  none: (bytes: Buffer) => bytes,
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: zlib.brotliCompressSync,
  zstd: zlib.zstdCompressSync,
}
const ENCODINGS = ['gzip', 'deflate', 'br', 'zstd', 'none'] as const

let made = 0
/** Its JSON contains `secret-<n>"`, and `padding` bytes more. */
function anEvent(day: string, issueId: string, more: Partial<StoredEvent> = {}, padding = 200): StoredEvent {
  const n = ++made
  const encoding = ENCODINGS[n % ENCODINGS.length] ?? 'none'
  const json = Buffer.from(JSON.stringify({ message: `größer ${n}`, extra: `secret-${n}`, pad: 'x'.repeat(padding) }))
  const header = Buffer.from('{"event_id":"…"}\n{"type":"event"}\n')
  return {
    projectId,
    issueId,
    eventId: newEventId(),
    receivedAt: new Date(`${day}T12:00:00.123Z`),
    occurredAt: new Date(Date.parse(`${day}T11:00:00Z`) + n * 7),
    sentAt: null,
    level: 'error',
    release: null,
    environment: 'production',
    clientIp: null,
    userAgent: null,
    userHash: n % 5,
    encoding,
    bodyStart: header.length,
    bodyEnd: header.length + json.length,
    body: encode[encoding](Buffer.concat([header, json, Buffer.from('\n')])),
    ...more,
  }
}
const projectId = newId()

const write = (events: readonly StoredEvent[]): Promise<void> =>
  app.tx((tx) => insertEvents(tx, events, { inBlocks: true }))
const writeSingly = (events: readonly StoredEvent[]): Promise<void> => app.tx((tx) => insertEvents(tx, events))

const textOf = (event: StoredEvent): string =>
  openBody(event.body, event.encoding).subarray(event.bodyStart, event.bodyEnd).toString()
const textsOf = (events: readonly StoredEvent[]): string[] => events.map(textOf).toSorted()
const secretOf = (event: StoredEvent): string => /secret-\d+"/.exec(textOf(event))?.[0] ?? 'none'
const newest = (issueId: string): Promise<StoredEvent[]> =>
  newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, { limit: 5_000, maxBytes: 1 << 30 })

async function placesOf(day: string): Promise<{ rows: number; single: number; blocks: number }> {
  const { rows } = await app.db.query<{ rows: number; single: number; blocks: number }>(
    `select count(*) as rows, count(body) as single, (select count(*) from event_blocks where received_day = $1) as blocks
     from events where received_day = $1`,
    [day],
  )
  return rows[0] ?? { rows: 0, single: 0, blocks: 0 }
}

/** Everything a day holds, decoded. */
async function contentOf(day: string): Promise<string> {
  const { rows: blocks } = await app.db.query<{ body: Buffer }>(
    'select body from event_blocks where received_day = $1',
    [day],
  )
  const { rows: single } = await app.db.query<{ body: Buffer; encoding: number }>(
    'select body, body_encoding as encoding from events where received_day = $1 and body is not null',
    [day],
  )
  return [
    ...blocks.map(({ body }) => openBlock(body).toString()),
    ...single.map(({ body, encoding }) => openBody(body, CONTENT_ENCODINGS[encoding] ?? 'none').toString()),
  ].join()
}

test.each([1, 3, 4, 40, 65, 200])(
  'a batch of %i events, in all encodings, is read as it was written',
  async (count) => {
    const day = await freshDay()
    const issues = [newId(), newId(), newId()]
    const events = Array.from({ length: count }, (_, i) => anEvent(day, issues[i % 3] ?? ''))
    await write(events)
    const isFew = count < MIN_NEW_BLOCK_EVENTS
    expect(await placesOf(day)).toEqual({
      rows: count,
      single: isFew ? count : 0,
      blocks: isFew ? 0 : Math.ceil(count / NEW_BLOCK.events),
    })
    for (const [index, issueId] of issues.entries())
      expect(textsOf(await newest(issueId))).toEqual(textsOf(events.filter((_, i) => i % 3 === index)))
    const read = await readEventsAt(
      app.db,
      projectId,
      events.map(({ eventId }) => ({ eventId, receivedDay: day })),
    )
    expect(textsOf(read)).toEqual(textsOf(events))
    const [first] = events
    const one = first === undefined ? null : await readEvent(app.db, first.issueId, first)
    expect(one === null ? null : textOf(one)).toBe(first === undefined ? undefined : textOf(first))
  },
)

test('blocks never hold more than their limit, two days, or what cannot be decoded', async () => {
  const [day, other] = [await freshDay(), await freshDay()]
  const issueId = newId()
  const large = anEvent(day, issueId, {}, 1024 * 1024)
  const damaged = anEvent(day, issueId, { encoding: 'gzip', body: Buffer.from('not gzip at all') })
  const sized = Array.from({ length: 10 }, () => anEvent(day, issueId, {}, 100_000))
  const others = Array.from({ length: 5 }, () => anEvent(other, issueId))
  await write([large, ...others, damaged, ...sized])
  expect(await placesOf(day)).toEqual({ rows: 12, single: 2, blocks: 2 })
  expect(await placesOf(other)).toEqual({ rows: 5, single: 0, blocks: 1 })
  const { rows } = await app.db.query<{ body: Buffer }>('select body from event_blocks where received_day = $1', [day])
  for (const { body } of rows) expect(openBlock(body).length).toBeLessThanOrEqual(NEW_BLOCK.bytes)
  expect(await readEvent(app.db, issueId, damaged)).toMatchObject({ body: damaged.body, encoding: 'gzip' })
  const readable = [large, ...sized, ...others]
  const read = (await newest(issueId)).filter(({ eventId }) => eventId !== damaged.eventId)
  expect(textsOf(read)).toEqual(textsOf(readable))
})

test('a damaged block stops neither lists, nor deletions, nor packing of its day', async () => {
  const day = await freshDay()
  const [first, second] = [newId(), newId()]
  await write(Array.from({ length: 6 }, (_, index) => anEvent(day, index < 3 ? first : second)))
  const sound = Array.from({ length: 4 }, () => anEvent(day, second))
  await writeSingly(sound)
  await app.db.query(`update event_blocks set body = 'no frame' where received_day = $1`, [day])
  expect(textsOf(await newest(second))).toEqual(textsOf(sound))
  expect(await app.tx((tx) => deleteIssueEvents(tx, first, 100))).toHaveLength(3)
  await packDay(app, day, noPause)
  expect(textsOf(await newest(second))).toEqual(textsOf(sound))
})

test('a batch that is rolled back leaves no block', async () => {
  const day = await freshDay()
  const events = Array.from({ length: 8 }, () => anEvent(day, newId()))
  await expect(
    app.tx(async (tx) => {
      await insertEvents(tx, events, { inBlocks: true })
      throw new Error('the batch failed')
    }),
  ).rejects.toThrow('the batch failed')
  expect(await placesOf(day)).toEqual({ rows: 0, single: 0, blocks: 0 })
})

test('deleted and erased events leave their blocks, others stay', async () => {
  const day = await freshDay()
  const [first, second] = [newId(), newId()]
  const events = Array.from({ length: 60 }, (_, i) => anEvent(day, i % 2 === 0 ? first : second))
  await write(events)
  await app.tx((tx) => deleteEventsOfUser(tx, first, [3], 100))
  const erased = events.filter((event) => event.issueId === first && event.userHash === 3)
  expect(erased.length).toBeGreaterThan(0)
  let content = await contentOf(day)
  for (const event of events) expect(content.includes(secretOf(event))).toBe(!erased.includes(event))
  await app.tx((tx) => deleteIssueEvents(tx, first, 100))
  content = await contentOf(day)
  for (const event of events) expect(content.includes(secretOf(event))).toBe(event.issueId === second)
  expect(textsOf(await newest(second))).toEqual(textsOf(events.filter((event) => event.issueId === second)))
  await app.tx((tx) => deleteEventsOfDay(tx, [second], day, 100))
  expect(await placesOf(day)).toEqual({ rows: 0, single: 0, blocks: 0 })
})

/** Batches of few events of each of many issues, every third stored singly. */
async function writeMixedDay(day: string, issues: readonly string[], batches: number): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (let batch = 0; batch < batches; batch++) {
    const events = issues.map((issueId) => anEvent(day, issueId))
    all.push(...events)
    await (batch % 3 === 2 ? writeSingly(events) : write(events))
  }
  return all
}

test('packing a day packs blocks of digestion again, by issue', async () => {
  const day = await freshDay()
  const issues = Array.from({ length: 10 }, () => newId())
  const events = await writeMixedDay(day, issues, 100)
  const before = await placesOf(day)
  expect(before).toEqual({ rows: 1_000, single: 330, blocks: 67 })
  const read = await Promise.all(issues.map(newest))
  expect(await packDay(app, day, noPause)).toBe(1_000)
  expect(await placesOf(day)).toEqual({ rows: 1_000, single: 0, blocks: 20 })
  for (const [index, issueId] of issues.entries()) {
    const now = await newest(issueId)
    expect(now.map(({ eventId }) => eventId)).toEqual(read[index]?.map(({ eventId }) => eventId))
    expect(textsOf(now)).toEqual(textsOf(events.filter((event) => event.issueId === issueId)))
  }
  const { rows } = await app.db.query<{ most: number }>(
    'select max(n)::int as most from (select count(distinct issue_id) as n from events where received_day = $1 group by block_id) b',
    [day],
  )
  // A hundred events of each issue, fifty in a block.
  expect(rows).toEqual([{ most: 1 }])
})

test('packs blocks while events of theirs are deleted, moved and added, and copies nothing that was erased', async () => {
  const day = await freshDay()
  const issues = Array.from({ length: 10 }, () => newId())
  const [deleted = '', moved = '', erasedFrom = '', ...others] = issues
  const events = await writeMixedDay(day, issues, 30)
  const late = Array.from({ length: 6 }, () => anEvent(day, moved))
  const target = newId()
  let steps = 0
  const change = async (): Promise<void> => {
    steps++
    if (steps === 2) {
      await app.tx((tx) => deleteIssueEvents(tx, deleted, 1_000))
      await app.tx((tx) => deleteEventsOfUser(tx, erasedFrom, [1, 2], 1_000))
      await app.db.query('update events set issue_id = $2 where issue_id = $1', [moved, target])
    }
    if (steps === 3) {
      await write(late)
      const [one] = late
      await app.tx((tx) => tx.query('delete from events where event_id = $1', [one?.eventId]).then(() => {}))
    }
  }
  await packDay(app, day, change, { step: { rows: 60, bytes: 1 << 20 } })
  expect(steps).toBeGreaterThan(3)
  const isErased = (event: StoredEvent): boolean =>
    event.issueId === deleted || (event.issueId === erasedFrom && [1, 2].includes(event.userHash ?? 0))
  expect(await newest(deleted)).toEqual([])
  expect(textsOf(await newest(target))).toEqual(textsOf(events.filter((event) => event.issueId === moved)))
  expect(textsOf(await newest(moved))).toEqual(textsOf(late.slice(1)))
  for (const issueId of [erasedFrom, ...others])
    expect(textsOf(await newest(issueId))).toEqual(
      textsOf(events.filter((event) => event.issueId === issueId && !isErased(event))),
    )
  const content = await contentOf(day)
  for (const event of events) expect(content.includes(secretOf(event))).toBe(!isErased(event))
})

test('events stay readable while their day is packed', async () => {
  const day = await freshDay()
  const issues = Array.from({ length: 20 }, () => newId())
  const events = await writeMixedDay(day, issues, 30)
  let isOver = false
  let reads = 0
  const reading = (async () => {
    while (!isOver) {
      const issueId = issues[reads++ % issues.length] ?? ''
      const expected = events.filter((event) => event.issueId === issueId).length
      expect(await newest(issueId)).toHaveLength(expected)
    }
  })()
  try {
    for (;;) {
      try {
        await packDay(app, day, noPause, { step: { rows: 50, bytes: 1 << 20 } })
        break
      } catch (error) {
        if (!(error instanceof DayBusyError)) throw error
      }
    }
  } finally {
    isOver = true
    await reading
  }
  expect(reads).toBeGreaterThan(1)
  expect(await placesOf(day)).toMatchObject({ rows: 600, single: 0 })
})

test('a row read just before its day was packed is read from its new block', async () => {
  const day = await freshDay()
  const issueId = newId()
  const events = Array.from({ length: 10 }, () => anEvent(day, issueId))
  await write(events)
  // Rows and blocks are read by two statements.
  const rows = await app.db.selectFrom('events').selectAll().where('issue_id', '=', issueId).execute()
  await packDay(app, day, noPause)
  expect(textsOf(await storedEvents(app.db, rows))).toEqual(textsOf(events))
})

test('copying starts again after the day’s table was rewritten, which moves its rows', async () => {
  const day = await freshDay()
  const issueId = newId()
  const events = Array.from({ length: 100 }, () => anEvent(day, issueId))
  await write(events.slice(0, 50))
  await write(events.slice(50))
  await app.tx((tx) => deleteEventsOfUser(tx, issueId, [0], 1_000))
  const left = events.filter((event) => event.userHash !== 0)
  let steps = 0
  const stop = (): Promise<void> => (++steps === 2 ? Promise.reject(new Error('killed')) : Promise.resolve())
  await expect(packDay(app, day, stop, { step: { rows: 30, bytes: 1 << 20 } })).rejects.toThrow('killed')
  await app.db.query(`vacuum full events_${day.replaceAll('-', '')}`)
  expect(await packDay(app, day, noPause)).toBe(left.length)
  expect(textsOf(await newest(issueId))).toEqual(textsOf(left))
})
