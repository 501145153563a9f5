import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { METRICS } from '../../events/protocol/span-values.ts'
import { partitionDays } from '../../platform/storage/day-partitions.ts'
import { compactPerformance, purgePerformance } from './compact-performance.ts'
import { NOW, readSeries, record, transactionFact } from './performance.fixture.ts'
import { readPerformanceByName, readPerformanceTotals } from './read-performance.ts'
import { readUsers } from './read.queries.ts'
import { floorToStep, stepFor } from './steps.ts'

const { app, clock } = await testApp()

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const later = (ms: number): Date => new Date(NOW.getTime() + ms)

/** Durations of checkout in milliseconds, with the end relative to NOW. */
async function measured(
  projectId: string,
  values: readonly (readonly [atMs: number, durationMs: number])[],
  fields: Record<string, unknown> = {},
  now = NOW,
): Promise<void> {
  const facts = values.map(([atMs, durationMs]) => {
    const end = later(atMs).getTime() / 1_000
    return transactionFact(projectId, { start_timestamp: end - durationMs / 1_000, timestamp: end, ...fields }, now)
  })
  await record(app.db, facts, now)
}

const scopeOf = (projectId: string) => ({
  projectIds: [projectId],
  from: later(-40 * DAY_MS),
  to: later(40 * DAY_MS),
  filter: {},
})

const stepsOf = async (projectId: string, grain = 0): Promise<Record<string, number>> => {
  const { rows } = await app.db.query<{ step: number; n: number }>(
    'select step, sum(count)::bigint as n from performance_rollups where project_id = $1 and grain = $2 group by step',
    [projectId, grain],
  )
  return Object.fromEntries(rows.map(({ step, n }) => [step, n]))
}

const deltasOf = async (projectId: string): Promise<number> =>
  (await app.db.query('select 1 from performance_deltas where project_id = $1', [projectId])).rows.length

describe('folding', () => {
  test('puts measurements into buckets of the length for their age', async () => {
    const projectId = newId()
    clock.set(NOW)
    const ages = [0, 2 * HOUR_MS, 3 * HOUR_MS, 2 * DAY_MS, 3 * DAY_MS, 14 * DAY_MS, 16 * DAY_MS, 29 * DAY_MS]
    await measured(
      projectId,
      ages.map((ageMs) => [-ageMs, 100]),
    )
    await compactPerformance(app)
    expect(await deltasOf(projectId)).toBe(0)
    for (const grain of [0, 1, 2, 3])
      expect(await stepsOf(projectId, grain)).toEqual({ 1: 2, 15: 2, 60: 6, 360: 8, 2880: 8 })
    clock.set(later(3 * HOUR_MS))
    await compactPerformance(app)
    expect(await stepsOf(projectId)).toEqual({ 15: 3, 60: 6, 360: 8, 2880: 8 })
    clock.set(later(3 * DAY_MS))
    await compactPerformance(app)
    expect(await stepsOf(projectId)).toEqual({ 60: 5, 360: 8, 2880: 8 })
    clock.set(later(40 * DAY_MS))
    await compactPerformance(app)
    expect(await stepsOf(projectId)).toEqual({ 360: 8, 2880: 8 })
  })

  test('keeps users, once each, in buckets of every length', async () => {
    const projectId = newId()
    clock.set(NOW)
    const users = async () => (await readUsers(app.db, scopeOf(projectId), []))[0]
    await measured(projectId, [[-1, 100]], { user: { id: 'kim' } })
    await measured(projectId, [[-2, 100]], { user: { id: 'lee' } })
    await measured(projectId, [[-3 * HOUR_MS, 100]], { user: { id: 'kim' }, release: 'shop@2.0' })
    await measured(projectId, [[-3, 100]])
    expect(await users()).toBe(2)
    for (const ageMs of [0, 3 * HOUR_MS, 3 * DAY_MS, 39 * DAY_MS]) {
      clock.set(later(ageMs))
      await compactPerformance(app)
      expect(await users()).toBe(2)
    }
    const { rows } = await app.db.query<{ grain: number }>(
      'select distinct grain from performance_rollups where project_id = $1 and users is not null',
      [projectId],
    )
    expect(rows).toEqual([{ grain: 0 }])
  })

  test('reads the hours that begin in an interval whose own buckets are gone', async () => {
    const projectId = newId()
    clock.set(NOW)
    await measured(projectId, [
      [-1, 100],
      [-3 * HOUR_MS, 100],
      [-60 * HOUR_MS, 100],
    ])
    const from = later(-72 * HOUR_MS)
    const counts = async (): Promise<Record<string, number>> => {
      const scope = { ...scopeOf(projectId), from, to: later(HOUR_MS / 4), metric: 'duration' as const }
      const points = await readSeries(app.db, { ...scope, intervalMs: HOUR_MS / 4 })
      return Object.fromEntries(
        points.flatMap(({ t, count }) => (count === 0 ? [] : [[t.toISOString().slice(5, 16), count]])),
      )
    }
    const unfolded = await counts()
    expect(Object.values(unfolded)).toEqual([1, 1, 1])
    await compactPerformance(app)
    const folded = await counts()
    expect(Object.values(folded)).toEqual([1, 1, 1])
    expect(Object.keys(folded).slice(1)).toEqual(Object.keys(unfolded).slice(1))
    expect(Object.keys(folded)[0]).toMatch(/:00$/)
  })

  test('adds late measurements to existing rollups', async () => {
    const projectId = newId()
    clock.set(NOW)
    for (const durationMs of [100, 200, 300]) {
      await measured(projectId, [[-5 * DAY_MS, durationMs]])
      await compactPerformance(app)
    }
    expect(await stepsOf(projectId)).toEqual({ 60: 3, 360: 3, 2880: 3 })
    const { rows } = await app.db.query('select 1 from performance_rollups where project_id = $1', [projectId])
    // Four grains, and the time of the transaction, in three steps.
    expect(rows).toHaveLength(15)
    const total = (await readPerformanceTotals(app.db, { ...scopeOf(projectId), metrics: ['duration'] })).get(
      'duration',
    )
    expect(total).toMatchObject({ count: 3, sum: expect.closeTo(600, 3) as number })
  })

  test('does not change what queries return', async () => {
    const value = fc.record({
      atMs: fc.integer({ min: -29 * DAY_MS, max: 0 }),
      durationMs: fc.integer({ min: 1, max: 20_000 }),
      name: fc.constantFrom('a', 'b'),
      release: fc.constantFrom('1', '2'),
      failed: fc.boolean(),
      // Time after NOW at which it is received and compaction runs.
      waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20 * DAY_MS })),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 12 }), async (values) => {
        const projectId = newId()
        for (const one of values.toSorted((a, b) => a.waitMs - b.waitMs)) {
          clock.set(later(one.waitMs))
          const [failed, ok] = ['internal_error', 'ok']
          const contexts = { trace: { trace_id: newId().replaceAll('-', ''), span_id: 'b'.repeat(16), op: 'ui.load' } }
          await measured(
            projectId,
            [[one.atMs + one.waitMs, one.durationMs]],
            {
              transaction: one.name,
              release: one.release,
              contexts: { trace: { ...contexts.trace, status: one.failed ? failed : ok } },
            },
            clock.now(),
          )
          if (one.durationMs % 2 === 0) await compactPerformance(app)
        }
        const scope = { ...scopeOf(projectId), metrics: ['duration'] as const }
        for (const filter of [{}, { name: 'a' }, { release: '1' }, { environment: 'production', name: 'b' }]) {
          const mine = values.filter(
            ({ name, release }) =>
              (!('name' in filter) || name === filter.name) && (!('release' in filter) || release === filter.release),
          )
          const total = (await readPerformanceTotals(app.db, { ...scope, filter })).get('duration')
          expect(total?.count).toBe(mine.length)
          expect(total?.failures).toBe(mine.filter(({ failed }) => failed).length)
          expect(total?.sum).toBeCloseTo(
            mine.reduce((sum, { durationMs }) => sum + durationMs, 0),
            1,
          )
        }
      }),
      { numRuns: 15 },
    )
  })

  test('in parallel with other processes loses and doubles nothing', async () => {
    const projectId = newId()
    clock.set(NOW)
    const work = Array.from({ length: 12 }, async (_, index) => {
      await measured(projectId, [[-index * HOUR_MS, 100 + index]])
      await compactPerformance(app)
    })
    await Promise.all(work)
    await compactPerformance(app)
    const total = (await readPerformanceTotals(app.db, { ...scopeOf(projectId), metrics: ['duration'] })).get(
      'duration',
    )
    expect(total).toMatchObject({ count: 12, sum: expect.closeTo(1_266, 3) as number })
  })

  test('stops after the current transaction when the signal is aborted', async () => {
    const projectId = newId()
    clock.set(NOW)
    await measured(projectId, [[0, 100]])
    expect(await compactPerformance(app, AbortSignal.abort())).toBe(0)
    // The duration, and the time by part.
    expect(await deltasOf(projectId)).toBe(2)
  })
})

describe('reading', () => {
  test('a series has every bucket of the range, including empty ones', async () => {
    const projectId = newId()
    clock.set(NOW)
    await measured(projectId, [
      [-30 * MINUTE_MS, 100],
      [-30 * MINUTE_MS, 300],
      [-1, 500],
    ])
    const question = {
      ...scopeOf(projectId),
      metric: 'duration',
      from: later(-HOUR_MS),
      to: NOW,
      intervalMs: 15 * MINUTE_MS,
    } as const
    for (const fold of [false, true]) {
      if (fold) await compactPerformance(app)
      const points = await readSeries(app.db, question)
      expect(points.map(({ t }) => t.getTime())).toEqual([60, 45, 30, 15].map((m) => later(-m * MINUTE_MS).getTime()))
      expect(points.map(({ count }) => count)).toEqual([0, 0, 2, 1])
      expect(points[0]).toMatchObject({ count: 0, failures: 0, p50: null, p95: null, max: null })
      expect(points[2]?.p50).toBeCloseTo(100, 3)
      expect(points[2]?.max).toBeCloseTo(300, 3)
    }
  })

  test('percentiles over rollups and deltas are within 1 % of the exact ones', async () => {
    const projectId = newId()
    clock.set(NOW)
    const durations = Array.from({ length: 1_000 }, (_, index) => ((index * 7_919) % 1_000) * 5 + 1)
    for (let i = 0; i < 1_000; i += 250)
      await measured(
        projectId,
        durations.slice(i, i + 250).map((ms, index) => [(-index * 6 * HOUR_MS) / 10, ms]),
      )
    await compactPerformance(app)
    const total = (await readPerformanceTotals(app.db, { ...scopeOf(projectId), metrics: ['duration'] })).get(
      'duration',
    )
    const sorted = durations.toSorted((a, b) => a - b)
    for (const [estimate, q] of [
      [total?.p50, 0.5],
      [total?.p75, 0.75],
      [total?.p95, 0.95],
    ] as const) {
      const exact = sorted[Math.floor(q * 999)] ?? 0
      expect(Math.abs((estimate ?? 0) / exact - 1)).toBeLessThanOrEqual(0.010_1)
    }
    expect((total?.sketch.countFrom(2_500) ?? 0) / 1_000).toBeCloseTo(0.5, 1.5)
  })

  test('names are sorted by their number of values, limited, and have all their metrics', async () => {
    const projectId = newId()
    clock.set(NOW)
    const times = (n: number) => Array.from({ length: n }, (): [number, number] => [-1, 100])
    await measured(projectId, times(1), { transaction: 'rare' })
    await measured(projectId, times(3), { transaction: 'often', measurements: { lcp: { value: 50 } } })
    await measured(projectId, times(2), { transaction: 'some' })
    for (const fold of [false, true]) {
      if (fold) await compactPerformance(app)
      const scope = { ...scopeOf(projectId), metrics: METRICS }
      const found = await readPerformanceByName(app.db, scope, 2)
      expect(found.map(({ name, metrics }) => [name, metrics.get('duration')?.count])).toEqual([
        ['often', 3],
        ['some', 2],
      ])
      expect(found[0]?.metrics.get('lcp')).toMatchObject({ count: 3, max: 50 })
      expect(found[0]?.metrics.size).toBe(METRICS.length)
      const none = await readPerformanceByName(app.db, { ...scope, filter: { ops: ['ui.load'] } }, 5)
      expect(none).toEqual([])
    }
  })

  test('returns nothing of other projects, or without a project', async () => {
    for (const projectIds of [[newId()], []]) {
      const scope = { ...scopeOf(''), projectIds, metrics: ['duration'] as const }
      expect((await readPerformanceTotals(app.db, scope)).get('duration')?.count).toBe(0)
    }
  })
})

test('bucket lengths fit the charts, which show a range and the previous one', () => {
  const ago = (ms: number) => stepFor(later(-ms), NOW)
  expect([0, 2 * HOUR_MS, 48 * HOUR_MS, 14 * DAY_MS, 60 * DAY_MS].map(ago)).toEqual([1, 1, 15, 60, 360])
  // A clock that is less than a minute ahead.
  expect(ago(-30_000)).toBe(1)
  expect(floorToStep(new Date('2026-11-20T13:37:59Z'), 360)).toEqual(new Date('2026-11-20T12:00:00Z'))
})

describe('purging', () => {
  test('deletes rollups after 400 days, and series after the time in which late values may arrive', async () => {
    const projectId = newId()
    clock.set(NOW)
    await measured(projectId, [[0, 100]])
    await compactPerformance(app)
    const left = async () => ({
      steps: await stepsOf(projectId),
      series: (await app.db.query('select 1 from performance_series where project_id = $1', [projectId])).rows.length,
    })
    clock.set(later(398 * DAY_MS))
    await compactPerformance(app)
    await purgePerformance(app)
    expect(await left()).toEqual({ steps: { 360: 1, 2880: 1 }, series: 5 })
    clock.set(later(401 * DAY_MS))
    await purgePerformance(app)
    expect(await left()).toEqual({ steps: {}, series: 5 })
    clock.set(later(432 * DAY_MS))
    await purgePerformance(app)
    expect(await left()).toEqual({ steps: {}, series: 0 })
  })

  test('drops the keys of duplicates by day, except the days that are still read', async () => {
    const partitions = async () =>
      (await partitionDays(app.db, 'performance_seen')).filter((day) => day < '2027-01-01').sort()
    const projectId = newId()
    clock.set(NOW)
    const fact = transactionFact(projectId)
    await record(app.db, [fact])
    expect(await partitions()).toContain('2026-11-20')
    clock.set(later(2 * DAY_MS))
    await purgePerformance(app)
    expect(await record(app.db, [fact], clock.now())).toEqual([false])
    clock.set(later(4 * DAY_MS))
    await purgePerformance(app)
    expect(await partitions()).not.toContain('2026-11-20')
  })
})
