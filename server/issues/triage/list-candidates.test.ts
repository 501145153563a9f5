import { expect, test } from 'vitest'
import { testServer } from '#test/kit/test-server.ts'
import type { Client } from '#test/kit/client.ts'
import type { IssueDetail } from './issues.api.ts'

/** Who could take an issue, by rules and by its history. Authors of commits: integrations/code-host/code-host.test.ts. */

const server = await testServer({ realTime: true })

const candidatesOf = async (by: Client, id: string) => {
  const { candidates } = (await by.get(`/api/issues/${id}`)).as<IssueDetail>()
  return candidates.map(({ person, team, reasons }) => [person?.email ?? team, ...reasons.map(({ kind }) => kind)])
}

const frame = { filename: 'src/checkout/pay.ts', function: 'pay', lineno: 2, in_app: true }
const failure = { exception: { values: [{ type: 'TypeError', value: 'x', stacktrace: { frames: [frame] } }] } }

test('owners by rules come with who resolved it before, each with all reasons; former members do not', async () => {
  const owner = await server.founder()
  const project = await server.project(owner)
  const issue = await server.issue({ project, by: owner, ...failure })
  expect(await candidatesOf(owner, issue.id)).toEqual([])

  const kim = await server.member(owner, { name: 'Kim', role: 'member' })
  const lee = await server.member(owner, { name: 'Lee', role: 'member' })
  for (const [by, status] of [
    [kim, 'resolved'],
    [kim, 'unresolved'],
    [lee, 'resolved'],
  ] as const)
    expect((await by.patch(`/api/issues/${issue.id}`, { status })).status).toBe(200)
  expect(await candidatesOf(owner, issue.id)).toEqual([
    [lee.email, 'resolved_before'],
    [kim.email, 'resolved_before'],
  ])

  const kimId = (await kim.get('/api/me')).as<{ user: { id: string } }>().user.id
  const rules = [
    { match: 'path', glob: 'docs/*', team: 'writers' },
    { match: 'path', glob: '*', team: 'everybody' },
    { match: 'path', glob: 'src/checkout/*', user_id: kimId },
  ]
  const saved = await owner.patch(`/api/projects/${project.id}/settings`, { ownership_rules: rules })
  expect(saved.status).toBe(200)
  expect(await candidatesOf(owner, issue.id)).toEqual([
    [kim.email, 'ownership_rule', 'resolved_before'],
    ['everybody', 'ownership_rule'],
    [lee.email, 'resolved_before'],
  ])

  // Rules of two former members before the one that decides.
  const max = await server.member(owner, { name: 'Max', role: 'member' })
  const maxId = (await max.get('/api/me')).as<{ user: { id: string } }>().user.id
  const more = [...rules, { match: 'path', glob: 'src/*', user_id: maxId }]
  expect((await owner.patch(`/api/projects/${project.id}/settings`, { ownership_rules: more })).status).toBe(200)
  expect((await owner.delete(`/api/team/${maxId}`)).status).toBe(204)
  const gone = await owner.delete(`/api/team/${kimId}`)
  expect(gone.status, gone.text).toBe(204)
  expect(await candidatesOf(owner, issue.id)).toEqual([
    ['everybody', 'ownership_rule'],
    [lee.email, 'resolved_before'],
  ])
})
