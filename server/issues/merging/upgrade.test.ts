import { hash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, anException, sendEvent } from '#test/kit/sdk.ts'
import { addGroupingVersion, TEST_GROUPING_VERSION } from '#test/kit/grouping-version.ts'
import { testServer } from '#test/kit/test-server.ts'
import { eventOf } from '../grouping/event.fixture.ts'
import { compileGrouping } from '../grouping/grouping.ts'
import { LATEST_GROUPING_VERSION, NO_GROUPING_RULES } from '../grouping/grouping-rules.api.ts'
import type { Issue } from '../rules/issue.api.ts'
import type { IssueDetail } from '../triage/issues.api.ts'
import type { Discard } from './merging.api.ts'
import { describeRegrouping, Regrouping } from './regrouping.ts'

/** A project changes from the newest version to one that groups by the value of the newest exception. */

addGroupingVersion((event) => {
  const value = event.exceptions.at(-1)?.value ?? event.title
  return {
    hash: hash('sha256', JSON.stringify([TEST_GROUPING_VERSION, value]), 'buffer'),
    parts: [{ variant: 'value', values: [{ label: 'value', value }] }],
  }
})

const t = await testServer()
let owner: Client

beforeAll(async () => {
  owner = await aFounder(t.url)
})

const errorOf = (type: string, fn: string, value: string) =>
  anEvent({
    platform: 'python',
    exception: {
      values: [
        anException({
          type,
          value,
          stacktrace: { frames: [{ module: 'shop.db', function: fn, in_app: true, filename: 'x.py' }] },
        }),
      ],
    },
  })

/** One violated constraint in different views: versions group by the type and the function. */
const broken = (view: string, cause = 'UniqueViolation') => errorOf(cause, '_execute', `${cause} in ${view}`)

/** Crashes of functions with the same value: versions compute a fingerprint for each. */
const crash = (place: string) => errorOf('Crash', place, 'crashed')

async function send(project: TestProject, ...events: Record<string, unknown>[]): Promise<void> {
  for (const event of events) {
    t.clock.advance(1_000)
    expect((await sendEvent(t.url, project.dsn, event)).status).toBe(200)
  }
  await t.service.drain()
}

const listed = async (project: TestProject): Promise<Issue[]> =>
  await t.issues(owner, `projectId=${project.id}&sort=first_seen`)
const upgrade = (project: TestProject, version = TEST_GROUPING_VERSION) =>
  owner.post(`/api/projects/${project.id}/grouping/upgrade`, { version })
const groupingOf = async (project: TestProject) => (await owner.get(`/api/projects/${project.id}/grouping`)).body

describe('a change to a newer version', () => {
  test('the preview reports the differences between both versions', async () => {
    const project = await aProject(owner)
    expect(await groupingOf(project)).toMatchObject({
      version: LATEST_GROUPING_VERSION,
      newer: [TEST_GROUPING_VERSION],
      transition: null,
    })
    // A thread groups the events of a preview, and knows released versions only.
    const group = (grouping_version: number) =>
      compileGrouping({ grouping_version, grouping_rules: NO_GROUPING_RULES, grouping_transition: null })
    const [now, later] = [group(LATEST_GROUPING_VERSION), group(TEST_GROUPING_VERSION)]
    const regrouping = new Regrouping(NO_GROUPING_RULES)
    const sent = {
      one: [broken('sign_up'), broken('sign_up'), broken('order')],
      two: [crash('first')],
      three: [crash('second')],
    }
    for (const [issueId, events] of Object.entries(sent))
      for (const [index, sdkEvent] of events.entries()) {
        const event = eventOf(sdkEvent)
        const at = t.clock.now()
        regrouping.add({ issueId, eventId: `${issueId}${index}` }, now(event, at), later(event, at))
      }
    const names = new Map(Object.keys(sent).map((id) => [id, { id, targetId: id, short_id: id, title: id }]))
    expect(describeRegrouping(regrouping.result(), names)).toMatchObject({
      issues: 3,
      merges_total: 1,
      splits_total: 1,
      splits: [{ parts: [{ events: 2 }, { events: 1 }] }],
      moved: 2,
    })
    const preview = (version: number) => owner.post(`/api/projects/${project.id}/grouping/preview`, { version })
    expect((await preview(TEST_GROUPING_VERSION)).status).toBe(200)
    expect((await preview(TEST_GROUPING_VERSION + 1)).status).toBe(400)
  })

  test('events join known issues for 30 days; a project cannot change back, or twice at the same time', async () => {
    const project = await aProject(owner)
    await send(project, broken('sign_up'), crash('first'), crash('second'))
    const [one, two, three] = await listed(project)
    const ends = await Promise.all([upgrade(project), upgrade(project), upgrade(project)])
    expect(ends.map(({ status }) => status).sort((x, y) => x - y)).toEqual([200, 400, 400])
    expect((await upgrade(project, LATEST_GROUPING_VERSION)).status).toBe(400)
    // A view without events before the change joins, too: its former fingerprint is the same.
    await send(project, broken('sign_up'), broken('order'), crash('second'), crash('first'), crash('third'))
    expect((await listed(project)).map(({ id, event_count: count }) => [id, count])).toEqual([
      [one?.id, 3],
      [two?.id, 1],
      // The new fingerprint belongs to the issue of its first event.
      [three?.id, 4],
    ])
    const why = (await owner.get(`/api/issues/${one?.id}`)).as<IssueDetail>().grouping
    expect(why.fingerprints.map(({ version }) => version)).toEqual([
      LATEST_GROUPING_VERSION,
      TEST_GROUPING_VERSION,
      TEST_GROUPING_VERSION,
    ])
    expect(new Set(why.fingerprints.map(({ parts }) => parts[0]?.values.at(-1)?.value))).toEqual(
      new Set(['_execute', 'UniqueViolation in sign_up', 'UniqueViolation in order']),
    )
    t.clock.advance(31 * 86_400_000)
    await send(project, broken('refund'), broken('order'))
    const { rows } = await t.app.db.query<{ id: string; event_count: number }>(
      'select id, event_count from issues where project_id = $1 order by number',
      [project.id],
    )
    expect(rows.map(({ event_count: count }) => count)).toEqual([4, 1, 4, 1])
    t.clock.advance(-31 * 86_400_000)
  })

  test('a project of version 2 keeps its issues, and separates what happens after the change to version 3', async () => {
    const project = await aProject(owner)
    await t.app.db.query(`update projects set settings = settings || '{"grouping_version": 2}' where id = $1`, [
      project.id,
    ])
    const frames = [{ function: 'Socket.emit', filename: 'node:events', in_app: false }]
    const failed = (value: string) =>
      anEvent({
        platform: 'node',
        exception: { values: [anException({ type: 'Error', value, stacktrace: { frames } })] },
      })
    const counts = async () => {
      const { rows } = await t.app.db.query<{ event_count: number }>(
        'select event_count from issues where project_id = $1 order by number',
        [project.id],
      )
      return rows.map(({ event_count: count }) => count)
    }
    await send(project, failed('read ECONNRESET'), failed('connect ECONNREFUSED 10.0.0.1:80'))
    expect(await counts()).toEqual([2])
    expect(await groupingOf(project)).toMatchObject({ version: 2, newer: [3, TEST_GROUPING_VERSION] })
    expect((await upgrade(project, 3)).status).toBe(200)
    await send(project, failed('read ECONNRESET'))
    expect(await counts()).toEqual([3])
    t.clock.advance(31 * 86_400_000)
    await send(project, failed('read ECONNRESET'), failed('getaddrinfo ENOTFOUND db.acme.internal'))
    expect(await counts()).toEqual([4, 1])
    t.clock.advance(-31 * 86_400_000)
  })

  test('merged issues stay merged, discarded ones stay discarded, and unmerging returns all fingerprints', async () => {
    const project = await aProject(owner)
    await send(project, crash('first'), broken('order'), broken('order', 'NotNullViolation'))
    const [a, b, c] = await listed(project)
    await owner.post(`/api/issues/${a?.id}/merge`, { issue_ids: [b?.id] })
    await owner.post(`/api/issues/${c?.id}/discard`)
    expect((await upgrade(project)).status).toBe(200)
    await send(project, broken('order'), broken('refund'), crash('fourth'), broken('order', 'NotNullViolation'))
    const issues = await listed(project)
    expect(issues.map(({ id, event_count: count }) => [id, count])).toEqual([
      [a?.id, 4],
      // Under every version another function is another fingerprint.
      [expect.any(String), 1],
    ])
    const discards = (await owner.get(`/api/projects/${project.id}/discards`)).as<{ items: Discard[] }>()
    expect(discards.items).toMatchObject([{ fingerprints: 2 }])
    await owner.post(`/api/issues/${a?.id}/unmerge`, { issue_ids: [b?.id] })
    await send(project, broken('refund'), broken('order'))
    expect((await listed(project)).map(({ id, event_count: count }) => [id, count])).toEqual([
      [a?.id, 1],
      [b?.id, 5],
      [expect.any(String), 1],
    ])
  })
})
