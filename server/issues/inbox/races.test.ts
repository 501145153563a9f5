import { beforeAll, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aMemberClient, type MemberClient } from '#test/kit/member-client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'

/** Members change an issue while another member deletes or merges it. */

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

/** Every change of an issue by a member except of its status. */
const everything = (issueId: string) =>
  [ada, bob].flatMap((member) => [
    member.post(`/api/issues/${issueId}/comments`, { body: '@Bob and @Founder' }),
    member.request('PUT', `/api/issues/${issueId}/subscription`),
    member.patch(`/api/issues/${issueId}`, { assignee_id: bob.id }),
    member.delete(`/api/issues/${issueId}/subscription`),
    member.post(`/api/issues/${issueId}/comments`, { body: 'another' }),
  ])

test('changes of an issue that is deleted meanwhile return 404, never 500', async () => {
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
])('a member who %s while a deletion is about to commit gets 404', async (_what, act) => {
  const [issueId = ''] = await seedIssues(app, project.id, 1)
  const deleting = await app.db.reserve()
  try {
    await deleting.query('begin')
    await deleting.query('delete from issues where id = $1', [issueId])
    const answer = act(issueId)
    await waitFor('the request to wait for the lock', async () => {
      const { rows } = await app.db.query<{ n: number }>(`select count(*)::int as n from pg_locks where not granted`)
      return (rows[0]?.n ?? 0) > 0
    })
    await deleting.query('commit')
    expect(await answer).toMatchObject({ status: 404 })
  } finally {
    deleting.release()
  }
})

test('an issue that is merged meanwhile keeps its comments', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const [target = '', other = ''] = await seedIssues(app, project.id, 2)
    const answers = await Promise.all([
      ...everything(other),
      ada.post(`/api/issues/${target}/merge`, { issue_ids: [other] }),
    ])
    for (const { status } of answers) expect([200, 201, 204]).toContain(status)
    const comments = (await ada.get(`/api/issues/${target}/comments`)).as<{ total: number }>()
    expect(comments.total).toBe(4)
  }
})
