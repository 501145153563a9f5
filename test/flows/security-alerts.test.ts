import { beforeEach, expect, test } from 'vitest'
import type { Alert } from '#server/alerts/rules/alerts.api.ts'
import type { TestProject } from '#test/kit/founder.ts'
import type { Founder } from '#test/kit/product.ts'
import { readSamples, SAMPLE_KEY } from '#test/kit/samples.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Security events from the intake to the alerts that they fire. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
let owner: Founder
let project: TestProject
beforeEach(async () => {
  owner = await t.founder()
  project = await t.project(owner)
})

async function aRule(conditions: Record<string, unknown> = {}): Promise<void> {
  const answer = await owner.post('/api/alerts', {
    projectId: project.id,
    name: 'Security',
    trigger_type: 'security_event',
    conditions,
    actions: [],
  })
  expect(answer.status, answer.text).toBe(201)
}

const titles = async (): Promise<string[]> =>
  (await owner.get(`/api/alerts/fired?projectId=${project.id}`))
    .as<{ items: Alert[] }>()
    .items.map(({ title }) => title)
    .sort()

const factsOf = async (): Promise<number> =>
  (await t.app.db.query('select 1 from security_hours where project_id = $1', [project.id])).rows.length

test('recorded reports of Chrome fire once per issue', async () => {
  await t.app.db.query('update projects set number = 4501 where id = $1', [project.id])
  await t.app.db.query('update project_keys set public_key = $2 where project_id = $1', [project.id, SAMPLE_KEY])
  await aRule()
  for (const { url, method, headers, body } of readSamples(/\/security\//)) {
    const answer = await fetch(t.url + url, { method, headers, body: new Uint8Array(body) })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
  }
  await t.service.drain()
  const issues = await t.issues(owner, `projectId=${project.id}`)
  expect(issues.length).toBeGreaterThan(0)
  expect(await titles()).toEqual(issues.map(({ title }) => `Security event: ${title}`).sort())
})

test('events of one issue are one alert, whatever their number', async () => {
  await aRule()
  const rooted = { error: 'alpha', contexts: { os: { name: 'Android', rooted: true } } }
  await t.events(
    project,
    Array.from({ length: 30 }, () => rooted),
  )
  await t.events(project, [rooted, { error: 'beta', tags: { security: 'tamper' } }, { error: 'gamma' }])
  expect(await titles()).toEqual(['Security event: alphaError: alpha failed', 'Security event: betaError: beta failed'])
  expect(await factsOf()).toBe(2)
})

test('a rule takes only its kinds', async () => {
  await aRule({ kinds: ['debugger'] })
  await t.events(project, [
    { error: 'alpha', tags: { rooted: true } },
    { error: 'beta', tags: { debugger: 'detected' } },
  ])
  expect(await titles()).toEqual(['Security event: betaError: beta failed'])
})

test('a network error report never fires', async () => {
  await aRule()
  const { key, projectNumber } = dsnParts(project.dsn)
  const report = {
    type: 'network-error',
    age: 10,
    url: 'https://shop.example/',
    body: { phase: 'connection', type: 'tcp.reset', elapsed_time: 5, status_code: 0 },
  }
  const answer = await fetch(`${t.url}/api/${projectNumber}/nel/?sentry_key=${key}`, {
    method: 'POST',
    headers: { 'content-type': 'application/reports+json' },
    body: JSON.stringify([report]),
  })
  expect(answer.status).toBe(200)
  await answer.arrayBuffer()
  await t.service.drain()
  expect((await t.app.db.query('select 1 from logs where project_id = $1', [project.id])).rows).toHaveLength(1)
  expect(await titles()).toEqual([])
})
