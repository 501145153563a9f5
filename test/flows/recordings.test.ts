import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { readIntakeSamples, type Sample } from '#test/kit/samples.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Every recording of the envelope and store endpoints through the running service, read back through the API. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
server.clock.set('2026-11-20T05:00:00.000Z')

const Expectation = z.object({
  title: z.string(),
  culprit: z.string(),
  level: z.string(),
  platform: z.string(),
  release: z.string().nullable(),
  environment: z.string(),
  frames: z.array(z.number()),
  crumbs: z.number(),
  issue: z.string(),
})
const expectations = z
  .record(z.string(), Expectation)
  .parse(JSON.parse(readFileSync(new URL('../fixtures/protocol/expectations.json', import.meta.url), 'utf8')))

async function replay(sample: Sample): Promise<{ status: number; id: string | null }> {
  const response = await fetch(server.url + sample.url, {
    method: sample.method,
    headers: sample.headers,
    body: new Uint8Array(sample.body),
  })
  const body = z.object({ id: z.string().optional() }).parse(await response.json())
  return { status: response.status, id: body.id ?? null }
}

test('all recordings are accepted, and every event in them is in the expected issue', async () => {
  const ada = await aFounder(server.url)
  const project = await aProject(ada, { name: 'Recorded' })
  // The recordings name project 4501 and its key.
  await server.app.db.query('update projects set number = 4501 where id = $1', [project.id])
  await server.app.db.query(
    `update project_keys set public_key = '0123456789abcdef0123456789abcdef' where project_id = $1`,
    [project.id],
  )

  const samples = readIntakeSamples()
  expect(samples).toHaveLength(144)
  const ids = new Map<string, string>()
  for (const sample of samples) {
    const answer = await replay(sample)
    expect(answer.status, sample.name).toBe(200)
    if (answer.id !== null) ids.set(sample.name, answer.id)
  }
  await server.service.drain()

  const items = await server.issues(ada, 'limit=100')
  const issueNames = new Set(Object.values(expectations).map((one) => one.issue))
  expect(items).toHaveLength(issueNames.size)

  const { rows } = await server.app.db.query<{ event_id: string; issue_id: string }>(
    'select event_id, issue_id from events where project_id = $1',
    [project.id],
  )
  const issueOf = new Map(rows.map((row) => [row.event_id.replaceAll('-', ''), row.issue_id]))
  const groups = new Map<string, Set<string>>()
  for (const [name, expected] of Object.entries(expectations)) {
    const eventId = ids.get(name) ?? ''
    const issueId = issueOf.get(eventId)
    expect(issueId, name).toBeDefined()
    groups.set(expected.issue, (groups.get(expected.issue) ?? new Set()).add(issueId ?? ''))
    const detail = (await ada.get(`/api/issues/${issueId}?event=${eventId}`)).as<IssueDetail>()
    expect(
      {
        title: detail.event?.title,
        culprit: detail.event?.culprit,
        level: detail.event?.level,
        platform: detail.event?.platform,
        release: detail.event?.release,
        environment: detail.event?.environment,
        frames: detail.event?.exceptions.map((one) => one.stacktrace?.frames.length ?? 0),
        crumbs: detail.event?.breadcrumbs.length,
      },
      name,
    ).toEqual({
      title: expected.title,
      culprit: expected.culprit,
      level: expected.level,
      platform: expected.platform,
      release: expected.release,
      environment: expected.environment,
      frames: expected.frames,
      crumbs: expected.crumbs,
    })
  }
  expect([...groups.values()].every((issues) => issues.size === 1)).toBe(true)

  // Every event has an outcome, and none is in quarantine.
  const outcomes = await server.app.db.query<{ outcome: string; quantity: number }>(
    "select outcome, sum(quantity)::bigint as quantity from outcomes_hourly where project_id = $1 and category = 'error' group by outcome order by outcome",
    [project.id],
  )
  // Two recordings contain the same event: the command line tool sent it twice.
  const distinct = new Set(Object.keys(expectations).map((name) => ids.get(name))).size
  expect(outcomes.rows.filter((row) => row.outcome !== 'discarded')).toEqual([
    { outcome: 'accepted', quantity: distinct },
    { outcome: 'duplicate', quantity: Object.keys(expectations).length - distinct },
  ])
  expect((await server.app.db.query('select 1 from spool_quarantine')).rows).toHaveLength(0)
})

test('unsupported endpoints answer 404 in the format that SDKs and tools understand', async () => {
  for (const path of [
    '/api/4501/upload/',
    '/api/4501/unreal/0123456789abcdef0123456789abcdef/',
    '/api/4501/integration/otlp/v1/metrics',
  ]) {
    const response = await fetch(`${server.url}${path}?sentry_key=0123456789abcdef0123456789abcdef`, {
      method: 'POST',
      body: '{}',
    })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({
      detail: expect.any(String) as string,
      error: expect.any(String) as string,
    })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  }
})
