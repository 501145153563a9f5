import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { AGING_HEALTH } from './fold.queries.ts'
import { bucketSpans } from './buckets.ts'
import { LEVELS } from './dimensions.ts'
import { readSessionSeries, readSessionTotals } from './session-totals.ts'
import { recordSessions } from './record-sessions.ts'
import { anAttribute, anUpdate, everythingOf, sessionFact, countsFact, NOW, sidOf } from './sessions.fixture.ts'

const { app, clock } = await testApp()
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const at = (time: number): Date => new Date(time)

test('deletes old rows and keeps those that are still used', async () => {
  clock.set(at(NOW))
  const projectId = newId()
  await app.tx((tx) =>
    recordSessions(tx, at(NOW), [
      sessionFact(projectId, anUpdate({ sid: sidOf('old'), startedAt: NOW - 5 * DAY_MS, attributes: anAttribute() })),
      sessionFact(projectId, anUpdate({ sid: sidOf('new'), attributes: anAttribute({ release: 'b' }) })),
    ]),
  )
  const grains = async (): Promise<unknown[]> =>
    (await everythingOf(app, projectId)).rollups.map((row) => row['bucket_seconds'])

  // An old session has no buckets of a minute, and soon none of 15 minutes.
  expect((await grains()).filter((seconds) => Number(seconds) === 60)).toHaveLength(LEVELS.length)
  expect((await grains()).filter((seconds) => Number(seconds) === 900)).toHaveLength(2 * LEVELS.length)
  await purgeRows(app, AGING_HEALTH)
  expect((await everythingOf(app, projectId)).sessions).toHaveLength(2)

  clock.set(at(NOW + DAY_MS + 2 * HOUR_MS))
  expect(await purgeRows(app, AGING_HEALTH)).toMatchObject({ app_sessions: 1, health_rollups: 0 })
  clock.set(at(NOW + 2 * DAY_MS + HOUR_MS))
  await purgeRows(app, AGING_HEALTH)
  // The only buckets below an hour that are left are the buckets of 15 minutes of the newer session.
  expect((await grains()).filter((seconds) => Number(seconds) < 3_600)).toEqual(LEVELS.map(() => 900))
  const whole = { projectId, from: at(NOW - 8 * DAY_MS), to: at(NOW) }
  expect(await readSessionTotals(app.db, whole)).toMatchObject({ total: 2 })

  clock.set(at(NOW + 397 * DAY_MS))
  await purgeRows(app, AGING_HEALTH)
  expect(await readSessionTotals(app.db, whole)).toMatchObject({ total: 1 })
  expect(await readSessionTotals(app.db, { ...whole, release: 'b' })).toMatchObject({ total: 1 })
  clock.set(at(NOW + 403 * DAY_MS))
  await purgeRows(app, AGING_HEALTH)
  expect(await everythingOf(app, projectId)).toEqual({ sessions: [], rollups: [] })
  const left = await app.db.query('select 1 from health_attributes where project_id = $1', [projectId])
  expect(left.rows).toEqual([])
})

test('a series has a point for each step, with null rates for steps without sessions', async () => {
  const projectId = newId()
  await app.tx((tx) =>
    recordSessions(tx, at(NOW), [
      countsFact(projectId, [
        { startedAt: NOW - 125_000, exited: 3, crashed: 1, did: 'ada' },
        { startedAt: NOW - 1_000, exited: 1, did: 'ada' },
      ]),
    ]),
  )
  const query = { projectId, from: at(NOW - 180_000), to: at(NOW) }
  const points = await readSessionSeries(app.db, query, 60)
  expect(points.map(({ t, totals }) => [t.getTime() - NOW, totals.total, totals.crash_rate, totals.users])).toEqual([
    [-180_000, 4, 0.25, 1],
    [-120_000, 0, null, 0],
    [-60_000, 1, 0, 1],
  ])
  expect(await readSessionSeries(app.db, { ...query, from: at(NOW), to: at(NOW - 1) }, 60)).toEqual([])
})

test('a range is divided into the fewest buckets', () => {
  const seconds = (text: string): number => Date.parse(`2026-11-${text}Z`)
  const spans = (from: string, to: string, now = to) =>
    bucketSpans(seconds(from), seconds(to), seconds(now)).map(({ bucketSeconds, from: start, to: end }) => [
      bucketSeconds,
      (end - start) / (bucketSeconds * 1000),
    ])
  expect(spans('20T00:00:00', '21T00:00:00')).toEqual([[86_400, 1]])
  expect(spans('18T00:00:00', '23T06:00:00')).toEqual([
    [86_400, 1],
    [345_600, 1],
    [21_600, 1],
  ])
  expect(spans('20T00:00:59', '20T00:02:01')).toEqual([[60, 2]])
  expect(spans('20T05:44:00', '20T12:01:00')).toEqual([
    [60, 1],
    [900, 1],
    [21_600, 1],
    [60, 1],
  ])
  expect(spans('20T05:00:00', '20T05:00:59')).toEqual([])
  expect(spans('20T05:00:00', '19T05:00:00')).toEqual([])
  // After a week only hours are kept.
  expect(spans('01T05:44:00', '20T00:00:00')).toEqual([
    [3_600, 1],
    [21_600, 3],
    [86_400, 1],
    [345_600, 4],
    [86_400, 1],
  ])
  // Minutes are kept for two days, 15 minutes for a week.
  expect(spans('20T05:44:00', '20T06:31:00', '22T06:40:00')).toEqual([
    [900, 4],
    [60, 1],
  ])
  expect(spans('20T05:44:00', '20T06:31:00', '23T06:00:00')).toEqual([[900, 4]])
  expect(spans('20T05:44:00', '20T06:31:00', '29T06:00:00')).toEqual([[3_600, 1]])
})
