import { expect, test } from 'vitest'
import { newEventId } from '#test/kit/sdk.ts'
import { testApp } from '#test/kit/test-app.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ensureDayPartitions, partitionDays } from '../../platform/storage/day-partitions.ts'
import { ANY_DAY } from './event-places.queries.ts'
import { packDay } from './pack-day.ts'
import { purgeEvents } from './purge-events.ts'
import { insertEvents, newestEvents } from './store.queries.ts'

const { app, clock } = await testApp()
const never = new AbortController().signal
const today = utcDay(clock.now())
const TABLES = [{ table: 'events' }, { table: 'event_blocks' }]

async function anEventOf(projectId: string, daysAgo: number, issueId = newId()): Promise<void> {
  const day = dayPlus(today, -daysAgo)
  await ensureDayPartitions(app.db, TABLES, day)
  const at = new Date(`${day}T12:00:00Z`)
  await app.tx((tx) =>
    insertEvents(tx, [
      {
        projectId,
        eventId: newEventId(),
        issueId,
        receivedAt: at,
        occurredAt: at,
        sentAt: null,
        level: 'error',
        release: null,
        environment: 'production',
        clientIp: null,
        userAgent: null,
        userHash: null,
        encoding: 'none',
        bodyStart: 0,
        bodyEnd: 2,
        body: Buffer.from('{}'),
      },
    ]),
  )
}

test('drops days older than the longest retention of all projects, with their blocks, and no others', async () => {
  const org = newId()
  await app.db.query(
    `insert into orgs (id, slug, name, data_key_sealed, created_at) values ($1, 'o', 'O', 'x', now())`,
    [org],
  )
  expect(await purgeEvents(app, never)).toEqual({ days: 0, events: 0 })
  const projects = [newId(), newId()]
  for (const [index, days] of [7, 30].entries())
    await app.db.query(
      `insert into projects (id, org_id, name, slug, platform, region, settings, created_at) values ($1, $2, 'P', $3, 'web', 'eu-central-1', $4, now())`,
      [projects[index], org, `p${index}`, JSON.stringify({ retention_days: days })],
    )
  for (const daysAgo of [0, 10, 29, 45, 60]) await anEventOf(projects[0] ?? '', daysAgo)
  await app.db.query(
    `insert into event_packings (received_day, stage, started_at) values ($1, 'done', now()), ($2, 'done', now())`,
    [dayPlus(today, -45), dayPlus(today, -29)],
  )
  for (const [project, daysAgo] of [
    [projects[1], 10],
    [projects[1], 29],
  ] as const)
    await anEventOf(project ?? '', daysAgo)
  expect(await purgeEvents(app, AbortSignal.abort())).toMatchObject({ events: 0 })
  expect(await purgeEvents(app, never)).toEqual({ days: 0, events: 2 })
  expect((await partitionDays(app.db, 'events')).every((day) => day >= dayPlus(today, -30))).toBe(true)
  expect((await partitionDays(app.db, 'event_blocks')).every((day) => day >= dayPlus(today, -30))).toBe(true)
  const { rows } = await app.db.query<{ events: number; packings: number }>(
    'select (select count(*)::int from events) as events, (select count(*)::int from event_packings) as packings',
  )
  expect(rows).toEqual([{ events: 3, packings: 1 }])
  expect((await app.db.query('select distinct project_id from events where received_day < $1', [today])).rows).toEqual([
    { project_id: projects[1] },
  ])
  expect(await purgeEvents(app, never)).toEqual({ days: 0, events: 0 })
})

test('does not wait for another process that deletes the same events', async () => {
  const { rows } = await app.db.query<{ id: string }>(
    `select id from projects where settings @> '{"retention_days": 7}'`,
  )
  const issueId = newId()
  for (let n = 0; n < 8; n++) await anEventOf(rows[0]?.id ?? '', 29, issueId)
  const other = await app.db.reserve()
  try {
    await other.query('begin')
    const some = 'select event_id from events where issue_id = $1 order by ctid desc limit 2'
    await other.query(`delete from events where event_id in (${some})`, [issueId])
    expect(await purgeEvents(app, never)).toEqual({ days: 0, events: 6 })
    await other.query('delete from events where issue_id = $1', [issueId])
  } finally {
    await other.query('rollback')
    other.release()
  }
  expect(await purgeEvents(app, never)).toEqual({ days: 0, events: 2 })
})

test('deletes events of packed days in pieces, and events of other projects stay readable', async () => {
  const { rows: projects } = await app.db.query<{ id: string }>(
    `select id from projects order by (settings->>'retention_days')::int`,
  )
  const [short = '', long = ''] = projects.map(({ id }) => id)
  const [gone, kept] = [newId(), newId()]
  for (let n = 0; n < 3; n++) {
    await anEventOf(short, 20, gone)
    await anEventOf(long, 20, kept)
  }
  const day = dayPlus(today, -20)
  await packDay(app, day, () => Promise.resolve())
  // One issue larger than a piece, and several smaller ones.
  await app.db.query(
    `insert into events (received_day, project_id, event_id, issue_id, received_at, occurred_at, level, environment, body_encoding, body_start, body_end, body)
     select $1::date, $2, gen_random_uuid(), case when n <= 2001 then $3::uuid else gen_random_uuid() end, $1::date, $1::date, 'error', 'p', 0, 0, 2, '{}'
     from generate_series(1, 4100) n`,
    [day, short, newId()],
  )
  expect(await purgeEvents(app, never)).toEqual({ days: 0, events: 4_103 })
  const read = async (id: string) =>
    newestEvents(app.db, { issueIds: [id], oldestDay: ANY_DAY }, { limit: 10, maxBytes: 1 << 20 })
  expect((await read(kept)).map(({ body, bodyStart, bodyEnd }) => body.toString('utf8', bodyStart, bodyEnd))).toEqual(
    Array.from({ length: 3 }, () => '{}'),
  )
  expect(await read(gone)).toEqual([])
})
