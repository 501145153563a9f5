import { beforeAll, describe, expect, test } from 'vitest'
import type { Issue } from '#server/issues/rules/issue.api.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { readSamples, SAMPLE_KEY } from '#test/kit/samples.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Reports that browsers post by themselves, through the running service, read back through the API. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
server.clock.set('2026-11-20T05:00:00.000Z')

let ada: Client
let key: string
let project: TestProject
let number: string

beforeAll(async () => {
  ada = await aFounder(server.url)
})

async function aFreshProject(): Promise<void> {
  project = await aProject(ada)
  ;({ key, projectNumber: number } = dsnParts(project.dsn))
}

const report = (body: unknown, type = 'application/csp-report', path = 'security/', headers: object = {}) =>
  fetch(`${server.url}/api/${number}/${path}?sentry_key=${key}&sentry_release=shop@2&sentry_environment=staging`, {
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

const csp = (host: string) => ({
  'csp-report': {
    'document-uri': 'https://shop.example/cart?user=ada',
    'effective-directive': 'img-src',
    'blocked-uri': `https://${host}/x.png`,
  },
})

const issues = async () =>
  (await ada.get(`/api/projects/${project.id}/issues?sort=first_seen`)).as<{ items: Issue[] }>().items

const outcomes = async (): Promise<string[]> =>
  (
    await server.app.db.query<{ line: string }>(
      `select category || ' ' || outcome || ' ' || reason || ' ' || quantity as line from outcomes_hourly where project_id = $1 order by 1`,
      [project.id],
    )
  ).rows.map((row) => row.line)

test('recorded reports of Chrome become two issues', async () => {
  project = await aProject(ada)
  await server.app.db.query('update projects set number = 4501 where id = $1', [project.id])
  await server.app.db.query('update project_keys set public_key = $2 where project_id = $1', [project.id, SAMPLE_KEY])
  for (const sample of readSamples(/\/security\//)) {
    const answer = await fetch(server.url + sample.url, {
      method: 'POST',
      headers: sample.headers,
      body: new Uint8Array(sample.body),
    })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  }
  await server.service.drain()
  expect((await issues()).map(({ title, culprit, level, severity }) => [title, culprit, level, severity])).toEqual([
    ["Blocked 'eval' in a script", 'script-src', 'error', 'medium'],
    ["Blocked 'image' from 'evil.local'", 'img-src', 'error', 'medium'],
  ])
  const [first] = await issues()
  const { event } = (await ada.get(`/api/issues/${first?.id}`)).as<IssueDetail>()
  expect(event).toMatchObject({
    type: 'csp',
    release: 'shop-web@2.3.0',
    environment: 'production',
    request: { url: 'http://localhost:8088/cart' },
    contexts: { browser: { name: expect.stringContaining('Chrome') as unknown } },
  })
  expect(await outcomes()).toEqual(['security accepted  2'])
})

test('a burst is one event per problem, address and minute', async () => {
  await aFreshProject()
  for (let i = 0; i < 5; i++) await report(csp('a.example'))
  await report(csp('b.example'))
  await server.service.drain()
  await report(csp('a.example'))
  await server.service.drain()
  expect(await outcomes()).toEqual(['security accepted  2', 'security duplicate  5'])
  server.clock.advance(60_000)
  await report(csp('a.example'))
  await server.service.drain()
  expect(await outcomes()).toContain('security accepted  3')
  expect((await issues()).map(({ event_count }) => event_count)).toEqual([2, 1])
})

test('the Reporting API: one event per violation; every element has an outcome', async () => {
  await aFreshProject()
  const violation = (host: string) => ({
    type: 'csp-violation',
    age: 60_000,
    url: 'https://shop.example/',
    user_agent: 'Mozilla/5.0',
    body: { documentURL: 'https://shop.example/', blockedURL: `https://${host}/`, effectiveDirective: 'script-src' },
  })
  const noise = { ...violation('x'), body: { blockedURL: 'chrome-extension', effectiveDirective: 'script-src' } }
  const answer = await report(
    [
      violation('a.example'),
      violation('b.example'),
      violation('a.example'),
      noise,
      { type: 'deprecation', body: {} },
      7,
    ],
    'application/reports+json; charset=utf-8',
    'csp-report',
  )
  expect(answer.status).toBe(200)
  await server.service.drain()
  expect(await outcomes()).toEqual([
    'security accepted  2',
    'security discarded unsupported_report 1',
    'security duplicate  1',
    'security filtered csp_noise 1',
    'security invalid not_an_object 1',
  ])
  const [first] = await issues()
  expect(Date.parse(first?.last_seen ?? '')).toBe(server.clock.now().getTime() - 60_000)
  await report(
    Array.from({ length: 130 }, (_, i) => violation(`h${i}.example`)),
    'application/reports+json',
  )
  await server.service.drain()
  expect(await outcomes()).toContain('security invalid too_many_reports 30')
  expect(await outcomes()).toContain('security accepted  102')
})

describe('refusals and bad input', () => {
  beforeAll(aFreshProject)

  test('another media type is 415, and the error names the accepted ones', async () => {
    for (const type of ['text/plain', 'text/html', 'multipart/form-data', 'application/xml']) {
      const answer = await report(csp('a'), type)
      expect(answer.status).toBe(415)
      expect(await answer.json()).toMatchObject({ error: expect.stringContaining('application/csp-report') as unknown })
    }
  })

  test('no key is 401, a preflight is answered', async () => {
    const url = `${server.url}/api/${number}/security/`
    expect(
      (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status,
    ).toBe(401)
    const preflight = await fetch(url, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([204, 'POST'])
    expect((await fetch(url)).status).toBe(405)
  })

  test('an invalid report is accepted and has the outcome invalid', async () => {
    for (const body of ['', '{', '[]', 'null', '5', '{"csp-report":5}', '['.repeat(10_000), '{"csp-report":{}}'])
      expect((await report(body)).status).toBe(200)
    await server.service.drain()
    const lines = await outcomes()
    expect(lines.every((line) => line.startsWith('security invalid'))).toBe(true)
    expect(lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(8)
    expect(await issues()).toEqual([])
  })

  test('a report inside an envelope is handled the same way', async () => {
    const payload = JSON.stringify(csp('envelope.example'))
    const body = `{}\n{"type":"raw_security","sentry_release":"e@1","length":${payload.length}}\n${payload}\n`
    const answer = await fetch(`${server.url}/api/${number}/envelope/?sentry_key=${key}`, { method: 'POST', body })
    expect(answer.status).toBe(200)
    await server.service.drain()
    expect(await issues()).toMatchObject([{ title: "Blocked 'image' from 'envelope.example'", first_release: 'e@1' }])
  })
})
