import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { newId } from '../kernel/ids.ts'
import { ensureDayPartitions } from '../storage/day-partitions.ts'
import { packBlock } from './blocks.ts'
import { ANY_DAY, lookAtEvents } from './event-places.queries.ts'
import { findStored, insertEvents, newestArrived, newestEvents, readEvent, readEventsAt } from './store.queries.ts'

const { app, clock } = await testApp()
const day = dayOf(clock.now())
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

test('no plan from when a day was empty is kept for when it is full', async () => {
  const keys = [{ projectId: newId(), eventId: newEventId() }]
  const session = await app.db.reserve()
  try {
    for (let i = 0; i < 10; i++) await findStored(session, keys, day)
    const { rows } = await session.query<{ generic: number; custom: number }>(
      `select generic_plans as generic, custom_plans as custom from pg_prepared_statements where name = 'events-find-stored'`,
    )
    expect(rows).toEqual([{ generic: 0, custom: 10 }])
  } finally {
    session.release()
  }
})

test('the newest events are given up to a number and a size, and one whatever its size', async () => {
  const [issueId, projectId] = [newId(), newId()]
  const events = [1, 2, 3, 4].map((secondsAgo) => anEvent(issueId, projectId, secondsAgo, 1_000))
  await app.tx((tx) => insertEvents(tx, events))
  const ids = events.map((event) => event.eventId)
  const given = async (limit: number, mostBytes: number): Promise<string[]> =>
    (await newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, { limit, mostBytes })).map(
      (event) => event.eventId,
    )
  expect(await given(10, 1 << 20)).toEqual(ids)
  expect(await given(2, 1 << 20)).toEqual(ids.slice(0, 2))
  expect(await given(10, 2_500)).toEqual(ids.slice(0, 3))
  expect(await given(10, 1)).toEqual(ids.slice(0, 1))
})

test('of an issue with many events in many days the newest are read, not all of them', async () => {
  const projectId = newId()
  const large = newId()
  const events = [0, 1, 2, 3, 4, 5].flatMap((daysAgo) => {
    const on = (issueId: string, n: number) => {
      const event = anEvent(issueId, projectId, daysAgo * 86_400 + n, 10)
      return { ...event, receivedAt: event.occurredAt }
    }
    // As it is: most issues have few events, from which the planner concludes that all have.
    return [
      ...Array.from({ length: 400 }, (_, n) => on(large, n)),
      ...Array.from({ length: 400 }, (_, n) => on(newId(), n)),
    ]
  })
  for (const received of new Set(events.map((event) => dayOf(event.receivedAt))))
    await ensureDayPartitions(app.db, [{ table: 'events' }], received)
  await app.tx((tx) => insertEvents(tx, events))
  await app.db.query('analyze events')
  const fetched = await app.tx(async (tx) => {
    expect(
      await newestEvents(tx, { issueIds: [large], oldestDay: ANY_DAY }, { limit: 100, mostBytes: 1 << 20 }),
    ).toHaveLength(100)
    expect(
      await lookAtEvents(tx, { issueIds: [large], oldestDay: ANY_DAY }, { direction: 'older', from: null, most: 100 }),
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

test('bodies are found in their days, and blocks are opened up to a number', async () => {
  const [issueId, projectId] = [newId(), newId()]
  const events = [1, 2, 3].map((secondsAgo) => anEvent(issueId, projectId, secondsAgo, 10))
  await app.tx((tx) => insertEvents(tx, events))
  const places = events.map((event) => ({ eventId: event.eventId, receivedDay: day }))
  const ids = async (given: typeof places) =>
    (await readEventsAt(app.db, projectId, given)).map((event) => event.eventId).toSorted()
  expect(await ids(places)).toEqual(events.map((event) => event.eventId).toSorted())
  expect(await ids(places.map((place) => ({ ...place, receivedDay: dayPlus(day, -1) })))).toEqual([])
  expect(await readEventsAt(app.db, newId(), places)).toEqual([])
  // One block each: the sample ends before the second one, however many rows there are.
  await ensureDayPartitions(app.db, [{ table: 'event_blocks' }], day)
  for (const [index, event] of events.entries()) {
    const block = await packBlock([Buffer.from('{"n": 1234}')])
    await app.db.query('insert into event_blocks values ($1, $2, $3)', [day, 9_000 + index, block])
    await app.db.query(
      'update events set body = null, block_id = $2, body_start = 0, body_end = 11 where event_id = $1',
      [event.eventId, 9_000 + index],
    )
  }
  const limits = { limit: 10, mostBytes: 1 << 20 }
  expect(await newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, limits)).toHaveLength(3)
  expect(
    await newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, { ...limits, mostBlocks: 2 }),
  ).toHaveLength(2)
  expect(
    (await newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, limits)).map(({ body }) =>
      body.toString(),
    ),
  ).toEqual(events.map(() => '{"n": 1234}'))
})

test('an event by its id belongs to the issue asked for', async () => {
  const [issueId, projectId] = [newId(), newId()]
  const event = anEvent(issueId, projectId, 1, 10)
  await app.tx((tx) => insertEvents(tx, [event]))
  expect(await readEvent(app.db, issueId, event)).toMatchObject({ eventId: event.eventId, issueId })
  expect(await readEvent(app.db, newId(), event)).toBeNull()
})
