import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { packBlock } from './blocks.ts'
import { ANY_DAY, lookAtEvents } from './event-places.queries.ts'
import { findStored, insertEvents, newestArrived, newestEvents, readEvent, readEventsAt } from './store.queries.ts'

const { app, clock } = await testApp()
const day = utcDay(clock.now())
await ensureDayPartitions(app.db, [{ table: 'events' }], day)

const anEvent = (issueId: string, projectId: string, secondsAgo: number, bytes: number) => ({
  projectId,
  issueId,
  eventId: newEventId(),
  receivedAt: clock.now(),
  occurredAt: new Date(clock.now().getTime() - secondsAgo * 1000),
  sentAt: null,
  level: 'error',
  release: null,
  environment: 'production',
  clientIp: null,
  userAgent: null,
  userHash: null,
  encoding: 'none' as const,
  bodyStart: 0,
  bodyEnd: bytes,
  body: Buffer.alloc(bytes, ' '),
})

test('plans each query again, because an empty day becomes a full one', async () => {
  const keys = [{ projectId: newId(), eventId: newEventId() }]
  const session = await app.db.reserve()
  try {
    for (let i = 0; i < 10; i++) await findStored(session, keys, { after: dayPlus(day, -7), until: dayPlus(day, 1) })
    const { rows } = await session.query<{ generic: number; custom: number }>(
      `select generic_plans as generic, custom_plans as custom from pg_prepared_statements where name = 'events-find-stored'`,
    )
    expect(rows).toEqual([{ generic: 0, custom: 10 }])
  } finally {
    session.release()
  }
})

test('returns the newest events up to a number and a size, but at least one', async () => {
  const [issueId, projectId] = [newId(), newId()]
  const events = [1, 2, 3, 4].map((secondsAgo) => anEvent(issueId, projectId, secondsAgo, 1_000))
  await app.tx((tx) => insertEvents(tx, events))
  const ids = events.map((event) => event.eventId)
  const read = async (limit: number, maxBytes: number): Promise<string[]> =>
    (await newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, { limit, maxBytes })).map(
      (event) => event.eventId,
    )
  expect(await read(10, 1 << 20)).toEqual(ids)
  expect(await read(2, 1 << 20)).toEqual(ids.slice(0, 2))
  expect(await read(10, 2_500)).toEqual(ids.slice(0, 3))
  expect(await read(10, 1)).toEqual(ids.slice(0, 1))
})

test('reads only the newest events of an issue with many events on many days', async () => {
  const projectId = newId()
  const large = newId()
  const events = [0, 1, 2, 3, 4, 5].flatMap((daysAgo) => {
    const on = (issueId: string, n: number) => {
      const event = anEvent(issueId, projectId, daysAgo * 86_400 + n, 10)
      return { ...event, receivedAt: event.occurredAt }
    }
    // As in practice, most issues have few events, so the planner expects few of every issue.
    return [
      ...Array.from({ length: 400 }, (_, n) => on(large, n)),
      ...Array.from({ length: 400 }, (_, n) => on(newId(), n)),
    ]
  })
  for (const received of new Set(events.map((event) => utcDay(event.receivedAt))))
    await ensureDayPartitions(app.db, [{ table: 'events' }], received)
  await app.tx((tx) => insertEvents(tx, events))
  await app.db.query('analyze events')
  const fetched = await app.tx(async (tx) => {
    expect(
      await newestEvents(tx, { issueIds: [large], oldestDay: ANY_DAY }, { limit: 100, maxBytes: 1 << 20 }),
    ).toHaveLength(100)
    expect(
      await lookAtEvents(tx, { issueIds: [large], oldestDay: ANY_DAY }, { direction: 'older', from: null, max: 100 }),
    ).toHaveLength(100)
    expect(await newestArrived(tx, [large], 100)).toHaveLength(100)
    const { rows } = await sql<{ n: number }>`
      select sum(idx_tup_fetch + seq_tup_read)::int as n from pg_stat_xact_user_tables where relname like 'events_2%'`.execute(
      tx,
    )
    return rows[0]?.n ?? 0
  })
  expect(fetched).toBeGreaterThan(200)
  expect(fetched).toBeLessThan(400)
})

test('reads bodies by day, and blocks up to a number', async () => {
  const [issueId, projectId] = [newId(), newId()]
  const events = [1, 2, 3].map((secondsAgo) => anEvent(issueId, projectId, secondsAgo, 10))
  await app.tx((tx) => insertEvents(tx, events))
  const places = events.map((event) => ({ eventId: event.eventId, receivedDay: day }))
  const ids = async (given: typeof places) =>
    (await readEventsAt(app.db, projectId, given)).map((event) => event.eventId).toSorted()
  expect(await ids(places)).toEqual(events.map((event) => event.eventId).toSorted())
  expect(await ids(places.map((place) => ({ ...place, receivedDay: dayPlus(day, -1) })))).toEqual([])
  expect(await readEventsAt(app.db, newId(), places)).toEqual([])
  // Each event has its own block.
  await ensureDayPartitions(app.db, [{ table: 'event_blocks' }], day)
  for (const [index, event] of events.entries()) {
    const block = await packBlock(Buffer.from('{"n": 1234}'))
    await app.db.query('insert into event_blocks values ($1, $2, $3)', [day, 9_000 + index, block])
    await app.db.query(
      'update events set body = null, block_id = $2, body_start = 0, body_end = 11 where event_id = $1',
      [event.eventId, 9_000 + index],
    )
  }
  const limits = { limit: 10, maxBytes: 1 << 20 }
  expect(await newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, limits)).toHaveLength(3)
  expect(
    await newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, { ...limits, maxBlocks: 2 }),
  ).toHaveLength(2)
  expect(
    (await newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, limits)).map(({ body }) =>
      body.toString(),
    ),
  ).toEqual(events.map(() => '{"n": 1234}'))
})

test('an event is read by id only with its issue', async () => {
  const [issueId, projectId] = [newId(), newId()]
  const event = anEvent(issueId, projectId, 1, 10)
  await app.tx((tx) => insertEvents(tx, [event]))
  expect(await readEvent(app.db, issueId, event)).toMatchObject({ eventId: event.eventId, issueId })
  expect(await readEvent(app.db, newId(), event)).toBeNull()
})
