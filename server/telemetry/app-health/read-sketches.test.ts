import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { foldHealth } from './fold-health.ts'
import { deleteRows, ownRows } from '../../platform/storage/own-rows.ts'
import { HEALTH_PART } from './fold.queries.ts'
import { readHealthRanges, readHealthUsers, readHealthUsersBy, readHealthUsersOfRanges } from './read-health.ts'
import { recordSessions } from './record-sessions.ts'
import { anAttribute, countsFact, NOW } from './sessions.fixture.ts'

const t = await testApp()
const { app, clock } = t
clock.set(new Date(NOW))
const other = await secondApp(t)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const RELEASES = ['1.0', '1.1', '2.0']
const SETS = ['users', 'crashed_users', 'crash_affected_users'] as const

type Seen = { readonly at: number; readonly release: string; readonly user: number; readonly isCrash: boolean }

const record = (projectId: string, { at, release, user, isCrash }: Seen): Promise<unknown> =>
  app.tx((tx) =>
    recordSessions(tx, new Date(NOW), [
      countsFact(
        projectId,
        [{ startedAt: at, did: `user ${user}`, ...(isCrash ? { crashed: 1 } : { exited: 1, unhandled: user % 2 }) }],
        anAttribute({ release }),
      ),
    ]),
  )

async function deleteAll(projectId: string): Promise<void> {
  while ((await app.tx((tx) => HEALTH_PART.deleteRows(tx, projectId, 1_000))) > 0);
}

const over = (projectIds: readonly string[], days: number) => ({
  projectIds,
  source: 'sessions' as const,
  from: new Date(NOW - days * DAY_MS),
  to: new Date(NOW + 6 * HOUR_MS),
  now: new Date(NOW),
  filter: {},
})

/** All ways to read users that may come from memory. */
async function usersOf(db: Connection, projectIds: readonly string[]) {
  const [month, week] = [over(projectIds, 30), over(projectIds, 7)]
  const before = { from: new Date(NOW - 36 * DAY_MS), to: month.from }
  const { source, now, filter } = month
  const byRelease = await readHealthUsersBy(db, month, 'release', RELEASES, SETS)
  const questions = [week, { ...month, ...before }, month].map((query) => ({ query, names: RELEASES.slice(0, 2) }))
  const ofRanges = await readHealthUsersOfRanges(db, [...questions, { query: month, names: null }], 'release', SETS)
  return {
    byRelease: Object.fromEntries(byRelease),
    ofRanges: ofRanges.map((one) => Object.fromEntries(one)),
    all: await readHealthUsers(db, month, SETS),
    ranges: await readHealthRanges(db, { projectIds, source, now, filter }, [month, before], 21_600, {
      points: ['crash_affected_users'],
      total: SETS,
    }),
  }
}

/** Users, as a process reads them that remembers nothing. */
async function usersNow(of: App, projectIds: readonly string[]) {
  const connection = await of.db.reserve()
  try {
    return await usersOf(connection, projectIds)
  } finally {
    connection.release()
  }
}

const Step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('session' as const),
      project: fc.nat(1),
      at: fc.integer({ min: NOW - 36 * DAY_MS, max: NOW }),
      release: fc.constantFrom(...RELEASES),
      user: fc.nat(30),
      isCrash: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fold' as const), isOther: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const), isOther: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), project: fc.nat(1) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('purge' as const), days: fc.integer({ min: 8, max: 36 }) }),
  },
)

test(
  'what two processes remember of settled days equals a read without memory, after late sessions, folds, purges and deletions',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Step, { minLength: 20, maxLength: 60 }), async (steps) => {
        const projectIds = [newId(), newId()]
        const idOf = (project: number): string => projectIds[project] ?? ''
        for (let day = 0; day < 36; day += 3)
          for (const [project, release] of [
            [0, '1.0'],
            [1, '1.1'],
          ] as const)
            await record(idOf(project), { at: NOW - day * DAY_MS, release, user: day, isCrash: day % 2 === 0 })
        await foldHealth(app)
        for (const step of [...steps, { kind: 'read', isOther: false }, { kind: 'read', isOther: true }] as const) {
          if (step.kind === 'session') await record(idOf(step.project), step)
          else if (step.kind === 'fold') await foldHealth(step.isOther ? other : app)
          else if (step.kind === 'delete') await deleteAll(idOf(step.project))
          else if (step.kind === 'purge')
            for (const rows of [ownRows('health_rollups'), ownRows('health_sketches')])
              for (const seconds of [3_600, 21_600, 86_400, 345_600])
                await deleteRows(
                  app.db,
                  rows,
                  { equal: { bucket_seconds: seconds }, before: ['bucket', new Date(NOW - step.days * DAY_MS)] },
                  10_000,
                  'skip',
                )
          else {
            const reader = step.isOther ? other : app
            expect(await usersOf(reader.db, projectIds)).toEqual(await usersNow(reader, projectIds))
          }
        }
      }),
      { numRuns: cases(6, 500) },
    )
  },
  PROPERTY_TIMEOUT_MS,
)

test('sketches of settled days are read once, a session that arrives late counts at once, and a deleted project has none', async () => {
  const projectId = newId()
  for (const days of [8, 9, 14, 20, 21, 22, 28])
    await record(projectId, { at: NOW - days * DAY_MS, release: '1.0', user: days, isCrash: false })
  await foldHealth(app)
  const usersIn = async (of: App) =>
    (await readHealthUsersBy(of.db, over([projectId], 30), 'release', ['1.0'], ['users'])).get('1.0')?.users
  expect([await usersIn(app), await usersIn(other)]).toEqual([7, 7])
  const copied = vi.spyOn(app.db, 'copyOut')
  expect(await usersIn(app)).toBe(7)
  // Buckets of the last days have no rows, and still have to be looked for.
  const keysIn = (): number =>
    copied.mock.calls.reduce((sum, [query]) => sum + (query.split('::uuid[]')[0] ?? '').split(',').length, 0)
  expect(keysIn()).toBeLessThan(12)
  copied.mockRestore()

  await record(projectId, { at: NOW - 20 * DAY_MS, release: '1.0', user: 100, isCrash: false })
  expect([await usersIn(app), await usersIn(other)]).toEqual([8, 8])
  await foldHealth(other)
  expect([await usersIn(app), await usersIn(other)]).toEqual([8, 8])
  await deleteAll(projectId)
  expect([await usersIn(app), await usersIn(other)]).toEqual([undefined, undefined])
})
