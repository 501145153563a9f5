import { expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { dayOf } from '../kernel/day.ts'
import { newId } from '../kernel/ids.ts'
import { ensureDayPartitions } from '../storage/day-partitions.ts'
import { withClientTx } from '../storage/pool.ts'
import { findStored, insertEvents, newestEvents, readEvent } from './store.ts'

const { app, clock } = await testApp()
const day = dayOf(clock.now())
await ensureDayPartitions(app.pool, [{ table: 'events' }], day)

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
  const client = await app.pool.connect()
  try {
    for (let i = 0; i < 10; i++) await findStored(client, keys, day)
    const { rows } = await client.query<{ generic: number; custom: number }>(
      `select generic_plans as generic, custom_plans as custom from pg_prepared_statements where name = 'events-find-stored'`,
    )
    expect(rows).toEqual([{ generic: 0, custom: 10 }])
  } finally {
    client.release()
  }
})

test('the newest events are given up to a number and a size, and one whatever its size', async () => {
  const [issueId, projectId] = [newId(), newId()]
  const events = [1, 2, 3, 4].map((secondsAgo) => anEvent(issueId, projectId, secondsAgo, 1_000))
  await withClientTx(app.pool, (client) => insertEvents(client, events))
  const ids = events.map((event) => event.eventId)
  const given = async (limit: number, mostBytes: number): Promise<string[]> =>
    (await newestEvents(app.db, issueId, limit, mostBytes)).map((event) => event.eventId)
  expect(await given(10, 1 << 20)).toEqual(ids)
  expect(await given(2, 1 << 20)).toEqual(ids.slice(0, 2))
  expect(await given(10, 2_500)).toEqual(ids.slice(0, 3))
  expect(await given(10, 1)).toEqual(ids.slice(0, 1))
})

test('an event by its id belongs to the issue asked for', async () => {
  const [issueId, projectId] = [newId(), newId()]
  const event = anEvent(issueId, projectId, 1, 10)
  await withClientTx(app.pool, (client) => insertEvents(client, [event]))
  expect(await readEvent(app.db, issueId, event)).toMatchObject({ eventId: event.eventId, issueId })
  expect(await readEvent(app.db, newId(), event)).toBeNull()
})
