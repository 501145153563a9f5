import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { createProject } from '../../service/project-settings/create-project.ts'
import { DIGESTION, factContext } from '../../platform/context/actor.ts'
import { ensureRelease } from './ensure-release.ts'
import {
  KnownReleases,
  MAX_NEW_PER_DAY,
  SIGHTING_INTERVAL_MS,
  recordSightings,
  type Sighting,
} from './record-sightings.ts'

const { app, clock } = await testApp()
const { actor } = await aPerson(app)
let projects = 0

const aProject = async (): Promise<string> =>
  (await createProject(app, actor, { name: `Shop ${++projects}`, platform: 'web', region: 'eu-central-1' })).id

const at = (minutes: number): Date => new Date(clock.now().getTime() + minutes * 60_000)
const sighting = (projectId: string, over: Partial<Sighting> = {}): Sighting => ({
  projectId,
  version: '1.0.0',
  kind: 'event',
  receivedAt: at(0),
  ...over,
})

const rowsOf = async (projectId: string) =>
  app.db
    .selectFrom('releases')
    .select([
      'version',
      'state',
      'first_seen_at',
      'last_seen_at',
      'first_event_at',
      'last_event_at',
      'first_session_at',
    ])
    .where('project_id', '=', projectId)
    .orderBy('version')
    .execute()

test('items create their release once and set its first and last times in any order', async () => {
  const projectId = await aProject()
  const known = new KnownReleases()
  const came = [
    sighting(projectId, { receivedAt: at(3) }),
    sighting(projectId, { receivedAt: at(1) }),
    sighting(projectId, { kind: 'session', receivedAt: at(2) }),
    sighting(projectId, { kind: 'transaction', receivedAt: at(9) }),
  ]
  expect(await recordSightings(app, known, clock.now(), came)).toBe(1)
  expect(await rowsOf(projectId)).toEqual([
    {
      version: '1.0.0',
      state: 'open',
      first_seen_at: at(1),
      last_seen_at: at(9),
      first_event_at: at(1),
      last_event_at: at(3),
      first_session_at: at(2),
    },
  ])
})

test('a release is written once a minute, and its times are only extended', async () => {
  const projectId = await aProject()
  const known = new KnownReleases()
  const one = sighting(projectId)
  expect(await recordSightings(app, known, clock.now(), [one])).toBe(1)
  expect(await recordSightings(app, known, clock.now(), [sighting(projectId, { receivedAt: at(0.5) })])).toBe(0)
  // Another kind of item is written.
  expect(await recordSightings(app, known, clock.now(), [sighting(projectId, { kind: 'session' })])).toBe(1)
  const later = new Date(clock.now().getTime() + SIGHTING_INTERVAL_MS)
  expect(await recordSightings(app, known, later, [sighting(projectId, { receivedAt: at(-5) })])).toBe(1)
  expect(await rowsOf(projectId)).toMatchObject([
    { first_seen_at: at(-5), last_seen_at: at(0), first_event_at: at(-5), last_event_at: at(0) },
  ])
})

test('the first item opens a planned release; an archived one stays archived', async () => {
  const projectId = await aProject()
  await app.tx((tx) => ensureRelease(tx, factContext(app, DIGESTION), projectId, '2.0.0'))
  await app.tx((tx) => ensureRelease(tx, factContext(app, DIGESTION), projectId, '2.0.0'))
  await app.tx((tx) => ensureRelease(tx, factContext(app, DIGESTION), projectId, '3.0.0'))
  await app.db.updateTable('releases').set({ state: 'archived' }).where('version', '=', '3.0.0').execute()
  expect(await rowsOf(projectId)).toMatchObject([{ state: 'planned', first_seen_at: null }, { state: 'archived' }])
  const came = [sighting(projectId, { version: '3.0.0' }), sighting(projectId, { version: '2.0.0' })]
  await recordSightings(app, new KnownReleases(), clock.now(), came)
  expect(await rowsOf(projectId)).toMatchObject([
    { version: '2.0.0', state: 'open', first_seen_at: at(0) },
    { version: '3.0.0', state: 'archived', first_seen_at: at(0) },
  ])
})

test('parallel processes create every release once, without a deadlock', async () => {
  const projectId = await aProject()
  const versions = Array.from({ length: 40 }, (_, index) => `1.${index}.0`)
  await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      recordSightings(
        app,
        new KnownReleases(),
        clock.now(),
        // Each process in a different order.
        [...versions.slice(index * 7), ...versions.slice(0, index * 7)].map((version) =>
          sighting(projectId, { version }),
        ),
      ),
    ),
  )
  expect(await rowsOf(projectId)).toHaveLength(40)
})

test('new names create a limited number of releases a day; existing ones are still updated', async () => {
  const projectId = await aProject()
  const known = new KnownReleases()
  const names = Array.from({ length: MAX_NEW_PER_DAY }, (_, index) => `made-up-${index}`)
  await recordSightings(
    app,
    known,
    clock.now(),
    names.map((version) => sighting(projectId, { version })),
  )
  await recordSightings(app, known, at(2), [
    sighting(projectId, { version: 'one-too-many' }),
    sighting(projectId, { version: 'made-up-7', receivedAt: at(2) }),
  ])
  const rows = await rowsOf(projectId)
  expect(rows).toHaveLength(MAX_NEW_PER_DAY)
  expect(rows.find((row) => row.version === 'made-up-7')?.last_seen_at).toEqual(at(2))
  // On the next day new ones are created again.
  await recordSightings(app, known, at(25 * 60), [sighting(projectId, { version: 'tomorrow' })])
  expect(await rowsOf(projectId)).toHaveLength(MAX_NEW_PER_DAY + 1)
})

test('a deleted project is skipped', async () => {
  const projectId = await aProject()
  const gone = '00000000-0000-7000-8000-000000000000'
  await recordSightings(app, new KnownReleases(), clock.now(), [sighting(gone), sighting(projectId)])
  expect(await rowsOf(projectId)).toHaveLength(1)
})
