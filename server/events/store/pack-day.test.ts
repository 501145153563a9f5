import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ensureDayPartitions } from '../../platform/storage/day-partitions.ts'
import { openBlock, openBody } from './blocks.ts'
import type { StoredEvent } from './event.ts'
import { readBacklog } from '../../ingest/spool/project-backlog.ts'
import { packColdEvents } from './pack-task.ts'
import { DayBusyError, type EventCap, packDay } from './pack-day.ts'
import { ANY_DAY } from './event-places.queries.ts'
import {
  deleteIssueEvents,
  deleteEventsOfUser,
  findStored,
  insertEvents,
  newestEvents,
  readEvent,
  readEvents,
} from './store.queries.ts'

const { app, clock } = await testApp()
const projectId = newId()
const noPause = (): Promise<void> => Promise.resolve()
const SMALL_STEPS = { rows: 400, bytes: 1 << 20 }

/** Each test has its own day, in the past. */
let daysUsed = 0
async function freshDay(): Promise<string> {
  const day = dayPlus(utcDay(clock.now()), -10 - 3 * daysUsed++)
  await ensureDayPartitions(app.db, [{ table: 'events' }], day)
  return day
}

let made = 0
function eventOn(day: string, issueId: string, more: Partial<StoredEvent> = {}): StoredEvent {
  made++
  const json = Buffer.from(
    JSON.stringify({ message: `größer ${made}`, extra: `secret-${made}`, stack: 'x'.repeat(200) }),
  )
  const header = Buffer.from('{"event_id":"…"}\n{"type":"event"}\n')
  return {
    projectId,
    issueId,
    eventId: newEventId(),
    receivedAt: new Date(`${day}T12:00:00.123Z`),
    occurredAt: new Date(Date.parse(`${day}T11:00:00Z`) + made * 7),
    sentAt: made % 2 === 0 ? null : new Date(`${day}T11:59:59Z`),
    level: 'error',
    release: made % 3 === 0 ? null : 'shop@1.0',
    environment: 'production',
    clientIp: '203.0.113.7',
    userAgent: null,
    userHash: made % 5,
    encoding: 'gzip',
    bodyStart: header.length,
    bodyEnd: header.length + json.length,
    body: gzipSync(Buffer.concat([header, json, Buffer.from('\n')])),
    ...more,
  }
}

const write = (events: readonly StoredEvent[]): Promise<void> => app.tx((c) => insertEvents(c, events))

/** The content that must be the same before and after. */
const essence = (event: StoredEvent | null): (Omit<StoredEvent, 'body'> & { body: string }) | null =>
  event === null
    ? null
    : {
        ...event,
        encoding: 'none' as const,
        bodyStart: 0,
        bodyEnd: 0,
        body: openBody(event.body, event.encoding).subarray(event.bodyStart, event.bodyEnd).toString(),
      }

const sorted = (list: readonly ({ eventId: string } | null)[]): unknown[] =>
  list.toSorted((a, b) => ((a?.eventId ?? '') < (b?.eventId ?? '') ? -1 : 1))

async function essencesOf(issueId: string): Promise<ReturnType<typeof essence>[]> {
  return (
    await newestEvents(app.db, { issueIds: [issueId], oldestDay: ANY_DAY }, { limit: 5_000, maxBytes: 1 << 30 })
  ).map(essence)
}

async function rowsOf(day: string): Promise<{ rows: number; unpacked: number; blocks: number }> {
  const { rows } = await app.db.query<{ rows: number; unpacked: number; blocks: number }>(
    `select count(*) as rows, count(body) as unpacked, (select count(*) from event_blocks where received_day = $1) as blocks
     from events where received_day = $1`,
    [day],
  )
  return rows[0]!
}

/** The decoded content of all blocks of a day. */
async function textOfBlocks(day: string): Promise<string> {
  const blocks = await app.db.selectFrom('event_blocks').select('body').where('received_day', '=', day).execute()
  return blocks.map(({ body }) => (body === null ? '' : openBlock(body).toString())).join()
}

describe('a packed day', () => {
  const [first, second] = [newId(), newId()]
  let day = ''
  let events: StoredEvent[] = []
  let before: unknown[] = []
  let packed = 0

  beforeAll(async () => {
    day = await freshDay()
    events = Array.from({ length: 1_000 }, (_, i) => eventOn(day, i % 7 === 0 ? second : first))
    await write(events)
    before = [await essencesOf(first), await essencesOf(second)]
    packed = await packDay(app, day, noPause)
  })

  test('has the same events', async () => {
    expect(packed).toBe(1_000)
    expect([await essencesOf(first), await essencesOf(second)]).toEqual(before)
    expect(await rowsOf(day)).toEqual({ rows: 1_000, unpacked: 0, blocks: 20 })
    const [, one] = events
    expect(essence(await readEvent(app.db, first, one!))).toEqual(essence(one!))
    expect(essence(await readEvent(app.db, first, 'oldest'))).toEqual(essence(one!))
    const some = events.slice(100, 110)
    const read = await readEvents(
      app.db,
      projectId,
      some.map((event) => event.eventId),
      { first: day, last: day },
    )
    expect(sorted(read.map(essence))).toEqual(sorted(some.map(essence)))
  })

  test('still finds events by id', async () => {
    const client = await app.db.reserve()
    try {
      const key = { projectId, eventId: events[5]!.eventId }
      expect([...(await findStored(client, [key], { after: dayPlus(day, -1), until: dayPlus(day, 7) }))]).toEqual([
        `${projectId}/${key.eventId}`,
      ])
    } finally {
      client.release()
    }
    await expect(write([{ ...eventOn(day, first), eventId: events[5]!.eventId }])).rejects.toThrow(/unique/)
  })

  test('accepts late events, and no longer records changes', async () => {
    const late = eventOn(day, first)
    await write([late])
    expect(essence(await readEvent(app.db, first, late))).toEqual(essence(late))
    const { rows } = await app.db.query('select 1 from event_packing_changes')
    expect(rows).toEqual([])
  })

  test('deletes the bodies of one user, and of an issue, for good', async () => {
    const theirs = events.filter((event) => event.userHash === 3 && event.issueId === first)
    const json = (event: StoredEvent): string => /secret-\d+"/.exec(openBody(event.body, 'gzip').toString())![0]
    expect(await textOfBlocks(day)).toContain(json(theirs[0]!))
    const deleted = await app.tx((tx) => deleteEventsOfUser(tx, first, [3], 5_000))
    expect(deleted.length).toBeGreaterThanOrEqual(theirs.length)
    const left = await textOfBlocks(day)
    for (const event of theirs) expect(left).not.toContain(json(event))
    const other = events.find((event) => event.userHash !== 3 && event.issueId === first)!
    expect(left).toContain(json(other))
    expect(essence(await readEvent(app.db, first, other))).toEqual(essence(other))
    while ((await app.tx((tx) => deleteIssueEvents(tx, first, 300))).length === 300);
    while ((await app.tx((tx) => deleteIssueEvents(tx, second, 300))).length === 300);
    expect(await rowsOf(day)).toEqual({ rows: 0, unpacked: 0, blocks: 0 })
  })
})

test('packing that was interrupted continues where it stopped, and events stay readable meanwhile', async () => {
  const day = await freshDay()
  const issueId = newId()
  await write(Array.from({ length: 1_100 }, () => eventOn(day, issueId)))
  const before = await essencesOf(issueId)
  let steps = 0
  const cut = (): Promise<void> => (++steps === 2 ? Promise.reject(new Error('killed')) : Promise.resolve())
  await expect(packDay(app, day, cut, { step: SMALL_STEPS })).rejects.toThrow('killed')
  expect(await essencesOf(issueId)).toEqual(before)
  expect(await packDay(app, day, noPause, { step: SMALL_STEPS })).toBe(300)
  expect(await essencesOf(issueId)).toEqual(before)
  expect(await rowsOf(day)).toEqual({ rows: 1_100, unpacked: 0, blocks: 22 })
})

test('applies events that are deleted, written or moved to another issue meanwhile', async () => {
  const day = await freshDay()
  const [deletedIssue, movedIssue, otherIssue] = [newId(), newId(), newId()].sort() as [string, string, string]
  const events = [deletedIssue, movedIssue, otherIssue].flatMap((issueId) =>
    Array.from({ length: 300 }, () => eventOn(day, issueId)),
  )
  await write(events)
  const late = eventOn(day, movedIssue)
  let steps = 0
  const change = async (): Promise<void> => {
    if (++steps !== 2) return
    await app.tx((tx) => deleteIssueEvents(tx, deletedIssue, 5_000))
    // Moved to a later issue: its rows would be copied twice.
    await app.db.query('update events set issue_id = $2 where issue_id = $1', [movedIssue, otherIssue])
    await write([late])
  }
  await packDay(app, day, change, { step: SMALL_STEPS })
  expect(await essencesOf(deletedIssue)).toEqual([])
  expect(await essencesOf(movedIssue)).toEqual([essence(late)])
  const moved = events.filter((event) => event.issueId !== deletedIssue)
  const expected = moved.map((event) => essence({ ...event, issueId: otherIssue }))
  expect(sorted(await essencesOf(otherIssue))).toEqual(sorted(expected))
  const left = await textOfBlocks(day)
  for (const event of events.filter((one) => one.issueId === deletedIssue))
    expect(left).not.toContain(/secret-\d+"/.exec(openBody(event.body, 'gzip').toString())![0])
})

describe('an issue with more events of a day than are kept', () => {
  const filesOf: string[] = []
  const capOf = (max: number, named: readonly string[] = []): EventCap => ({
    max,
    readNamed: () => Promise.resolve(new Set(named)),
    deleteFiles: (_tx, _projectId, eventIds) => Promise.resolve(filesOf.push(...eventIds)),
  })

  test('keeps its newest, its oldest and those that its activity names, and others whole', async () => {
    const day = await freshDay()
    const [many, few] = [newId(), newId()]
    const events = Array.from({ length: 900 }, () => eventOn(day, many))
    const others = Array.from({ length: 100 }, () => eventOn(day, few))
    await write([...events, ...others])
    const turning = events[400]!
    let steps = 0
    const cut = (): Promise<void> => (++steps === 2 ? Promise.reject(new Error('killed')) : Promise.resolve())
    const options = { step: SMALL_STEPS, cap: capOf(100, [turning.eventId]) }
    await expect(packDay(app, day, cut, options)).rejects.toThrow('killed')
    await packDay(app, day, noPause, options)

    const kept = [events[0]!, turning, ...events.slice(-100)]
    expect(sorted(await essencesOf(many))).toEqual(sorted(kept.map(essence)))
    expect(await essencesOf(few)).toHaveLength(100)
    expect(await rowsOf(day)).toMatchObject({ rows: 202, unpacked: 0 })
    // A repeated event is a duplicate all the same.
    const days = { after: dayPlus(day, -1), until: day }
    expect((await findStored(app.db, [...events, ...others], days)).size).toBe(1_000)
    const left = events.filter((event) => !kept.includes(event)).map(({ eventId }) => eventId)
    expect(filesOf.splice(0).toSorted()).toEqual(left.toSorted())
  })

  test('what arrives or is deleted meanwhile is applied, and copying that begins again counts nothing twice', async () => {
    const day = await freshDay()
    const issueId = newId()
    const events = Array.from({ length: 500 }, () => eventOn(day, issueId))
    await write(events)
    const stop = (): Promise<void> => Promise.reject(new Error('killed'))
    const options = { step: SMALL_STEPS, cap: capOf(50) }
    await expect(packDay(app, day, stop, options)).rejects.toThrow('killed')
    // Its rows get other places.
    await app.db.query(`vacuum full events_${day.replaceAll('-', '')}`)
    const late = eventOn(day, issueId)
    let steps = 0
    const change = async (): Promise<void> => {
      if (++steps === 1) await write([late])
    }
    await packDay(app, day, change, options)
    const kept = [events[0]!, ...events.slice(-50), late]
    expect(sorted(await essencesOf(issueId))).toEqual(sorted(kept.map(essence)))
    const { rows } = await app.db.query<{ n: number }>(
      'select count(*) as n from capped_events where received_day = $1',
      [day],
    )
    expect(rows).toEqual([{ n: 449 }])
  })

  test('without a largest number all are kept', async () => {
    const day = await freshDay()
    const issueId = newId()
    await write(Array.from({ length: 60 }, () => eventOn(day, issueId)))
    expect(await packDay(app, day, noPause, { cap: capOf(0) })).toBe(60)
  })
})

test('a body that cannot be decoded stays unchanged', async () => {
  const day = await freshDay()
  const issueId = newId()
  const damaged = eventOn(day, issueId, { body: Buffer.from('not gzip at all') })
  const sound = eventOn(day, issueId)
  await write([damaged, sound])
  expect(await packDay(app, day, noPause)).toBe(2)
  expect(await readEvent(app.db, issueId, damaged)).toEqual(damaged)
  expect(essence(await readEvent(app.db, issueId, sound))).toEqual(essence(sound))
})

test('a day in use is not packed until the next time', async () => {
  const day = await freshDay()
  const issueId = newId()
  await write([eventOn(day, issueId)])
  const reader = await app.db.reserve()
  try {
    let isReading = false
    const packing = packDay(app, day, async () => {
      if (isReading) return
      isReading = true
      await reader.query('begin')
      await reader.query('select count(*) from events')
    })
    await expect(packing).rejects.toBeInstanceOf(DayBusyError)
    expect(await essencesOf(issueId)).toHaveLength(1)
    await reader.query('commit')
  } finally {
    reader.release()
  }
  await packDay(app, day, noPause)
  expect(await rowsOf(day)).toMatchObject({ rows: 1, unpacked: 0 })
})

test('packs closed days; today, yesterday in the hour after its end, and packed days are not packed', async () => {
  const [today, yesterday] = [utcDay(clock.now()), dayPlus(utcDay(clock.now()), -1)]
  await ensureDayPartitions(app.db, [{ table: 'events' }], yesterday)
  const issueId = newId()
  await write([eventOn(today, issueId), eventOn(yesterday, issueId)])
  const at = (time: string): Date => new Date(time)
  await packColdEvents(app, { readBacklog, now: at(`${today}T00:30:00Z`), minBytes: 0 })
  expect(await rowsOf(yesterday)).toMatchObject({ rows: 1, unpacked: 1 })
  expect(await packColdEvents(app, { readBacklog, now: at(`${today}T01:30:00Z`) })).toBe(0)
  expect(await packColdEvents(app, { readBacklog, now: at(`${today}T01:30:00Z`), minBytes: 0 })).toBe(1)
  expect(await rowsOf(yesterday)).toMatchObject({ rows: 1, unpacked: 0 })
  expect(await rowsOf(today)).toMatchObject({ rows: 1, unpacked: 1 })
  expect(await packColdEvents(app, { readBacklog, now: at(`${today}T01:30:00Z`), minBytes: 0 })).toBe(0)
})
