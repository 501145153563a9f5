import { expect, test } from 'vitest'
import { aPerson } from '#test/kit/members.ts'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { readSessionSummary } from './read-session-summary.ts'
import { recordSessions } from './record-sessions.ts'
import { anUpdate, sessionFact, countsFact, NOW, sidOf } from './sessions.fixture.ts'

const { app } = await testApp()
const { actor } = await aPerson(app)
const HOUR_MS = 3_600_000

async function aProject(orgId = actor.orgId): Promise<string> {
  const id = newId()
  await app.db
    .insertInto('projects')
    .values({
      id,
      org_id: orgId,
      name: 'Summed up',
      slug: `s-${id}`,
      platform: 'web',
      region: 'eu-central-1',
      settings: '{}',
      created_at: app.clock.now(),
      last_event_at: null,
    })
    .execute()
  return id
}

const record = (...sessions: Parameters<typeof recordSessions>[2]) =>
  app.tx((tx) => recordSessions(tx, app.clock.now(), sessions))

const NOTHING = { total: 0, crash_free_sessions: null, crashed_users: null }

test('returns a range and the previous one, of one project and of several; null without sessions', async () => {
  const [one, two, silent] = [await aProject(), await aProject(), await aProject()]
  await record(
    countsFact(one, [{ startedAt: NOW - 2 * HOUR_MS, exited: 98, crashed: 2 }]),
    countsFact(one, [{ startedAt: NOW - 30 * HOUR_MS, exited: 200 }]),
    countsFact(two, [{ startedAt: NOW - 3 * HOUR_MS, exited: 100 }]),
  )
  expect(await readSessionSummary(app, actor, '24h', [one])).toEqual({
    range: '24h',
    total: 100,
    crash_free_sessions: 0.98,
    crashed_users: null,
    previous: { total: 200, crash_free_sessions: 1, crashed_users: null },
  })
  expect(await readSessionSummary(app, actor, '24h', [one, two])).toMatchObject({
    total: 200,
    crash_free_sessions: 0.99,
  })
  expect(await readSessionSummary(app, actor, '1h', [one])).toMatchObject(NOTHING)
  expect(await readSessionSummary(app, actor, '7d', [one])).toMatchObject({ total: 300, previous: NOTHING })
  expect(await readSessionSummary(app, actor, '30d', [silent])).toEqual({
    range: '30d',
    ...NOTHING,
    previous: NOTHING,
  })
})

test('a user with two crashes counts once; without crashes the number is 0 when sessions name their users', async () => {
  const project = await aProject()
  await record(sessionFact(project, anUpdate({ sid: sidOf('well'), did: 'ada', startedAt: NOW - 5 * HOUR_MS })))
  expect(await readSessionSummary(app, actor, '24h', [project])).toMatchObject({ total: 1, crashed_users: 0 })
  await record(
    ...['a', 'b'].map((sid, index) =>
      sessionFact(
        project,
        anUpdate({ sid: sidOf(sid), did: 'ada', status: 'crashed', startedAt: NOW - (1 + 9 * index) * HOUR_MS }),
      ),
    ),
  )
  expect(await readSessionSummary(app, actor, '24h', [project])).toMatchObject({ total: 3, crashed_users: 1 })
})

test('users are counted once over several pages of sketches', async () => {
  const projects = await Promise.all(Array.from({ length: 10 }, () => aProject()))
  await record(
    ...projects.flatMap((project, at) =>
      Array.from({ length: 55 }, (_, minute) =>
        sessionFact(
          project,
          anUpdate({
            sid: sidOf(`${project}-${minute}`),
            did: minute === 0 ? `only-${at}` : 'everywhere',
            status: 'crashed',
            startedAt: NOW - minute * 60_000,
          }),
        ),
      ),
    ),
  )
  // Two of each project: hashes differ by project, so a user of two apps counts twice.
  expect(await readSessionSummary(app, actor, '1h', projects)).toMatchObject({ total: 550, crashed_users: 20 })
})

test('other organisations are not counted', async () => {
  const stranger = await aPerson(app)
  const theirs = await aProject(stranger.actor.orgId)
  await record(countsFact(theirs, [{ exited: 7 }]))
  expect(await readSessionSummary(app, actor, '24h', [theirs])).toMatchObject(NOTHING)
  expect(await readSessionSummary(app, stranger.actor, '24h', undefined)).toMatchObject({ total: 7 })
})
