import { expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { LEVELS, MAX_NEW_PER_DAY } from './dimensions.ts'
import { foldHealth } from './fold-health.ts'
import { readHealthBy, readHealthTotals, requireCombinable } from './read-health.ts'
import { recordSessions } from './record-sessions.ts'
import { anAttribute, countsFact, NOW } from './sessions.fixture.ts'

const { app, clock } = await testApp()
clock.set(new Date(NOW))

const MODELS = cases(20_000, 100_000)

test('of very many device models the largest are exact, the tail is counted together', async () => {
  const projectId = newId()
  const aSession = (device: string, count: number) =>
    countsFact(
      projectId,
      [{ exited: count - 1, crashed: 1, did: count === 1 ? null : device }],
      anAttribute({ os: 'Android', device }),
    )
  const top = Array.from({ length: 20 }, (_, index) => ({ name: `Phone ${index}`, total: 100 - index }))
  const facts = Array.from({ length: MODELS }, (_, index) => aSession(`made up ${index * 7}`, 1))
  // Each model arrives in parts, among the made-up ones.
  for (const { name, total } of top)
    for (let at = 0; at < total; at += 10)
      facts.splice((at * 997) % (MODELS * 0.9), 0, aSession(name, Math.min(10, total - at)))
  for (let at = 0; at < facts.length; at += MODELS / 5) {
    await app.tx((tx) => recordSessions(tx, new Date(NOW), facts.slice(at, at + MODELS / 5)))
    await foldHealth(app)
  }
  const query = {
    projectIds: [projectId],
    source: 'sessions',
    from: new Date(NOW - 3_600_000),
    to: new Date(NOW),
    now: new Date(NOW),
    filter: {},
  } as const
  const all = MODELS + top.reduce((sum, { total }) => sum + total, 0)
  const devices = await readHealthBy(app.db, query, 'device', { max: 20, sets: ['users'] })
  expect(devices.rows.map(({ name, total, users }) => ({ name, total, users }))).toEqual(
    top.map((one) => ({ ...one, users: 1 })),
  )
  // Values with few sessions are admitted up to half of the limit.
  expect(devices.other.names).toBe(MAX_NEW_PER_DAY.device / 2 - 20)
  expect(devices.other.total).toBe(MODELS)
  expect(devices.unknown.total).toBe(0)
  expect(await readHealthTotals(app.db, query, [])).toMatchObject({ total: all })
  expect(await readHealthTotals(app.db, { ...query, filter: { os: ['Android'] } }, [])).toMatchObject({ total: all })
  const rows = await app.db.query<{ level: number; total: number }>(
    `select coalesce(a.level, 0) as level, sum(r.total)::bigint as total from health_rollups r
     left join health_attributes a on a.project_id = r.project_id and a.id = r.attributes_id
     where r.project_id = $1 and r.bucket_seconds = 86400 group by 1 order by 1`,
    [projectId],
  )
  expect(rows.rows).toEqual(LEVELS.map((_, level) => ({ level, total: all })))

  // Filters that need single combinations are refused on such a day; each alone, and release with environment, are not.
  await expect(
    requireCombinable(app.db, { ...query, filter: { os: ['Android'], release: ['shop@1.0.0'] } }),
  ).rejects.toThrow('On 2026-11-20 the project had too many combinations of values to filter by several. Use each of')
  await expect(requireCombinable(app.db, { ...query, filter: { os: ['Android'] } }, 'device')).rejects.toMatchObject({
    code: 'invalid',
  })
  await requireCombinable(app.db, { ...query, filter: { device: ['Phone 1'] } })
  await requireCombinable(app.db, { ...query, filter: { release: ['1'], environment: ['production'] } })
  await requireCombinable(app.db, { ...query, filter: { release: ['1'] } }, 'environment')
  const before = { from: new Date(NOW - 3 * 86_400_000), to: new Date(NOW - 2 * 86_400_000) }
  await requireCombinable(app.db, { ...query, ...before, filter: { os: ['Android'], release: ['1'] } })
})

test('while more than half of a limit is used, a value needs five sessions in one fold', async () => {
  const projectId = newId()
  const record = async (environments: readonly (readonly [name: string, count: number])[]) => {
    await app.tx((tx) =>
      recordSessions(
        tx,
        new Date(NOW),
        environments.map(([environment, exited]) => countsFact(projectId, [{ exited }], anAttribute({ environment }))),
      ),
    )
    await foldHealth(app)
  }
  await record(Array.from({ length: 60 }, (_, index) => [`junk ${index}`, 1] as const))
  await record([
    ['real', 5],
    ['rare', 4],
  ])
  const query = {
    projectIds: [projectId],
    source: 'sessions',
    from: new Date(NOW - 3_600_000),
    to: new Date(NOW),
    now: new Date(NOW),
    filter: {},
  } as const
  const { rows, other } = await readHealthBy(app.db, query, 'environment', { max: 1, sets: [] })
  expect(rows).toMatchObject([{ name: 'real', total: 5 }])
  expect(other).toMatchObject({ names: 50, total: 64 })
})
