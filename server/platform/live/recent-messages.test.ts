import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { newId } from '../kernel/ids.ts'
import type { LiveMessage } from './live.api.ts'
import { MAX_IDS, publishLive } from './publish.ts'
import { recentMessages } from './recent-messages.ts'

const { app, clock } = await testApp()
const recent = recentMessages(app)
const all = (message: LiveMessage): LiveMessage => message
const of = (orgId: string) => recent(orgId, all)

async function published(orgId: string, ...messages: LiveMessage[]): Promise<void> {
  const last = newId()
  await publishLive(
    app.db,
    [...messages, { kind: 'project' as const, project_id: last }].map((message) => ({ orgId, message })),
  )
  await waitFor('the messages', () =>
    of(orgId).messages.some(({ message }) => 'project_id' in message && message.project_id === last),
  )
}

const issues = (ids: readonly string[]): LiveMessage => ({
  kind: 'issues',
  project_id: 'p',
  issue_ids: [...ids],
  new_issue_ids: [],
  event_count: ids.length,
})
const aboutIssues = (orgId: string) => of(orgId).messages.filter(({ message }) => message.kind === 'issues')

test('messages are kept for 20 seconds, with their age, and merged by project', async () => {
  const orgId = newId()
  expect(of(orgId)).toEqual({ reach_ms: 0, messages: [] })
  clock.advance(30_000)
  expect(of(orgId).reach_ms).toBe(20_000)
  await published(orgId, issues(['a']))
  clock.advance(15_000)
  await published(orgId, issues(['b']))
  clock.advance(1_000)
  expect(aboutIssues(orgId)).toMatchObject([{ age_ms: 1_000, message: { issue_ids: ['a', 'b'], event_count: 2 } }])
  clock.advance(4_000)
  expect(aboutIssues(orgId)).toMatchObject([{ age_ms: 5_000, message: { issue_ids: ['b'], event_count: 1 } }])
  clock.advance(15_000)
  expect(of(orgId)).toEqual({ reach_ms: 20_000, messages: [] })
  expect(of(newId())).toEqual({ reach_ms: 20_000, messages: [] })
})

test('more ids than a message can name become none, which stands for all', async () => {
  const orgId = newId()
  const ids = Array.from({ length: MAX_IDS }, () => newId())
  await published(orgId, issues(ids))
  expect(aboutIssues(orgId)).toMatchObject([{ message: { issue_ids: ids } }])
  await published(orgId, issues([newId()]))
  expect(aboutIssues(orgId)).toMatchObject([{ message: { issue_ids: [] } }])
})

test('where messages were lost or are too many, it reaches back less far', async () => {
  const orgId = newId()
  clock.advance(30_000)
  await published(orgId, issues(['a']))
  clock.advance(1_000)
  for (let count = 0; count < 50; count++) await published(orgId, ...Array.from({ length: 9 }, () => issues([newId()])))
  expect(of(orgId).reach_ms).toBeLessThanOrEqual(1_000)
  expect(aboutIssues(orgId)).toMatchObject([{ age_ms: 0, message: { issue_ids: [] } }])

  await app.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'faultline bus' and datname = current_database()`,
  )
  await waitFor('the connection to be restored', () => of(orgId).messages.length === 0)
  expect(of(orgId).reach_ms).toBe(0)
})

test('an organisation with more projects than an answer can hold reads everything again', async () => {
  const orgId = newId()
  clock.advance(2_000)
  const many = Array.from({ length: 30 }, (_, index): LiveMessage => ({
    kind: 'releases',
    project_id: `p${index}`,
    release_ids: Array.from({ length: MAX_IDS }, () => newId()),
  }))
  await publishLive(
    app.db,
    many.map((message) => ({ orgId, message })),
  )
  await waitFor('the messages', () => of(orgId).reach_ms === 0)
  expect(of(orgId)).toEqual({ reach_ms: 0, messages: [] })
})
