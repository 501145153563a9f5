import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { addGroupingVersion, TEST_GROUPING_VERSION } from '#test/kit/grouping-version.ts'
import { watchLoop } from '#test/kit/loop-watch.ts'
import { aPerson } from '#test/kit/members.ts'
import { anEvent, anException, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { GroupingRules, LATEST_GROUPING_VERSION } from '../grouping/grouping-rules.api.ts'
import { changeRelation } from '../rows/groups.queries.ts'
import { indexNewTerms, rebuildDocuments } from '../search/index-documents.ts'
import type { Issue } from '../rules/issue.api.ts'
import type { Comment, IssueDetail } from '../triage/issues.api.ts'
import type { Discard, GroupingPreview } from './merging.api.ts'
import { previewGrouping } from './preview-grouping.ts'

/** Merging, discarding, grouping rules and grouping versions through the API. */

const t = await testServer()
addGroupingVersion()

let owner: Client

beforeAll(async () => {
  owner = await aFounder(t.url)
})

async function send(project: TestProject, ...events: Record<string, unknown>[]): Promise<void> {
  for (const event of events) {
    t.clock.advance(1_000)
    expect((await sendEvent(t.url, project.dsn, { ...event, timestamp: t.clock.now().getTime() / 1000 })).status).toBe(
      200,
    )
  }
  await t.service.drain()
}

const listed = async (project: TestProject, query = ''): Promise<Issue[]> =>
  await t.issues(owner, `projectId=${project.id}&sort=first_seen${query}`)
const read = async (id: string): Promise<IssueDetail> => (await owner.get(`/api/issues/${id}`)).as<IssueDetail>()
const merge = (id: string, ids: readonly string[]) => owner.post(`/api/issues/${id}/merge`, { issue_ids: ids })
const unmerge = (id: string, ids: readonly string[]) => owner.post(`/api/issues/${id}/unmerge`, { issue_ids: ids })

const inModule = (name: string) => ({ in: name, module: `app.${name}` })

async function aProjectWith(...names: string[]): Promise<{ project: TestProject; ids: string[] }> {
  const project = await aProject(owner)
  await send(project, ...names.map((name) => anEvent({ error: inModule(name), user: { id: name } })))
  return { project, ids: (await listed(project)).map(({ id }) => id) }
}

describe('merging', () => {
  test('the title of a merge target is that of its own newest event, not of events of issues merged into it', async () => {
    const { project, ids } = await aProjectWith('alpha', 'beta', 'gamma')
    const [a = '', b = '', c = ''] = ids
    await merge(a, [b])
    await send(project, anEvent({ error: inModule('beta'), level: 'fatal', release: 'shop@2.0.0' }))
    const culprit = (await read(a)).culprit
    expect(culprit).toContain('alpha')
    expect(await read(a)).toMatchObject({
      title: 'alphaError: alpha failed',
      type: 'alphaError',
      value: 'alpha failed',
      // Level and last release are those of the newest event of all.
      level: 'fatal',
      last_release: 'shop@2.0.0',
      event_count: 3,
    })
    await send(
      project,
      anEvent({ error: { ...inModule('alpha'), value: 'once more' } }),
      anEvent({ error: { ...inModule('beta'), value: 'last' } }),
    )
    expect(await read(a)).toMatchObject({ title: 'alphaError: once more', culprit, event_count: 5 })
    // An older event does not change the title, though it is the newest of its batch.
    const old = anEvent({
      error: { ...inModule('alpha'), value: 'long ago' },
      timestamp: t.clock.now().getTime() / 1000 - 1.5,
    })
    expect((await sendEvent(t.url, project.dsn, old)).status).toBe(200)
    await t.service.drain()
    expect(await read(a)).toMatchObject({ title: 'alphaError: once more', event_count: 6 })
    await merge(c, [a])
    expect(await read(c)).toMatchObject({ title: 'gammaError: gamma failed', event_count: 7 })
    await send(project, anEvent({ error: { ...inModule('alpha'), value: 'while hidden' } }))
    expect(await read(c)).toMatchObject({ title: 'gammaError: gamma failed', event_count: 8 })
    await unmerge(c, [a])
    expect(await read(a)).toMatchObject({ title: 'alphaError: while hidden', event_count: 7 })
    expect(await read(c)).toMatchObject({ title: 'gammaError: gamma failed', event_count: 1 })
    await unmerge(a, [b])
    expect((await listed(project)).map(({ title }) => title).toSorted()).toEqual([
      'alphaError: while hidden',
      'betaError: last',
      'gammaError: gamma failed',
    ])
  })

  test('the merge target is shown for both, and both ids lead to the data of both', async () => {
    const { project, ids } = await aProjectWith('alpha', 'beta')
    const [a = '', b = ''] = ids
    await owner.post(`/api/issues/${b}/comments`, { body: 'about beta' })
    const answer = await merge(a, [b])
    expect(answer.status).toBe(200)
    expect(answer.as<Issue>()).toMatchObject({
      id: a,
      event_count: 2,
      user_count: 2,
      title: 'alphaError: alpha failed',
    })
    expect((await listed(project)).map(({ id }) => id)).toEqual([a])

    await send(
      project,
      anEvent({ error: inModule('beta'), user: { id: 'alpha' } }),
      anEvent({ error: inModule('alpha'), user: { id: 'new' } }),
    )
    const detail = await read(a)
    expect(detail).toMatchObject({ event_count: 4, user_count: 3, title: 'alphaError: alpha failed' })
    expect(detail.trend.counts.reduce((sum, count) => sum + count, 0)).toBe(4)
    expect(detail.activity.map(({ sentence }) => sentence)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Founder \d+ merged \S+-2 into this issue\.$/)]),
    )
    expect(
      detail.grouping.fingerprints
        .map(({ short_id: name, issue_id: id }) => [name.split('-').at(-1) ?? '', id])
        // Both are of one moment.
        .toSorted(([one = ''], [other = '']) => one.localeCompare(other)),
    ).toEqual([
      ['1', a],
      ['2', b],
    ])
    expect(detail.grouping.merged).toMatchObject([{ id: b, event_count: 2, title: 'betaError: beta failed' }])
    // Links to the merged issue lead to its target.
    expect((await read(b)).id).toBe(a)
    const older = detail.event_ids.older ?? ''
    expect((await owner.get(`/api/issues/${a}?event=${older}`)).as<IssueDetail>().event?.error_type).toBe('betaError')
    const comments = (await owner.get(`/api/issues/${a}/comments`)).as<{ items: Comment[]; total: number }>()
    expect(comments).toMatchObject({ total: 1, items: [{ body: 'about beta' }] })
    expect((await owner.patch(`/api/issues/${b}`, { status: 'resolved' })).as<Issue>()).toMatchObject({
      id: a,
      status: 'resolved',
    })
    await send(project, anEvent({ error: inModule('beta') }))
    expect(await read(a)).toMatchObject({ status: 'regressed' })

    expect((await unmerge(a, [b])).as<Issue>()).toMatchObject({ id: a, event_count: 2, user_count: 2 })
    expect(await read(b)).toMatchObject({
      id: b,
      event_count: 3,
      // Its own two, and the user of the event without a user id.
      user_count: 3,
      status: 'unresolved',
      title: 'betaError: beta failed',
    })
    expect((await read(b)).activity.map(({ kind }) => kind)).toEqual(['unmerged', 'merged_into', 'created'])
    expect((await owner.get(`/api/issues/${a}/comments`)).as<{ total: number }>().total).toBe(0)
    expect((await listed(project)).map(({ id }) => id)).toEqual([a, b])
  })

  test('a resolved issue that received an event while it was merged has regressed when it is unmerged', async () => {
    const { project, ids } = await aProjectWith('alpha', 'beta', 'gamma')
    const [a = '', b = '', c = ''] = ids
    for (const id of [b, c]) await owner.patch(`/api/issues/${id}`, { status: 'resolved' })
    await merge(a, [b, c])
    await send(project, anEvent({ error: inModule('beta') }))
    await unmerge(a, [b, c])
    expect(await read(b)).toMatchObject({ status: 'regressed', event_count: 2 })
    expect(await read(c)).toMatchObject({ status: 'resolved', event_count: 1 })
  })

  test('whether missed events make an unmerged issue regress depends on the order of their releases', async () => {
    const { project, ids } = await aProjectWith('alpha', 'beta', 'gamma')
    const [a = '', b = '', c = ''] = ids
    // Names without an order: the release that was seen first is older.
    await send(project, anEvent({ error: inModule('alpha'), release: 'fade1' }))
    await send(project, anEvent({ error: inModule('alpha'), release: 'fade2' }))
    await owner.patch(`/api/issues/${b}`, { status: 'resolved', resolution: { in_release: 'fade2' } })
    await owner.patch(`/api/issues/${c}`, { status: 'resolved', resolution: { in_release: 'fade1' } })
    await merge(a, [b, c])
    await send(
      project,
      anEvent({ error: inModule('beta'), release: 'fade1' }),
      anEvent({ error: inModule('gamma'), release: 'fade2' }),
    )
    await unmerge(a, [b, c])
    expect(await read(b)).toMatchObject({ status: 'resolved', event_count: 2 })
    expect(await read(c)).toMatchObject({ status: 'regressed', event_count: 2 })
  })

  test('all missed events apply to an unmerged issue, not only the newest', async () => {
    const { project, ids } = await aProjectWith('alpha', 'beta', 'gamma', 'delta')
    const [a = '', b = '', c = '', d = ''] = ids
    await owner.patch(`/api/issues/${b}`, { status: 'resolved', resolution: { in_release: 'shop@2.0.0' } })
    await owner.patch(`/api/issues/${c}`, { status: 'ignored', ignore_until: { count: 3 } })
    await owner.patch(`/api/issues/${d}`, { status: 'ignored', ignore_until: { users: 2 } })
    await merge(a, [b, c, d])
    // The newest event is of a release without the fix, the one before of a release with it.
    await send(
      project,
      anEvent({ error: inModule('beta'), release: 'shop@2.1.0' }),
      anEvent({ error: inModule('beta'), release: 'shop@1.9.0' }),
    )
    await send(
      project,
      anEvent({ error: inModule('gamma') }),
      anEvent({ error: inModule('gamma') }),
      anEvent({ error: inModule('gamma') }),
    )
    await send(
      project,
      anEvent({ error: inModule('delta'), user: { id: 'd1' } }),
      anEvent({ error: inModule('delta'), user: { id: 'd1' } }),
    )
    await unmerge(a, [b, c, d])
    expect(await read(b)).toMatchObject({
      status: 'regressed',
      status_reason: expect.stringContaining('shop@2.1.0') as string,
    })
    expect(await read(c)).toMatchObject({ status: 'unresolved', event_count: 4 })
    expect(await read(d)).toMatchObject({ status: 'ignored', user_count: 2 })
  })

  test('events that were in the spool during the merge apply to the unmerged issue, events counted before do not', async () => {
    const { project, ids } = await aProjectWith('alpha', 'beta', 'gamma')
    const [a = '', b = '', c = ''] = ids
    await owner.patch(`/api/issues/${b}`, { status: 'resolved' })
    await owner.patch(`/api/issues/${c}`, { status: 'ignored', ignore_until: { count: 3 } })
    await send(project, anEvent({ error: inModule('gamma') }), anEvent({ error: inModule('gamma') }))
    t.clock.advance(1_000)
    await sendEvent(t.url, project.dsn, anEvent({ error: inModule('beta') }))
    t.clock.advance(1_000)
    await merge(a, [b, c])
    await t.service.drain()
    await unmerge(a, [b, c])
    expect(await read(b)).toMatchObject({ status: 'regressed', event_count: 2 })
    expect(await read(c)).toMatchObject({ status: 'ignored', event_count: 3 })
  })

  test('the severity is that of all events while issues are merged, and of their own events afterwards', async () => {
    const project = await aProject(owner)
    await owner.patch(`/api/projects/${project.id}/settings`, { severity_rules: { users: 5 } })
    const crash = (name: string, user: number) =>
      anEvent({
        error: inModule(name),
        level: 'fatal',
        user: { id: `${name}${user}` },
        exception: {
          values: [
            anException({
              type: name,
              mechanism: { type: 'x', handled: false },
              stacktrace: { frames: [{ function: name, filename: `${name}.ts`, in_app: true }] },
            }),
          ],
        },
      })
    for (let user = 0; user < 3; user++) await send(project, crash('alpha', user), crash('beta', user))
    const [a = '', b = ''] = (await listed(project)).map(({ id }) => id)
    const severity = async () => Promise.all([a, b].map(async (id) => (await read(id)).severity))
    expect(await severity()).toEqual(['high', 'high'])
    await merge(a, [b])
    expect(await severity()).toEqual(['critical', 'critical'])
    // An erasure changes neither counts nor severity.
    expect((await owner.delete(`/api/projects/${project.id}/users/beta0/data`)).status).toBeLessThan(300)
    expect(await severity()).toEqual(['critical', 'critical'])
    await unmerge(a, [b])
    expect(await severity()).toEqual(['high', 'high'])
    await merge(a, [b])
    await send(project, crash('beta', 3), crash('beta', 4), crash('beta', 5))
    await unmerge(a, [b])
    expect(await severity()).toEqual(['high', 'critical'])
  })

  test('merging is refused with the reason', async () => {
    const { ids } = await aProjectWith('alpha', 'beta', 'gamma')
    const [a = '', b = '', c = ''] = ids
    const { ids: elsewhere } = await aProjectWith('delta')
    expect((await merge(a, [a])).text).toContain('issue itself')
    expect((await merge(a, [a])).status).toBe(400)
    expect((await merge(a, [b, ...elsewhere])).status).toBe(400)
    expect((await merge(a, [newId()])).status).toBe(404)
    expect((await merge(newId(), [a])).status).toBe(404)
    expect((await merge(a, [])).status).toBe(400)
    expect((await merge(a, ['x'])).status).toBe(400)
    expect((await merge(a, [b, b])).status).toBe(200)
    expect(await merge(a, [b])).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/-2 is merged into this issue already/) as string },
    })
    expect((await merge(c, [b])).status).toBe(409)
    // A cycle.
    expect(await merge(b, [a])).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/-2 was merged into another/) as string },
    })
    expect((await unmerge(a, [c])).status).toBe(409)
    expect((await unmerge(a, [a])).status).toBe(400)
    expect((await unmerge(a, [newId()])).status).toBe(404)
    expect((await unmerge(a, [b])).status).toBe(200)
    expect((await unmerge(a, [b])).status).toBe(409)
    const stranger = await aFounder(t.url)
    expect((await stranger.post(`/api/issues/${a}/merge`, { issue_ids: [b] })).status).toBe(404)
    expect((await owner.delete(`/api/issues/${b}`)).status).toBe(204)
  })

  test('deleting an issue deletes those merged into it; a merged issue cannot be deleted', async () => {
    const { project, ids } = await aProjectWith('alpha', 'beta')
    const [a = '', b = ''] = ids
    await merge(a, [b])
    expect((await owner.delete(`/api/issues/${b}`)).status).toBe(409)
    expect((await owner.delete(`/api/issues/${a}`)).status).toBe(204)
    const { rows } = await t.app.db.query(
      `select (select count(*)::int from issues where project_id = $1) as issues, (select count(*)::int from events where project_id = $1) as events,
         (select count(*)::int from issue_fingerprints where project_id = $1) as fingerprints,
         (select count(*)::int from issue_hours where not exists (select from issues where id = group_id)) as hours,
         (select count(*)::int from issue_users where not exists (select from issues where id = group_id)) as users,
         (select count(*)::int from issue_user_slots where not exists (select from issues where id = group_id)) as slots`,
      [project.id],
    )
    expect(rows).toEqual([{ issues: 0, events: 0, fingerprints: 0, hours: 0, users: 0, slots: 0 }])
    await send(project, anEvent({ error: inModule('beta') }))
    expect(await listed(project)).toHaveLength(1)
  })
})

test('a user is erased from merged issues and from their merge target', async () => {
  const project = await aProject(owner)
  const of = (name: string, user: string) =>
    anEvent({
      error: inModule(name),
      user: { id: user },
      exception: {
        values: [
          anException({
            type: `${name}Error`,
            value: `secret of ${user}`,
            stacktrace: { frames: [{ function: name, filename: `${name}.ts`, in_app: true }] },
          }),
        ],
      },
    })
  await send(project, of('alpha', 'ada'), of('beta', 'grace'), of('beta', 'ada'))
  const [a = '', b = ''] = (await listed(project)).map(({ id }) => id)
  await merge(b, [a])
  await send(project, of('alpha', 'ada'), of('beta', 'ada'))
  expect((await read(b)).title).toContain('ada')
  expect((await owner.delete(`/api/projects/${project.id}/users/ada/data`)).status).toBeLessThan(300)
  const holds = async () =>
    (
      await t.app.db.query<{ what: string }>(
        `select 'issue' as what from issues where project_id = $1 and (title || error_value) like '%of ada%'
         union all select 'group' from issue_groups g join issues i on i.id = g.id where i.project_id = $1 and (g.title || g.error_value) like '%of ada%'
         union all select 'document' from issue_search s join issues i on i.id = s.issue_id where i.project_id = $1 and s.document @@ 'ada'::tsquery`,
        [project.id],
      )
    ).rows
  expect(await holds()).toEqual([])
  expect(await read(b)).toMatchObject({ id: b, title: 'betaError: secret of grace' })
  await unmerge(b, [a])
  expect(await holds()).toEqual([])
  const { rows } = await t.app.db.query<{ users: number }>(
    `select count(*)::int as users from issue_users u join issues i on i.id = u.group_id where i.project_id = $1`,
    [project.id],
  )
  expect(rows[0]?.users).toBe(1)
})

test('a user of a merged issue is erased from all documents, also after it was merged twice', async () => {
  const project = await aProject(owner)
  const of = (name: string, user: string, value: string) =>
    anEvent({ error: { ...inModule(name), value }, user: { id: user } })
  await send(project, of('alpha', 'grace', 'plain'), of('beta', 'grace', 'plain'), of('gamma', 'grace', 'plain'))
  const [a = '', b = '', c = ''] = (await listed(project)).map(({ id }) => id)
  await send(project, of('alpha', 'ada', 'zebracanary'))
  await indexNewTerms(t.app)
  await merge(b, [a])
  await merge(c, [b])
  await indexNewTerms(t.app)
  await rebuildDocuments(t.app)
  const found = async () =>
    (
      await t.app.db.query<{ issue_id: string }>(
        `select issue_id from issue_search s join issues i on i.id = s.issue_id
         where i.project_id = $1 and (s.document @@ 'zebracanary'::tsquery or s.own_document @@ 'zebracanary'::tsquery)`,
        [project.id],
      )
    ).rows.map((row) => row.issue_id)
  expect(new Set(await found())).toEqual(new Set([a, c]))
  expect((await owner.delete(`/api/projects/${project.id}/users/ada/data`)).status).toBe(200)
  await rebuildDocuments(t.app)
  expect(await found()).toEqual([])
  await unmerge(c, [b])
  await rebuildDocuments(t.app)
  expect(await found()).toEqual([])
})

const outcomesOf = async (project: TestProject) =>
  (
    await t.app.db.query<{ outcome: string; reason: string; quantity: number }>(
      `select outcome, reason, sum(quantity)::int as quantity from outcomes_hourly where project_id = $1 group by 1, 2 order by 1`,
      [project.id],
    )
  ).rows

describe('discarding', () => {
  test('deletes the issue and drops its further events until it is restored', async () => {
    const { project, ids } = await aProjectWith('alpha', 'beta', 'gamma')
    const [a = '', b = ''] = ids
    await merge(a, [b])
    const answer = await owner.post(`/api/issues/${a}/discard`)
    expect(answer.status).toBe(200)
    expect(answer.as<Discard>()).toMatchObject({ event_count: 2, fingerprints: 2, title: 'alphaError: alpha failed' })
    expect((await owner.get(`/api/issues/${a}`)).status).toBe(404)
    await send(
      project,
      anEvent({ error: inModule('alpha') }),
      anEvent({ error: inModule('beta') }),
      anEvent({ error: inModule('gamma') }),
    )
    expect((await listed(project)).map(({ type, event_count: count }) => [type, count])).toEqual([['gammaError', 2]])
    expect(await outcomesOf(project)).toEqual([
      { outcome: 'accepted', reason: '', quantity: 4 },
      { outcome: 'discarded', reason: 'discarded_issue', quantity: 2 },
    ])
    const list = (await owner.get(`/api/projects/${project.id}/discards`)).as<{ items: Discard[]; total: number }>()
    expect(list).toMatchObject({
      total: 1,
      items: [{ id: answer.as<Discard>().id, discarded_by: { name: expect.any(String) as string } }],
    })
    const path = `/api/projects/${project.id}/discards/${list.items[0]?.id}`
    expect((await owner.delete(path)).status).toBe(204)
    expect((await owner.delete(path)).status).toBe(404)
    await send(project, anEvent({ error: inModule('alpha') }))
    expect(await listed(project)).toHaveLength(2)
    expect((await owner.get(`/api/projects/${project.id}/discards?cursor=x`)).status).toBe(400)
  })

  test('an issue that is restored during the deletion stays restored', async () => {
    const { project, ids } = await aProjectWith('alpha')
    const holder = await t.app.db.reserve()
    await holder.query('begin')
    await holder.query('select 1 from events where issue_id = $1 for update', [ids[0]])
    const discarding = owner.post(`/api/issues/${ids[0]}/discard`)
    const path = `/api/projects/${project.id}/discards`
    const list = async () => (await owner.get(path)).as<{ items: Discard[] }>().items
    await waitFor('the discard', async () => (await list()).length === 1)
    expect((await owner.delete(`${path}/${(await list())[0]?.id}`)).status).toBe(204)
    await holder.query('commit')
    holder.release()
    expect((await discarding).status).toBe(404)
    expect(await list()).toEqual([])
    await send(project, anEvent({ error: inModule('alpha') }))
    expect((await listed(project)).map(({ id, event_count: count }) => [id === ids[0], count])).toEqual([[false, 1]])
  })

  test('an event that was prepared before its issue was discarded is dropped when it is recorded', async () => {
    const { project, ids } = await aProjectWith('alpha')
    // The caches of this process do not know the discard, as if another process had made it.
    await t.app.db.query(
      `insert into discards (id, project_id, title, issue_number, event_count, created_at) values ($1, $2, 'x', 99, 0, now())`,
      [ids[0], project.id],
    )
    await t.app.db.query(
      `insert into discarded_fingerprints select project_id, hash, $1, grouping_version, parts from issue_fingerprints where project_id = $2`,
      [ids[0], project.id],
    )
    await t.app.tx(async (tx) => {
      await changeRelation(tx, project.id)
      await tx.query(`delete from issues where project_id = $1`, [project.id])
    })
    await send(project, anEvent({ error: inModule('alpha') }))
    expect(await listed(project)).toEqual([])
    expect(await outcomesOf(project)).toContainEqual({ outcome: 'discarded', reason: 'discarded_issue', quantity: 1 })
  })
})

const setRules = (project: TestProject, rules: Record<string, unknown>) =>
  owner.patch(`/api/projects/${project.id}/settings`, { grouping_rules: { fingerprint: [], stack: [], ...rules } })
const preview = (project: TestProject, body: Record<string, unknown>) =>
  owner.post(`/api/projects/${project.id}/grouping/preview`, body)

describe('rules', () => {
  test('group events of several issues into one with the title of the rule', async () => {
    const { project } = await aProjectWith('alpha', 'beta', 'gamma')
    const fingerprint = [
      { match: [{ key: 'type', glob: 'alpha*' }], fingerprint: ['greek'], title: 'Greek: {{ value }}' },
      {
        match: [
          { key: 'module', glob: 'app.b*' },
          { key: 'function', glob: 'BETA' },
        ],
        fingerprint: ['greek'],
      },
    ]
    const proposed = await preview(project, { grouping_rules: { fingerprint, stack: [] } })
    expect(proposed.as<GroupingPreview>()).toMatchObject({
      looked_at: 3,
      of: 3,
      issues: 3,
      moved: 1,
      merges_total: 1,
      splits_total: 0,
      fingerprint_rules: [
        { events: 1, issues: 1 },
        { events: 1, issues: 1 },
      ],
    })
    expect(
      proposed
        .as<GroupingPreview>()
        .merges[0]?.issues.map(({ title }) => title)
        .sort(),
    ).toEqual(['alphaError: alpha failed', 'betaError: beta failed'])
    expect((await setRules(project, { fingerprint })).status).toBe(200)
    await send(
      project,
      anEvent({ error: inModule('beta') }),
      anEvent({ error: inModule('alpha') }),
      anEvent({ error: inModule('gamma') }),
    )
    const issues = await listed(project)
    expect(issues.map(({ title, event_count: count }) => [title, count])).toEqual([
      ['alphaError: alpha failed', 1],
      ['betaError: beta failed', 1],
      ['gammaError: gamma failed', 2],
      ['Greek: alpha failed', 2],
    ])
    expect((await read(issues[3]?.id ?? '')).grouping.parts).toEqual([
      { variant: 'project_rule', values: [{ label: 'fingerprint', value: 'greek' }] },
      { variant: 'rule', values: [{ label: 'matched', value: 'module:app.b* function:BETA' }] },
    ])
  })

  test('mark frames, for grouping and in the event that is shown', async () => {
    const project = await aProject(owner)
    const stack = [{ match: [{ key: 'module', glob: 'app.lib.*' }], action: 'not_in_app' }]
    await setRules(project, { stack })
    const frame = (module: string) => ({ filename: 'a.ts', function: 'run', module, in_app: true })
    const event = (lib: string) =>
      anEvent({ exception: { values: [anException({ stacktrace: { frames: [frame('app.own'), frame(lib)] } })] } })
    await send(project, event('app.lib.one'), event('app.lib.two'))
    const [issue, ...others] = await listed(project)
    expect(others).toEqual([])
    const detail = await read(issue?.id ?? '')
    expect(detail.event?.exceptions[0]?.stacktrace?.frames.map((one) => one.in_app)).toEqual([true, false])
    expect(detail.grouping.parts.at(-1)).toEqual({
      variant: 'stack_rule',
      values: [{ label: 'not_in_app', value: 'module:app.lib.*' }],
    })
  })

  test('the preview reports a split', async () => {
    const project = await aProject(owner)
    await send(
      project,
      anEvent({ error: inModule('alpha'), tags: { shop: 'x' } }),
      anEvent({ error: inModule('alpha'), tags: { shop: 'y' } }),
      anEvent({ error: inModule('alpha'), tags: { shop: 'y' } }),
    )
    const rule = {
      match: [
        { key: 'type', glob: '*' },
        { key: 'level', glob: 'error' },
      ],
      fingerprint: ['{{ default }}', '{{ tag.shop }}'],
    }
    const result = (
      await preview(project, { grouping_rules: { fingerprint: [rule], stack: [] } })
    ).as<GroupingPreview>()
    expect(result).toMatchObject({
      moved: 1,
      merges_total: 0,
      splits_total: 1,
      splits: [{ parts: [{ events: 2 }, { events: 1 }] }],
    })
  })

  test.each([
    [{ fingerprint: [{ match: [], fingerprint: ['x'] }] }, 'match'],
    [{ fingerprint: [{ match: [{ key: 'colour', glob: 'x' }], fingerprint: ['x'] }] }, 'key must be'],
    [{ fingerprint: [{ match: [{ key: 'type', glob: '**' }], fingerprint: ['x'] }] }, 'only *'],
    [{ fingerprint: [{ match: [{ key: 'type', glob: 'x' }], fingerprint: ['{{ colour }}'] }] }, 'no variable'],
    [{ fingerprint: [{ match: [{ key: 'type', glob: 'x' }], fingerprint: ['a {{ default }}'] }] }, 'stand alone'],
    [{ fingerprint: [{ match: [{ key: 'type', glob: 'x' }], fingerprint: ['{{ type'] }] }, 'braces'],
    [{ fingerprint: [{ match: [{ key: 'type', glob: 'x' }], fingerprint: [' '] }] }, 'empty'],
    [{ fingerprint: [{ match: [{ key: 'type', glob: 'x'.repeat(201) }], fingerprint: ['x'] }] }, '200'],
    [{ fingerprint: [{ match: [{ key: 'type', glob: 'x' }], fingerprint: ['x'], title: '{{ default }}' }] }, 'title'],
    [{ stack: [{ match: [{ key: 'type', glob: 'x' }], action: 'ignore' }] }, 'key must be'],
    [{ stack: [{ match: [{ key: 'module', glob: 'x' }], action: 'drop' }] }, 'action'],
    [{ unknown: [] }, 'unknown'],
    [{ stack: undefined }, 'grouping_rules.stack must be a list of rules, [] for none.'],
    [{ fingerprint: 'x' }, 'grouping_rules.fingerprint must be a list of rules'],
    [
      { fingerprint: Array.from({ length: 101 }, () => ({ match: [{ key: 'type', glob: 'x' }], fingerprint: ['x'] })) },
      'grouping_rules.fingerprint takes at most 100 rules.',
    ],
    [
      { fingerprint: [{ match: [{ key: 'type', glob: 'x' }], fingerprint: ['x', ''] }] },
      'grouping_rules.fingerprint.0.fingerprint.1',
    ],
  ])('%j is refused with an error that names the problem', async (rules, word) => {
    const project = await aProject(owner)
    const answer = await setRules(project, rules)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(word)
  })
})

test('a preview of costly rules does not hold up other requests, and ends at its time limit', async () => {
  const project = await aProject(owner)
  const path = `${'ab/'.repeat(80)}x.js`
  const frames = Array.from({ length: 200 }, (_, n) => ({ function: `f${n}`, filename: path, abs_path: path }))
  await send(
    project,
    ...Array.from({ length: 25 }, (_, n) =>
      anEvent({ exception: { values: [anException({ type: `Costly${n}Error`, stacktrace: { frames } })] } }),
    ),
  )
  // Every piece of the glob is found, and the last one is missing.
  const match = Array.from({ length: 10 }, () => ({ key: 'path', glob: `*${'a*b*/*'.repeat(30)}z*` }))
  const stack = Array.from({ length: 100 }, () => ({ match, action: 'in_app' as const }))
  const fingerprint = Array.from({ length: 100 }, () => ({ match, fingerprint: ['x'] }))
  const rules = GroupingRules.parse({ fingerprint, stack })
  const { org } = (await owner.get('/api/me')).as<{ org: { id: string; slug: string } }>()
  const { actor } = await aPerson(t.app, { org, role: 'admin' })
  const loop = watchLoop()
  const proposed = { grouping_rules: rules }
  expect(await previewGrouping(t.app, actor, project.id, proposed)).toMatchObject({ looked_at: 25 })
  const limits = { timeLimitMs: 30_000, graceMs: -29_500 }
  await expect(previewGrouping(t.app, actor, project.id, proposed, limits)).rejects.toMatchObject({
    code: 'unavailable',
  })
  expect(loop.longestHoldMs()).toBeLessThan(200)
  loop.stop()
})

describe('a change to a newer grouping version', () => {
  test('keeps known issues for 30 days; afterwards unknown fingerprints create issues', async () => {
    const { project, ids } = await aProjectWith('alpha', 'beta', 'gamma')
    const [a = '', b = ''] = ids
    await owner.post(`/api/issues/${ids[2]}/discard`)
    await send(project, anEvent({ error: { ...inModule('alpha'), type: 'betaError' } }))

    const upgrade = (version: unknown) => owner.post(`/api/projects/${project.id}/grouping/upgrade`, { version })
    expect((await upgrade(1)).status).toBe(400)
    expect((await upgrade(7)).text).toContain(`${TEST_GROUPING_VERSION}`)
    expect((await upgrade('x')).status).toBe(400)
    const answer = await upgrade(TEST_GROUPING_VERSION)
    expect(answer).toMatchObject({
      status: 200,
      body: { grouping_version: TEST_GROUPING_VERSION, grouping_transition: { from: LATEST_GROUPING_VERSION } },
    })
    expect((await upgrade(TEST_GROUPING_VERSION)).status).toBe(400)

    await send(
      project,
      anEvent({ error: inModule('beta') }),
      anEvent({ error: inModule('alpha') }),
      anEvent({ error: inModule('gamma') }),
      anEvent({ error: inModule('delta') }),
    )
    const issues = await listed(project)
    expect(issues.map(({ id, event_count: count }) => [id, count]).slice(0, 2)).toEqual([
      [a, 2],
      [b, 2],
    ])
    // The discarded issue stays discarded under its new fingerprint.
    expect(issues.map(({ type }) => type)).not.toContain('gammaError')
    expect((await read(b)).grouping.fingerprints.map(({ version }) => version)).toEqual([
      LATEST_GROUPING_VERSION,
      TEST_GROUPING_VERSION,
    ])

    t.clock.advance(31 * 86_400_000)
    await send(
      project,
      anEvent({ error: inModule('beta') }),
      anEvent({ error: inModule('gamma') }),
      anEvent({ error: { ...inModule('omega'), type: 'betaError' } }),
      anEvent({ error: { ...inModule('alpha'), type: 'otherError' } }),
    )
    // Sessions have ended by then.
    const { rows: later } = await t.app.db.query<{ id: string; error_type: string; event_count: number }>(
      `select id, error_type, event_count from issues where project_id = $1`,
      [project.id],
    )
    expect(later.find(({ id }) => id === b)?.event_count).toBe(4)
    expect(later.map((row) => row.error_type)).not.toContain('gammaError')
    expect(later.filter((row) => row.error_type === 'otherError')).toHaveLength(1)
  })
})
