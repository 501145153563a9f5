import { beforeAll, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aMemberClient, type MemberClient } from '#test/kit/member-client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'

/** People at the same issue at once, while it goes away or becomes part of another. */

const server = await testServer({ realTime: true })
const { app } = server

let ada: Client
let bob: MemberClient
let project: TestProject

beforeAll(async () => {
  ada = await aFounder(server.url)
  bob = await aMemberClient(app, server.url, ada, { name: 'Bob Builder' })
  project = await aProject(ada)
})

const ROUNDS = 6

/** Everything people do to an issue beside changing its status. */
const everything = (issueId: string) =>
  [ada, bob].flatMap((person) => [
    person.post(`/api/issues/${issueId}/comments`, { body: '@Bob and @Founder' }),
    person.request('PUT', `/api/issues/${issueId}/subscription`),
    person.patch(`/api/issues/${issueId}`, { assignee_id: bob.id }),
    person.delete(`/api/issues/${issueId}/subscription`),
    person.post(`/api/issues/${issueId}/comments`, { body: 'another' }),
  ])

test('an issue deleted meanwhile is not found, never a failure of ours', async () => {
  for (const issueId of await seedIssues(app, project.id, ROUNDS)) {
    const work = everything(issueId)
    const answers = await Promise.all([...work.slice(0, 5), ada.delete(`/api/issues/${issueId}`), ...work.slice(5)])
    for (const { status } of answers) expect([200, 201, 204, 404]).toContain(status)
    expect(await ada.get(`/api/issues/${issueId}`)).toMatchObject({ status: 404 })
    expect(JSON.stringify((await bob.get('/api/inbox?limit=100')).body)).not.toContain(issueId)
  }
})

test.each<[string, (issueId: string) => Promise<{ status: number }>]>([
  ['comments', (id) => bob.post(`/api/issues/${id}/comments`, { body: 'hm' })],
  ['follows', (id) => bob.request('PUT', `/api/issues/${id}/subscription`)],
  ['stops following', (id) => bob.delete(`/api/issues/${id}/subscription`)],
  ['assigns', (id) => bob.patch(`/api/issues/${id}`, { assignee_id: bob.id })],
])('who %s while a deletion is about to be written finds nothing', async (_what, act) => {
  const [issueId = ''] = await seedIssues(app, project.id, 1)
  const deleting = await app.db.reserve()
  try {
    await deleting.query('begin')
    await deleting.query('delete from issues where id = $1', [issueId])
    const answer = act(issueId)
    await waitFor('them to wait', async () => {
      const { rows } = await app.db.query<{ n: number }>(`select count(*)::int as n from pg_locks where not granted`)
      return (rows[0]?.n ?? 0) > 0
    })
    await deleting.query('commit')
    expect(await answer).toMatchObject({ status: 404 })
  } finally {
    deleting.release()
  }
})

test('an issue merged meanwhile keeps what was said and done', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const [root = '', member = ''] = await seedIssues(app, project.id, 2)
    const answers = await Promise.all([
      ...everything(member),
      ada.post(`/api/issues/${root}/merge`, { issue_ids: [member] }),
    ])
    for (const { status } of answers) expect([200, 201, 204]).toContain(status)
    const comments = (await ada.get(`/api/issues/${root}/comments`)).as<{ total: number }>()
    expect(comments.total).toBe(4)
  }
})
