import { gzipSync } from 'node:zlib'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { startS3Server } from '#test/kit/s3-server.ts'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { DAY_MS, dayPlus, HOUR_MS, utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ObjectStore } from '../../platform/objects/object-store.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { compareObjects, forgetLost, isDeletionPending } from './bodies.ts'
import { openBlock } from './blocks.ts'
import { ANY_DAY } from './event-places.queries.ts'
import { eventWithoutBody, readStoredEvent, type StoredEvent } from './event.ts'
import { collectGarbage, moveBlocksTask, moveDay, rewriteSegments } from './move-blocks.ts'
import { packDay } from './pack-day.ts'
import { removeParts } from './packed-bodies.queries.ts'
import {
  BlocksChangedError,
  giveUpSegment,
  insertSegment,
  pointToSegment,
  selectHotBlocks,
} from './segments.queries.ts'
import { deleteEventsOfUser, deleteIssueEvents, insertEvents, newestEvents, readEvent } from './store.queries.ts'

const server = await startS3Server()
afterAll(() => server.close())
const BLOCKS_URL = 's3://bucket/events'
const { app, clock, logLines } = await testApp({
  env: {
    BLOCKS_URL,
    S3_ENDPOINT: server.url,
    S3_REGION: server.settings.region,
    S3_ACCESS_KEY_ID: server.settings.accessKeyId,
    S3_SECRET_ACCESS_KEY: server.settings.secretAccessKey,
  },
})
server.now = () => clock.now()
beforeEach(() => {
  server.fault = () => null
  server.requests.length = 0
  // A store that was away is asked again.
  clock.advance(60_000)
})

const never = new AbortController().signal
const options = { clock, retryScale: 0 }
const store = new ObjectStore(BLOCKS_URL, server.settings, options)
const projectId = newId()

let daysUsed = 0
/** A packed day with events of two users of one issue. */
async function packedDay(count = 120): Promise<{ day: string; issueId: string }> {
  const day = dayPlus(utcDay(clock.now()), -20 - 3 * daysUsed++)
  const issueId = newId()
  await ensureDayPartitions(app.db, [{ table: 'events' }, { table: 'event_blocks' }], day)
  const events = Array.from({ length: count }, (_, index): StoredEvent => {
    const json = Buffer.from(JSON.stringify({ message: `event ${index}`, extra: { of: `user-${index % 2}`, index } }))
    return {
      projectId,
      issueId,
      eventId: newEventId(),
      receivedAt: new Date(`${day}T12:00:00Z`),
      occurredAt: new Date(Date.parse(`${day}T11:00:00Z`) + index),
      sentAt: null,
      level: 'warning',
      release: 'shop@1.0',
      environment: 'production',
      clientIp: null,
      userAgent: null,
      userHash: index % 2,
      encoding: 'gzip',
      bodyStart: 0,
      bodyEnd: json.length,
      body: gzipSync(json),
    }
  })
  await app.tx((tx) => insertEvents(tx, events))
  await packDay(app, day, () => Promise.resolve())
  return { day, issueId }
}

const eventsOf = (issueId: string): Promise<StoredEvent[]> =>
  newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, { limit: 1_000, maxBytes: 1 << 30 })
const messagesOf = async (issueId: string): Promise<string[]> =>
  (await eventsOf(issueId)).map((stored) => readStoredEvent(stored).message ?? '')
const objectsOf = (day: string): Buffer[] =>
  [...server.objects].filter(([key]) => key.startsWith(`events/blocks/${day}/`)).map(([, { body }]) => body)

async function placesOf(day: string): Promise<{ here: number; there: number }> {
  const { rows } = await app.db.query<{ here: number; there: number }>(
    'select count(body)::int as here, count(segment_id)::int as there from event_blocks where received_day = $1',
    [day],
  )
  return rows[0] ?? { here: 0, there: 0 }
}

/** The JSON of all blocks that are in objects of a day. */
async function textOfObjects(day: string): Promise<string> {
  const { rows } = await app.db.query<{ segment_id: string; segment_start: number; segment_end: number }>(
    'select segment_id, segment_start, segment_end from event_blocks where received_day = $1',
    [day],
  )
  return rows
    .map((row) => {
      const object = server.objects.get(`events/blocks/${day}/${row.segment_id}`)?.body ?? Buffer.alloc(0)
      return openBlock(object.subarray(row.segment_start, row.segment_end)).toString()
    })
    .join('')
}

test('bodies of packed days are moved after their time, and read as before through the cache', async () => {
  const { day, issueId } = await packedDay()
  const before = await messagesOf(issueId)
  await moveBlocksTask.run(app, {}, never)
  expect(await placesOf(day)).toMatchObject({ here: 0 })
  expect(objectsOf(day)).toHaveLength(1)
  expect(await messagesOf(issueId)).toEqual(before)
  server.requests.length = 0
  expect(await messagesOf(issueId)).toEqual(before)
  expect(server.requests, 'all of it is in the cache').toEqual([])
})

test('while the store is away, events are shown by their rows and nothing waits', async () => {
  const { day, issueId } = await packedDay(10)
  await moveDay(app, store, day, never)
  server.fault = () => ({ status: 503, code: 'SlowDown' })
  const [away] = await eventsOf(issueId)
  expect(away).toMatchObject({ isAway: true, level: 'warning' })
  expect(() => readStoredEvent(away!)).toThrow(/is in object storage, which cannot be read now/)
  expect(eventWithoutBody(away!)).toMatchObject({
    level: 'warning',
    release: 'shop@1.0',
    environment: 'production',
    message: expect.stringMatching(/cannot be read now/) as unknown,
    errors: [{ name: 'body' }],
  })
  server.requests.length = 0
  expect((await eventsOf(issueId)).every(({ isAway }) => isAway === true)).toBe(true)
  expect(server.requests, 'the store is not asked again at once').toEqual([])
  // No transaction follows a block into the network.
  expect(await app.tx((tx) => readEvent(tx, issueId, 'latest'))).toMatchObject({ isAway: true })
  server.fault = () => null
  clock.advance(60_000)
  expect(await messagesOf(issueId)).toHaveLength(10)
})

test('events of an erased user are deleted from objects, and the others stay', async () => {
  const { day, issueId } = await packedDay()
  await moveDay(app, store, day, never)
  expect(await isDeletionPending(app.db)).toBe(false)
  await app.tx((tx) => deleteEventsOfUser(tx, issueId, [1], 1_000))
  expect(await isDeletionPending(app.db)).toBe(true)
  expect(await messagesOf(issueId)).toHaveLength(60)
  await rewriteSegments(app, store, never)
  await collectGarbage(app, store, never)
  expect(await isDeletionPending(app.db)).toBe(false)
  expect(objectsOf(day)).toHaveLength(1)
  const text = await textOfObjects(day)
  expect(text).toContain('user-0')
  expect(text).not.toContain('user-1')
  expect((await messagesOf(issueId)).length).toBe(60)
  // All others: the object goes as well.
  await app.tx((tx) => deleteIssueEvents(tx, issueId, 1_000))
  await rewriteSegments(app, store, never)
  await collectGarbage(app, store, never)
  expect(objectsOf(day)).toEqual([])
  expect(await placesOf(day)).toEqual({ here: 0, there: 0 })
})

test('what is deleted between upload and commit stays in no object', async () => {
  const { day, issueId } = await packedDay()
  class Slow extends ObjectStore {
    override async get(...args: Parameters<ObjectStore['get']>): Promise<Buffer | null> {
      await app.tx((tx) => deleteEventsOfUser(tx, issueId, [1], 1_000))
      expect(await isDeletionPending(app.db), 'an erasure waits for the draft').toBe(true)
      return super.get(...args)
    }
  }
  expect(await moveDay(app, new Slow(BLOCKS_URL, server.settings, options), day, never)).toBe(0)
  expect(await isDeletionPending(app.db)).toBe(true)
  await collectGarbage(app, store, never)
  expect(objectsOf(day)).toEqual([])
  await moveDay(app, store, day, never)
  expect(await textOfObjects(day)).not.toContain('user-1')
  expect(await messagesOf(issueId)).toHaveLength(60)
})

test('moving and deleting lock blocks in one order', async () => {
  const { day } = await packedDay()
  const [low, high] = (await app.tx((tx) => selectHotBlocks(tx, day, 1 << 20))).slice(0, 2)
  if (low === undefined || high === undefined) throw new Error('The day has too few blocks.')
  const segment = { id: newId(), day, sha256: '', bytes: low.body.length + high.body.length }
  await insertSegment(app.db, segment, clock.now())
  const places = [high, low].map((block) => ({ ...block, start: 0, end: block.body.length }))
  const remove = (tx: Tx, { id: blockId }: { readonly id: number }) =>
    removeParts(tx, [{ day, blockId, start: 0, end: 1 }])
  let moving: Promise<unknown> = Promise.resolve()
  await app.tx(async (tx) => {
    await remove(tx, low)
    moving = app.tx((other) => pointToSegment(other, segment, places, clock.now())).catch((error: unknown) => error)
    await waitFor('the mover to wait', async () => {
      const { rowCount } = await app.db.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rowCount === 1
    })
    await remove(tx, high)
  })
  expect(await moving).toBeInstanceOf(BlocksChangedError)
  await giveUpSegment(app.db, segment.id, clock.now())
})

test('an interrupted or changed upload loses nothing, and its object is collected', async () => {
  const { day, issueId } = await packedDay()
  // The process ends after the upload: nothing else of it is known.
  server.fault = ({ method }) => (method === 'GET' ? { status: 403, code: 'AccessDenied' } : null)
  await expect(moveDay(app, store, day, never)).rejects.toThrow(/may not do this/)
  expect(objectsOf(day)).toHaveLength(1)
  server.fault = ({ method, key }) => {
    const object = server.objects.get(key)
    if (method === 'GET' && object !== undefined) object.body.writeUInt8(object.body.readUInt8(9) ^ 1, 9)
    return null
  }
  await expect(moveDay(app, store, day, never)).rejects.toThrow(/does not return what was written/)
  server.fault = () => null
  expect(await placesOf(day)).toMatchObject({ there: 0 })
  expect(await messagesOf(issueId)).toHaveLength(120)
  expect(await isDeletionPending(app.db), 'what is deleted now is in the object').toBe(true)
  clock.advance(HOUR_MS)
  await collectGarbage(app, store, never)
  expect(objectsOf(day)).toEqual([])
  expect(await isDeletionPending(app.db)).toBe(false)
})

test('an object that is not there is not taken for deleted', async () => {
  const { day, issueId } = await packedDay()
  await moveDay(app, store, day, never)
  await app.tx((tx) => deleteEventsOfUser(tx, issueId, [1], 1_000))
  const elsewhere = new ObjectStore('s3://bucket/other', server.settings, options)
  expect(await rewriteSegments(app, elsewhere, never)).toBe(0)
  expect(logLines.at(-1)).toMatchObject({
    problem: expect.stringMatching(/has lost or changed .* Check BLOCKS_URL/) as unknown,
  })
  expect(await isDeletionPending(app.db)).toBe(true)
  expect(await messagesOf(issueId)).toHaveLength(60)
  expect(await rewriteSegments(app, store, never)).toBe(1)
})

test('objects that are lost for good are found and given up, with their events; unknown ones are named', async () => {
  const { day, issueId } = await packedDay()
  const other = await packedDay()
  for (const one of [day, other.day]) await moveDay(app, store, one, never)
  await app.tx((tx) => deleteEventsOfUser(tx, issueId, [1], 1_000))
  const keys = [...server.objects.keys()].filter((key) => key.includes(`/${day}/`))
  for (const key of keys) server.objects.delete(key)
  server.objects.set('events/blocks/2020-01-01/x', { body: Buffer.from('x'), modifiedAt: clock.now() })
  expect((await compareObjects(app.db, store, clock.now())).unknown, 'it may be an upload').toEqual([])
  clock.advance(2 * DAY_MS)
  const { lost, unknown } = await compareObjects(app.db, store, clock.now())
  expect(lost.map((segment) => segment.day)).toEqual([day])
  expect(unknown).toEqual(['blocks/2020-01-01/x'])
  expect(await isDeletionPending(app.db)).toBe(true)
  expect(await forgetLost(app, lost)).toBe(60)
  expect(await forgetLost(app, lost), 'once').toBe(0)
  await collectGarbage(app, store, never)
  expect(await isDeletionPending(app.db)).toBe(false)
  expect(await eventsOf(issueId)).toEqual([])
  expect(await eventsOf(other.issueId)).toHaveLength(120)
  // Same size, other content: found by reading once events are to be deleted from it.
  const [changed] = objectsOf(other.day)
  changed?.writeUInt8(changed.readUInt8(9) ^ 1, 9)
  expect((await compareObjects(app.db, store, clock.now())).lost).toEqual([])
  await app.tx((tx) => deleteEventsOfUser(tx, other.issueId, [1], 1_000))
  expect((await compareObjects(app.db, store, clock.now())).lost).toMatchObject([{ day: other.day }])
})

test('objects of a dropped day are deleted', async () => {
  const { day } = await packedDay()
  await moveDay(app, store, day, never)
  expect(objectsOf(day)).toHaveLength(1)
  const suffix = day.replaceAll('-', '')
  await app.db.query(`drop table events_${suffix}, event_blocks_${suffix}`)
  clock.advance(DAY_MS)
  await moveBlocksTask.run(app, {}, never)
  expect(objectsOf(day)).toEqual([])
})
