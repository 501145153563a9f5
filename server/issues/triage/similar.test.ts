import { beforeAll, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Issue } from '../rules/issue.api.ts'

const server = await testServer({ realTime: true })

type Similar = { items: { issue: Issue; score: number; shared: string[] }[] }

let ada: Client
let project: TestProject
beforeAll(async () => {
  ada = await aFounder(server.url)
  project = await aProject(ada, { name: 'Similar' })
  const other = await aProject(ada, { name: 'Other' })
  const error = (name: string, value: string, type = 'IOError') => ({ error: { in: name, type, value } })
  await server.events(project, [
    error('load', 'order 1234567 not found'),
    error('save', 'order 7654321 not found'),
    error('read', 'disk is full', 'DiskError'),
    error('send', 'connection refused'),
  ])
  await server.events(other, [error('load', 'order 1234567 not found')])
})

const titled = async (text: string): Promise<Issue> => {
  const { items } = (await ada.get(`/api/projects/${project.id}/issues?limit=100`)).as<{ items: Issue[] }>()
  const found = items.find(({ title }) => title.includes(text))
  if (found === undefined) throw new Error(`no issue ${text}`)
  return found
}
const similarTo = async (issue: Issue, query = ''): Promise<Similar> =>
  (await ada.get(`/api/issues/${issue.id}/similar${query}`)).as<Similar>()

test('finds the issue with the same type and message, of the same project only', async () => {
  const [first, second] = [await titled('1234567'), await titled('7654321')]
  const { items } = await similarTo(first)
  expect(items.map(({ issue, shared }) => [issue.id, shared])).toEqual([[second.id, ['type', 'message']]])
})

test('an issue that resembles no other has none', async () => {
  expect(await similarTo(await titled('disk is full'))).toEqual({ items: [] })
})

test('a merged issue is not similar to its merge target, and its address shows that of the target', async () => {
  const [first, second] = [await titled('1234567'), await titled('7654321')]
  const third = await titled('connection refused')
  const merged = await ada.post(`/api/issues/${third.id}/merge`, { issue_ids: [second.id] })
  expect(merged.status).toBe(200)
  expect((await similarTo(first)).items).toEqual([])
  expect(await similarTo(second)).toEqual(await similarTo(third))
})

test('of many issues with the same type, those with more in common are compared first', async () => {
  const eve = await aFounder(server.url)
  const large = await aProject(eve, { name: 'Large' })
  // All with the words of the type in their titles, and the one sought was seen before all others.
  const ids = await seedIssues(server.app, large.id, 400)
  const [first = '', twin = ''] = [ids[0], ids.at(-1)]
  await server.app.db.query(
    `update issues set title = 'SeedError: thing', culprit = 'other' || number || ' (src/find.ts)' where project_id = $1`,
    [large.id],
  )
  await server.app.db.query(
    `update issues set title = 'SeedError: basket was empty', culprit = 'pay (src/pay.ts)' where id = any($1::uuid[])`,
    [[first, twin]],
  )
  const { items } = (await eve.get(`/api/issues/${first}/similar`)).as<Similar>()
  expect(items[0]).toMatchObject({ issue: { id: twin }, score: 1, shared: ['type', 'culprit', 'message'] })
})

test('limit is checked', async () => {
  const issue = await titled('1234567')
  expect((await ada.get(`/api/issues/${issue.id}/similar?limit=0`)).status).toBe(400)
  expect((await ada.get('/api/issues/0198c0de-0000-7000-8000-000000000000/similar')).status).toBe(404)
})
