import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, anException, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Issue } from '../rules/issue.api.ts'
import type { IssueDetail } from '../triage/issues.api.ts'
import type { Discard, GroupingPreview } from './merging.api.ts'

/** A project changes from grouping version 1 to 2. */

const t = await testServer()
let owner: Client

beforeAll(async () => {
  owner = await aFounder(t.url)
})

/** A project with grouping version 1. */
async function anOldProject(): Promise<TestProject> {
  const project = await aProject(owner)
  await t.app.db.query(`update projects set settings = settings - 'grouping_version' where id = $1`, [project.id])
  return project
}

const python = (module: string, fn: string, isOwn: boolean) => ({
  module,
  function: fn,
  in_app: isOwn,
  filename: 'x.py',
})

/** One violated constraint in different views: version 1 groups by the driver only. */
const broken = (view: string, cause = 'UniqueViolation') =>
  anEvent({
    platform: 'python',
    exception: {
      values: [
        anException({ type: cause, stacktrace: { frames: [python('django.db.utils', '_execute', false)] } }),
        anException({
          type: 'IntegrityError',
          stacktrace: { frames: [python('shop.views', view, true), python('django.db.utils', '_execute', false)] },
        }),
      ],
    },
  })

/** One function in two builds of a C++ app: version 1 computes two fingerprints. */
const crash = (lambda: number) =>
  anEvent({
    platform: 'native',
    exception: {
      values: [
        anException({
          type: 'SIGSEGV',
          stacktrace: {
            frames: [{ function: `shop::pay()::$_${lambda}::operator()() const`, package: 'libshop.so', in_app: true }],
          },
        }),
      ],
    },
  })

async function send(project: TestProject, ...events: Record<string, unknown>[]): Promise<void> {
  for (const event of events) {
    t.clock.advance(1_000)
    expect((await sendEvent(t.url, project.dsn, event)).status).toBe(200)
  }
  await t.service.drain()
}

const listed = async (project: TestProject): Promise<Issue[]> =>
  await t.issues(owner, `projectId=${project.id}&sort=first_seen`)
const upgrade = (project: TestProject, version = 2) =>
  owner.post(`/api/projects/${project.id}/grouping/upgrade`, { version })
const groupingOf = async (project: TestProject) => (await owner.get(`/api/projects/${project.id}/grouping`)).body

describe('from version 1 to version 2', () => {
  test('the preview reports the differences between both versions', async () => {
    const project = await anOldProject()
    expect(await groupingOf(project)).toMatchObject({ version: 1, newer: [2], transition: null })
    await send(project, broken('sign_up'), broken('sign_up'), broken('order'), crash(0), crash(3))
    expect(await listed(project)).toHaveLength(3)
    const preview = await owner.post(`/api/projects/${project.id}/grouping/preview`, { version: 2 })
    expect(preview.as<GroupingPreview>()).toMatchObject({
      looked_at: 5,
      issues: 3,
      merges_total: 1,
      splits_total: 1,
      splits: [{ parts: [{ events: 2 }, { events: 1 }] }],
      moved: 2,
    })
    expect((await owner.post(`/api/projects/${project.id}/grouping/preview`, { version: 3 })).status).toBe(400)
  })

  test('events join known issues for 30 days; a project cannot change back, or twice at the same time', async () => {
    const project = await anOldProject()
    await send(project, broken('sign_up'), crash(0), crash(3))
    const [one, two, three] = await listed(project)
    const ends = await Promise.all([upgrade(project), upgrade(project), upgrade(project)])
    expect(ends.map(({ status }) => status).sort((x, y) => x - y)).toEqual([200, 400, 400])
    expect((await upgrade(project, 1)).status).toBe(400)
    // A view without events under version 1 joins, too: its old fingerprint is the same.
    await send(project, broken('sign_up'), broken('order'), crash(3), crash(0), crash(7))
    expect((await listed(project)).map(({ id, event_count: count }) => [id, count])).toEqual([
      [one?.id, 3],
      [two?.id, 1],
      // The new fingerprint belongs to the issue of its first event.
      [three?.id, 4],
    ])
    const why = (await owner.get(`/api/issues/${one?.id}`)).as<IssueDetail>().grouping
    expect(why.fingerprints.map(({ version }) => version)).toEqual([1, 2, 2])
    expect(new Set(why.fingerprints.map(({ parts }) => parts[0]?.values.at(-1)?.value))).toEqual(
      new Set(['_execute', 'sign_up', 'order']),
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

  test('merged issues stay merged, discarded ones stay discarded, and unmerging returns all fingerprints', async () => {
    const project = await anOldProject()
    await send(project, crash(0), broken('order'), broken('order', 'NotNullViolation'))
    const [a, b, c] = await listed(project)
    await owner.post(`/api/issues/${a?.id}/merge`, { issue_ids: [b?.id] })
    await owner.post(`/api/issues/${c?.id}/discard`)
    expect((await upgrade(project)).status).toBe(200)
    await send(project, broken('order'), broken('refund'), crash(4), broken('order', 'NotNullViolation'))
    const issues = await listed(project)
    expect(issues.map(({ id, event_count: count }) => [id, count])).toEqual([
      [a?.id, 4],
      // In version 1 another number of a lambda is another fingerprint.
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
