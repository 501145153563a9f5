import { describe, expect, test } from 'vitest'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { SessionUpdate } from '../../events/protocol/session.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { BUCKET_SECONDS } from './buckets.ts'
import { LEVELS, levelNumber, MAX_NEW_PER_DAY, otherId } from './dimensions.ts'
import { foldHealth } from './fold-health.ts'
import { removeUserFromSessions } from './fold.queries.ts'
import { readSessionTotals, type SessionTotalsQuery } from './session-totals.ts'
import { type ReceivedSession, recordSessions } from './record-sessions.ts'
import { anAttribute, anUpdate, everythingOf, sessionFact, countsFact, NOW, sidOf } from './sessions.fixture.ts'

const test_ = await testApp()
const { app, clock } = test_
clock.set(new Date(NOW))

const record = (facts: readonly ReceivedSession[], by: App = app, now = NOW): Promise<boolean[]> =>
  by.tx((tx) => recordSessions(tx, new Date(now), facts))

/** Records updates of one project, each in a separate batch. */
async function inTurn(projectId: string, ...updates: SessionUpdate[]): Promise<void> {
  for (const update of updates) await record([sessionFact(projectId, update)])
}

/** The same before and after a fold. */
async function totals(projectId: string, filter: Partial<SessionTotalsQuery> = {}) {
  const read = () =>
    readSessionTotals(app.db, { projectId, from: new Date(NOW - 86_400_000), to: new Date(NOW), ...filter })
  const before = await read()
  await foldHealth(app)
  const after = await read()
  expect(after).toEqual(before)
  return after
}

describe('one session', () => {
  test('counts once, in its most severe class', async () => {
    const projectId = newId()
    await inTurn(projectId, anUpdate({ isInit: true, did: 'ada' }))
    expect(await totals(projectId)).toMatchObject({ total: 1, healthy: 1, users: 1, crash_free_users: 1 })
    await inTurn(projectId, anUpdate({ errors: 1, did: 'ada' }))
    expect(await totals(projectId)).toMatchObject({ total: 1, healthy: 0, errored: 1 })
    await inTurn(projectId, anUpdate({ status: 'crashed', errors: 2, did: 'ada' }))
    await inTurn(projectId, anUpdate({ status: 'exited', did: 'ada' }), anUpdate({ did: 'ada' }))
    expect(await totals(projectId)).toMatchObject({
      total: 1,
      errored: 0,
      crashed: 1,
      users: 1,
      crashed_users: 1,
      crash_rate: 1,
      crash_free_sessions: 0,
      crash_free_users: 0,
    })
    const { sessions } = await everythingOf(app, projectId)
    expect(sessions).toMatchObject([{ status: 5, errors: 2, has_init: true }])
  })

  test('counts in the bucket of its start when its end arrives later', async () => {
    const projectId = newId()
    const startedAt = NOW - 4 * 86_400_000
    await inTurn(projectId, anUpdate({ startedAt, isInit: true }))
    await inTurn(projectId, anUpdate({ startedAt, timestamp: NOW, status: 'crashed' }))
    expect(await totals(projectId)).toMatchObject({ total: 0, crashed: 0, crash_rate: null })
    const day = { from: new Date(startedAt - 3_600_000), to: new Date(startedAt + 3_600_000) }
    expect(await totals(projectId, day)).toMatchObject({ total: 1, crashed: 1 })
  })

  test('whose updates name two start minutes counts in the first only', async () => {
    const projectId = newId()
    const late = anUpdate({ startedAt: NOW - 60_000, status: 'crashed' })
    await inTurn(projectId, late, anUpdate({ startedAt: NOW - 3_600_000, isInit: true }))
    expect(await totals(projectId, { from: new Date(NOW - 60_000) })).toMatchObject({ total: 0, crashed: 0 })
    expect(await totals(projectId, { to: new Date(NOW - 60_000) })).toMatchObject({ total: 1, crashed: 1 })
  })

  test('of another project with the same id is another session', async () => {
    const [one, two] = [newId(), newId()]
    await record([
      sessionFact(one, anUpdate({ did: 'sylvia' })),
      sessionFact(two, anUpdate({ did: 'sylvia', status: 'crashed' })),
    ])
    expect(await totals(one)).toMatchObject({ total: 1, crashed: 0, crashed_users: 0 })
    expect(await totals(two)).toMatchObject({ total: 1, crashed: 1, crashed_users: 1 })
    const { sessions } = await everythingOf(app, one)
    const { sessions: others } = await everythingOf(app, two)
    expect(sessions[0]?.['user_hash']).not.toBe(others[0]?.['user_hash'])
    expect(JSON.stringify([sessions, others])).not.toContain('sylvia')
  })

  test('that started before the retention of rows is not counted, because it may be counted already', async () => {
    const projectId = newId()
    const old = anUpdate({ startedAt: NOW - 6 * 86_400_000 - 1 })
    expect(await record([sessionFact(projectId, old), sessionFact(projectId, anUpdate())])).toEqual([false, true])
    expect((await everythingOf(app, projectId)).sessions).toHaveLength(1)
  })

  test('writes nothing for a repeated update', async () => {
    const projectId = newId()
    const update = anUpdate({ did: 'ada', status: 'exited', durationMs: 5_000 })
    await inTurn(projectId, update)
    const versions = () =>
      app.db.query(
        `select xmin::text, ctid::text from app_sessions where project_id = $1
         union all select xmin::text, ctid::text from health_deltas where project_id = $1 order by 1, 2`,
        [projectId],
      )
    const before = await versions()
    await inTurn(projectId, update, update)
    expect((await versions()).rows).toEqual(before.rows)
  })
})

describe('ANR', () => {
  test('counts users by mechanism; an abnormal end without mechanism is no ANR', async () => {
    const projectId = newId()
    const hang = (name: string, mechanism: string | null) =>
      sessionFact(projectId, anUpdate({ sid: sidOf(name), did: name, status: 'abnormal', mechanism }))
    await record([
      hang('a', 'anr_foreground'),
      hang('b', 'anr_background'),
      hang('c', null),
      hang('d', 'killed'),
      sessionFact(
        projectId,
        anUpdate({ sid: sidOf('again'), did: 'a', status: 'abnormal', mechanism: 'anr_foreground' }),
      ),
    ])
    expect(await totals(projectId)).toMatchObject({
      total: 5,
      abnormal: 5,
      anr_foreground: 2,
      anr_background: 1,
      users: 4,
      anr_users: 2,
      anr_foreground_users: 1,
      anr_rate: 0.5,
      anr_foreground_rate: 0.25,
      crash_rate: 0,
    })
  })

  test.each([[[0, 1, 2]], [[0, 2, 1]], [[1, 2]], [[2, 1, 0]], [[1, 0, 2, 1]]])(
    'before or after a crash of the same session is no ANR, in the order %j',
    async (order) => {
      const projectId = newId()
      const updates = [
        anUpdate({ isInit: true }),
        anUpdate({ status: 'abnormal', mechanism: 'anr_foreground' }),
        anUpdate({ status: 'crashed', errors: 1 }),
      ]
      await inTurn(projectId, ...order.flatMap((index) => updates[index] ?? []))
      expect(await totals(projectId)).toMatchObject({
        total: 1,
        crashed: 1,
        abnormal: 0,
        errored: 0,
        anr_foreground: 0,
        anr_background: 0,
        anr_foreground_rate: 0,
      })
    },
  )

  test('before a crash of the same session does not count its user among those of ANRs', async () => {
    const projectId = newId()
    const hang = { status: 'abnormal', mechanism: 'anr_foreground' } as const
    await inTurn(
      projectId,
      anUpdate({ did: 'ada', ...hang }),
      anUpdate({ did: 'ada', status: 'crashed' }),
      anUpdate({ sid: sidOf('two'), did: 'bob', ...hang }),
      anUpdate({ sid: sidOf('three'), did: 'cleo' }),
    )
    expect(await totals(projectId)).toMatchObject({
      users: 3,
      crashed_users: 1,
      anr_users: 1,
      anr_foreground_users: 1,
      anr_foreground_rate: 1 / 3,
    })
  })

  test('is a share of sessions when they name no users, and null without sessions', async () => {
    const projectId = newId()
    expect(await totals(projectId)).toMatchObject({
      total: 0,
      crash_rate: null,
      crash_free_users: null,
      anr_rate: null,
    })
    const hang = anUpdate({ sid: sidOf('b'), status: 'abnormal', mechanism: 'anr_foreground' })
    await inTurn(projectId, anUpdate(), hang)
    expect(await totals(projectId)).toMatchObject({ anr_rate: 0.5, crash_free_users: null })
  })
})

describe('durations', () => {
  test('of ended sessions are stored within 1 %, and the newest value counts', async () => {
    const projectId = newId()
    await inTurn(projectId, anUpdate({ durationMs: 550, isInit: true }))
    expect((await everythingOf(app, projectId)).rollups[0]?.durations).toBeNull()
    await inTurn(projectId, anUpdate({ status: 'exited', durationMs: 7_414 }))
    await inTurn(projectId, anUpdate({ status: 'crashed', durationMs: 9_000 }))
    for (const row of (await everythingOf(app, projectId)).rollups) {
      const sketch = DDSketch.fromBytes(row.durations ?? Buffer.alloc(0))
      expect(sketch.count).toBe(1)
      expect(Math.abs((sketch.quantile(0.5) ?? 0) / 9_000 - 1)).toBeLessThan(0.01)
    }
  })
})

describe('counts of the SDK', () => {
  test('are added to the rollups, with their users if they name them', async () => {
    const projectId = newId()
    await record([
      countsFact(projectId, [
        { exited: 3, errored: 1, crashed: 1 },
        { exited: 2, did: 'ada' },
        { crashed: 1, unhandled: 2, abnormal: 4, did: 'bob' },
      ]),
    ])
    expect(await totals(projectId)).toMatchObject({
      total: 14,
      healthy: 5,
      errored: 1,
      unhandled: 2,
      abnormal: 4,
      crashed: 2,
      users: 2,
      crashed_users: 1,
      unhandled_users: 1,
      anr_users: 0,
      crash_free_users: 0.5,
    })
  })
})

describe('attributes', () => {
  test('filter counts', async () => {
    const projectId = newId()
    const kinds = [
      anAttribute({ release: 'a', os: 'iOS', device: 'iPhone' }),
      anAttribute({ release: 'a', environment: 'staging' }),
      anAttribute({ release: 'b', os: 'iOS' }),
    ]
    await record(
      kinds.map((attributes, index) =>
        sessionFact(
          projectId,
          anUpdate({ sid: sidOf(`${index}`), attributes, status: index === 0 ? 'crashed' : 'ok' }),
        ),
      ),
    )
    expect(await totals(projectId)).toMatchObject({ total: 3, crashed: 1 })
    expect(await totals(projectId, { release: 'a' })).toMatchObject({ total: 2, crashed: 1 })
    expect(await totals(projectId, { release: 'a', environment: 'staging' })).toMatchObject({ total: 1, crashed: 0 })
    expect(await totals(projectId, { os: 'iOS' })).toMatchObject({ total: 2 })
    expect(await totals(projectId, { device: 'iPhone' })).toMatchObject({ total: 1 })
    expect(await totals(projectId, { release: 'c' })).toMatchObject({ total: 0, crash_rate: null })
    expect(await totals(newId(), { release: 'a' })).toMatchObject({ total: 0 })
  })

  test('of 10,000 releases a day, some are counted by name, the others together', async () => {
    const projectId = newId()
    const updates = Array.from({ length: 10_000 }, (_, index) =>
      sessionFact(
        projectId,
        anUpdate({ sid: sidOf(`many ${index}`), attributes: anAttribute({ release: `r${index}` }) }),
      ),
    )
    await record(updates)
    await foldHealth(app)
    const { rows } = await app.db.query<{ level: number; named: number; others: number }>(
      `select level, count(*) filter (where id <> all($2::bigint[])) as named, count(*) filter (where id = any($2::bigint[])) as others
       from health_attributes where project_id = $1 group by level`,
      [projectId, LEVELS.map(otherId)],
    )
    const of = (level: number) => rows.find((row) => row.level === level)
    // Values with few sessions are admitted up to half of the limit.
    expect(of(levelNumber('release'))).toMatchObject({ named: MAX_NEW_PER_DAY.release / 2, others: 1 })
    expect(of(levelNumber('combination'))).toMatchObject({ named: MAX_NEW_PER_DAY.combination / 2, others: 1 })
    expect(of(levelNumber('environment'))).toMatchObject({ named: 1, others: 0 })
    expect(await totals(projectId)).toMatchObject({ total: 10_000 })
    expect(await totals(projectId, { environment: 'production' })).toMatchObject({ total: 10_000 })
    // Repeated updates change nothing.
    await record(updates.map((one) => ({ ...one })))
    expect(await totals(projectId)).toMatchObject({ total: 10_000 })
    const sums = await app.db.query<{ id: number; total: number }>(
      `select coalesce(a.level, 0) as id, sum(r.total)::bigint as total from health_rollups r
       left join health_attributes a on a.project_id = r.project_id and a.id = r.attributes_id
       where r.project_id = $1 and r.bucket_seconds = 3600 group by 1`,
      [projectId],
    )
    expect(sums.rows.map(({ total }) => total)).toEqual(LEVELS.map(() => 10_000))
    const others = await app.db.query<{ total: number }>(
      'select total from health_rollups where project_id = $1 and bucket_seconds = 86400 and attributes_id = $2',
      [projectId, otherId('release')],
    )
    expect(others.rows).toEqual([{ total: 10_000 - MAX_NEW_PER_DAY.release / 2 }])
  })

  test('of which one session tells nothing make no more than a row of each level and bucket', async () => {
    const projectId = newId()
    await inTurn(projectId, anUpdate())
    expect((await everythingOf(app, projectId)).rollups).toHaveLength(LEVELS.length * BUCKET_SECONDS.length)
  })

  test('have the last day of use', async () => {
    const projectId = newId()
    await inTurn(projectId, anUpdate())
    const later = new Date(NOW + 2 * 86_400_000)
    const update = anUpdate({ sid: sidOf('later'), startedAt: later.getTime() })
    await foldHealth(app)
    await app.tx((tx) => recordSessions(tx, later, [sessionFact(projectId, update)]))
    clock.set(later)
    await foldHealth(app)
    clock.set(new Date(NOW))
    const { rows } = await app.db.query(
      'select distinct created_day, last_used_day from health_attributes where project_id = $1',
      [projectId],
    )
    expect(rows).toEqual([{ created_day: '2026-11-20', last_used_day: '2026-11-22' }])
  })
})

describe('two processes in parallel', () => {
  test('record many updates of the same sessions correctly and without a deadlock', async () => {
    const other = await secondApp(test_)
    const projectId = newId()
    const batchOf = (seed: number): ReceivedSession[] =>
      Array.from({ length: 60 }, (_, index) => {
        const n = (index * 7 + seed * 13) % 40
        const status = (index + seed) % 5 === 0 ? 'crashed' : 'ok'
        return sessionFact(
          projectId,
          anUpdate({
            sid: sidOf(`shared ${n}`),
            did: `user ${n % 20}`,
            status: n < 10 ? status : 'ok',
            startedAt: NOW - (n % 7) * 60_000,
            timestamp: NOW + index,
            // New attributes, and some that are used for the first time that day.
            attributes: anAttribute({ release: `r${(n * seed) % 60}` }),
          }),
        )
      })
    await Promise.all(
      Array.from({ length: 16 }, (_, seed) =>
        record(batchOf(seed), seed % 2 === 0 ? app : other, NOW + (seed % 3) * 86_400_000),
      ),
    )
    expect((await everythingOf(app, projectId)).sessions).toHaveLength(40)
    expect(await totals(projectId, { to: new Date(NOW + 60_000) })).toMatchObject({
      total: 40,
      healthy: 30,
      crashed: 10,
      users: 20,
      crashed_users: 10,
    })
  })
})

test('a user is removed from sessions, which stay counted', async () => {
  const projectId = newId()
  await inTurn(projectId, anUpdate({ did: 'ada' }), anUpdate({ sid: sidOf('two'), did: 'bob' }))
  const { sessions } = await everythingOf(app, projectId)
  const ada = sessions.find((row) => row['sid'] === sessions[0]?.['sid'])?.['user_hash']
  expect(await removeUserFromSessions(app.db, newId(), Number(ada))).toBe(0)
  expect(await removeUserFromSessions(app.db, projectId, Number(ada))).toBe(1)
  const after = await everythingOf(app, projectId)
  expect(after.sessions.filter((row) => row['user_hash'] === null)).toHaveLength(1)
  expect(await totals(projectId)).toMatchObject({ total: 2 })
})
