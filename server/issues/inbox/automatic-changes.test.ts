import { beforeEach, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aMemberClient, type MemberClient } from '#test/kit/member-client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testServer } from '#test/kit/test-server.ts'
import { sweepIssues } from '../recording/sweep.ts'
import { MAX_SUBSCRIBERS, selectSubscribers } from '../../history/facts/inbox.queries.ts'

/** Notifications of status changes by digestion and by sweeps. */

const server = await testServer()
const { app, clock } = server

let ada: Client
let bob: MemberClient
let project: TestProject

// Sessions end as days pass.
beforeEach(async () => {
  ada = await aFounder(server.url)
  bob = await aMemberClient(app, server.url, ada, { name: 'Bob Builder' })
  project = await aProject(ada)
})

const send = async (type: string, fields: Record<string, unknown> = {}) => {
  clock.advance(1_000)
  const timestamp = clock.now().getTime() / 1000
  await server.event({ project, timestamp, error: { type }, ...fields })
}
// Days pass in these tests, and sessions end: the tests read the tables.
const issueOf = (type: string) =>
  app.db
    .selectFrom('issues')
    .select(['id', 'status', 'status_reason'])
    .where('project_id', '=', project.id)
    .where('title', 'like', `${type}:%`)
    .executeTakeFirstOrThrow()
const notificationsOf = async (userId: string, issueId: string) => {
  const rows = await app.db
    .selectFrom('inbox_entries')
    .select(['kind', 'sentence', 'actor_id'])
    .where('user_id', '=', userId)
    .where('issue_id', '=', issueId)
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ kind, sentence, actor_id: actor }) => [kind, sentence, actor])
}
const change = async (by: Client, issueId: string, body: Record<string, unknown>) => {
  clock.advance(1_000)
  expect(await by.patch(`/api/issues/${issueId}`, body)).toMatchObject({ status: 200 })
}

test('subscribers are notified when an issue reaches the number of events it was ignored until', async () => {
  await send('Counted')
  const { id } = await issueOf('Counted')
  await change(bob, id, { status: 'ignored', ignore_until: { count: 2 } })
  await send('Counted')
  expect(await notificationsOf(bob.id, id)).toEqual([])
  await send('Counted')
  const { status, status_reason: reason } = await issueOf('Counted')
  expect(status).toBe('unresolved')
  expect(await notificationsOf(bob.id, id)).toEqual([['reopened', reason, null]])
})

test('subscribers are notified once when a sweep reopens an issue that was ignored until a time', async () => {
  await send('Timed')
  const { id } = await issueOf('Timed')
  const until = new Date(clock.now().getTime() + 3_600_000).toISOString()
  await change(bob, id, { status: 'ignored', ignore_until: { time: until } })
  clock.advance(3_700_000)
  await sweepIssues(app)
  await sweepIssues(app)
  expect(await notificationsOf(bob.id, id)).toEqual([
    ['reopened', expect.stringContaining('Reopened: it was ignored until') as unknown, null],
  ])
})

test('subscribers are not notified when an issue resolves automatically or is no longer escalated', async () => {
  await send('Quiet')
  await send('Calm')
  const [quiet, calm] = [await issueOf('Quiet'), await issueOf('Calm')]
  for (const { id } of [quiet, calm]) await change(ada, id, { assignee_id: bob.id })
  await change(bob, calm.id, { status: 'escalated' })
  clock.advance(8 * 86_400_000)
  await sweepIssues(app)
  expect((await issueOf('Calm')).status).toBe('unresolved')
  clock.advance(30 * 86_400_000)
  await sweepIssues(app)
  expect((await issueOf('Quiet')).status).toBe('resolved')
  for (const { id } of [quiet, calm])
    expect((await notificationsOf(bob.id, id)).map(([kind]) => kind)).toEqual(['assigned'])
})

test('disabled users and disabled members do not count among the subscribers of an issue', async () => {
  const [issueId = ''] = await seedIssues(app, project.id, 1)
  const now = clock.now()
  const template = await app.db.selectFrom('users').selectAll().where('id', '=', bob.id).executeTakeFirstOrThrow()
  // Older than Bob, so that they would come first.
  const left = Array.from({ length: MAX_SUBSCRIBERS }, (_, index) => ({
    ...template,
    id: `01000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    email: `left${index}@example.com`,
    disabled_at: index % 2 === 0 ? now : null,
  }))
  await app.db.insertInto('users').values(left).execute()
  const membership = await app.db
    .selectFrom('memberships')
    .selectAll()
    .where('user_id', '=', bob.id)
    .executeTakeFirstOrThrow()
  await app.db
    .insertInto('memberships')
    .values(
      left.map(({ id, disabled_at }) => ({
        ...membership,
        user_id: id,
        disabled_at: disabled_at === null ? now : null,
      })),
    )
    .execute()
  await app.db
    .insertInto('issue_subscriptions')
    .values(
      [...left, template].map(({ id }) => ({
        issue_id: issueId,
        user_id: id,
        reason: 'manual' as const,
        is_subscribed: true,
        changed_at: now,
      })),
    )
    .execute()
  expect(await app.tx((tx) => selectSubscribers(tx, [issueId]))).toEqual([{ issue_id: issueId, user_id: bob.id }])
})
