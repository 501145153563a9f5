import { expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { dayPlus, utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import type { RowTarget } from '../../platform/storage/database.ts'
import type { EventValues } from './event.ts'
import { KnownValues, MAX_VALUES, numberEventValues, numberValue } from './event-values.ts'
import { packDay } from './pack-day.ts'
import { EVENT_VALUES_PART } from './project-rows.queries.ts'
import { insertEvents } from './store.queries.ts'

const { app, clock } = await testApp()
const today = utcDay(clock.now())

const PHONE: EventValues = { os: 'Android', device: 'Pixel 8', exceptionType: 'TypeError' }
const number = (projectId: string, values: readonly EventValues[], memory = new KnownValues(), day = today) =>
  app.tx((tx) =>
    numberEventValues(
      tx,
      day,
      values.map((one) => ({ projectId, values: one })),
      memory,
    ),
  )
const valuesOf = async (projectId: string): Promise<string[]> =>
  (
    await app.db.query<{ text: string }>(
      "select kind || ' ' || value || ' ' || last_day as text from event_values where project_id = $1 order by 1",
      [projectId],
    )
  ).rows.map(({ text }) => text)

test('equal values have one number, in every batch and process', async () => {
  const projectId = newId()
  const [first, second, third] = await number(projectId, [
    PHONE,
    { ...PHONE, device: 'Pixel 9' },
    { os: '', device: null, exceptionType: null },
  ])
  expect(first).toEqual(['Android', 'Pixel 8', 'TypeError'].map(numberValue))
  expect(second).toEqual([first?.[0], numberValue('Pixel 9'), first?.[2]])
  expect(third).toEqual([null, null, null])
  expect(await number(projectId, [PHONE])).toEqual([first])
  expect(await valuesOf(projectId)).toEqual([
    `0 Android ${today}`,
    `1 Pixel 8 ${today}`,
    `1 Pixel 9 ${today}`,
    `2 TypeError ${today}`,
  ])
  const long = { os: null, device: null, exceptionType: 'E'.repeat(3_000) }
  expect(await number(projectId, [long])).toEqual(
    await number(projectId, [{ ...long, exceptionType: 'E'.repeat(200) }]),
  )
})

test('known values need no statement, and those of a transaction that was rolled back are not known', async () => {
  const projectId = newId()
  const memory = new KnownValues()
  await expect(
    app.tx(async (tx) => {
      await numberEventValues(tx, today, [{ projectId, values: PHONE }], memory)
      // Within the transaction they are stored already.
      await numberEventValues(tx, today, [{ projectId, values: PHONE }], memory)
      throw new Error('the batch fails')
    }),
  ).rejects.toThrow('the batch fails')
  expect(await valuesOf(projectId)).toEqual([])
  await number(projectId, [PHONE], memory)
  await number(projectId, [PHONE], memory)
  expect(await valuesOf(projectId)).toHaveLength(3)
  const none: RowTarget = {
    query: () => Promise.reject(new Error('a statement ran')),
    copyIn: () => Promise.reject(new Error('a statement ran')),
    sendRows: () => {
      throw new Error('a statement ran')
    },
  }
  const [ids] = await numberEventValues(none, today, [{ projectId, values: PHONE }], memory)
  expect(ids).toEqual(['Android', 'Pixel 8', 'TypeError'].map(numberValue))
})

test('a project has a limited number of values, each number is of one value, and others are unknown', async () => {
  const projectId = newId()
  await app.db.query(
    "insert into event_values select $1, 1, n, 'made up ' || n, $2 from generate_series(1, $3::int) n",
    [projectId, today, MAX_VALUES - 1],
  )
  await app.db.query("insert into event_values values ($1, 0, $2, 'another system', $3)", [
    projectId,
    numberValue('Android'),
    today,
  ])
  const [first, second] = await number(projectId, [PHONE, { ...PHONE, device: 'Pixel 9' }])
  expect(first).toEqual([null, numberValue('Pixel 8'), numberValue('TypeError')])
  expect(second).toEqual([null, null, numberValue('TypeError')])
  expect(await number(projectId, [{ ...PHONE, device: 'Pixel 10' }])).toEqual([[null, null, numberValue('TypeError')]])
  // Other projects have room.
  expect(await number(newId(), [PHONE])).toEqual([['Android', 'Pixel 8', 'TypeError'].map(numberValue)])
})

test('values that one project makes up are forgotten without those of others', async () => {
  const [own, other] = [newId(), newId()]
  const memory = new KnownValues()
  memory.on(today)
  memory.set({ projectId: other, kind: 0, id: 7, value: 'Android' }, 7)
  for (let n = 0; n < 50_000; n++) memory.set({ projectId: own, kind: 1, id: n, value: `made up ${n}` }, n)
  memory.on(today)
  expect(memory.get(other, 0, 'Android')).toBe(7)
  expect(memory.get(own, 1, 'made up 49999')).toBe(49_999)
  expect(memory.get(own, 1, 'made up 0')).toBeUndefined()
})

test('batches that add the same values at once wait for each other, and all commit', async () => {
  const projects = Array.from({ length: 4 }, newId)
  const facts = projects.flatMap((projectId) =>
    Array.from({ length: 20 }, (_, n) => ({
      projectId,
      values: { os: `os ${n}`, device: `device ${n}`, exceptionType: `Error${n}` },
    })),
  )
  const batches = Array.from({ length: 6 }, (_, n) =>
    app.tx((tx) => numberEventValues(tx, today, n % 2 === 0 ? facts : facts.toReversed(), new KnownValues())),
  )
  const [one, two] = await Promise.all(batches)
  expect(two?.toReversed()).toEqual(one)
  for (const projectId of projects) expect(await valuesOf(projectId)).toHaveLength(60)
})

test('a value is noted once a day, and deleted with its project', async () => {
  const projectId = newId()
  const memory = new KnownValues()
  await number(projectId, [PHONE], memory)
  const tomorrow = dayPlus(today, 1)
  await number(projectId, [{ ...PHONE, device: null }], memory, tomorrow)
  expect(await valuesOf(projectId)).toEqual([`0 Android ${tomorrow}`, `1 Pixel 8 ${today}`, `2 TypeError ${tomorrow}`])
  // Events of the day before, from the end of a backlog.
  await number(projectId, [PHONE], memory, today)
  expect(await valuesOf(projectId)).toEqual([`0 Android ${tomorrow}`, `1 Pixel 8 ${today}`, `2 TypeError ${tomorrow}`])
  expect(await app.tx((tx) => EVENT_VALUES_PART.deleteRows(tx, projectId, 100))).toBe(3)
})

test('packing keeps the numbers', async () => {
  const projectId = newId()
  const day = dayPlus(today, -3)
  await ensureDayPartitions(app.db, [{ table: 'events' }, { table: 'event_blocks' }], day)
  const events = Array.from({ length: 3 }, (_, n) => ({
    projectId,
    issueId: newId(),
    eventId: newEventId(),
    receivedAt: new Date(`${day}T12:00:00Z`),
    occurredAt: new Date(`${day}T12:00:00Z`),
    sentAt: null,
    level: 'error',
    release: null,
    environment: 'production',
    clientIp: null,
    userAgent: null,
    userHash: null,
    encoding: 'none' as const,
    bodyStart: 0,
    bodyEnd: 2,
    body: Buffer.from('{}'),
    values: { os: 'iOS', device: ['', 'iPhone15,2', 'iPhone16,1'][n] ?? null, exceptionType: null },
  }))
  await app.tx((tx) => insertEvents(tx, events))
  const stored = async () =>
    (
      await app.db.query<{ ids: string }>(
        "select concat_ws(' ', os_id, device_id, exception_type_id) as ids from events where project_id = $1 order by 1",
        [projectId],
      )
    ).rows.map(({ ids }) => ids)
  const os = numberValue('iOS')
  const wanted = [`${os}`, `${os} ${numberValue('iPhone15,2')}`, `${os} ${numberValue('iPhone16,1')}`].toSorted()
  expect((await stored()).toSorted()).toEqual(wanted)
  await packDay(app, day, () => Promise.resolve())
  expect((await stored()).toSorted()).toEqual(wanted)
})
