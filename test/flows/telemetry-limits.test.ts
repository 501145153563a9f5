import { expect, test } from 'vitest'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'

const server = await testServer()

test('over the rate limit a check-in by URL is answered 202, an export 429 with Retry-After', async () => {
  const owner = await aFounder(server.url)
  const one = await aProject(owner)
  await owner.patch(`/api/projects/${one.id}/settings`, { rate_limit_per_minute: 9 })
  const dsn = dsnParts(one.dsn)
  const at = `${server.url}/api/${one.number}`
  // A third of a minute's allowance at once; ten times as many entries in containers.
  for (let n = 0; n < 5; n++) expect((await fetch(`${at}/cron/a/${dsn.key}/`)).status).toBe(202)

  const logRecords = Array.from({ length: 30 }, () => ({ body: { stringValue: 'x' } }))
  const exported = () =>
    fetch(`${at}/otlp/v1/logs?sentry_key=${dsn.key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
    })
  expect((await exported()).status).toBe(200)
  const refused = await exported()
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(refused.headers.get('x-sentry-rate-limits')).toMatch(/^\d+:log_item:key:/)
  expect(await refused.json()).toMatchObject({ code: 8, message: expect.any(String) as string })

  await server.service.drain()
  const rows = await waitFor('the refusals to be written', async () => {
    const found = await server.app.db.query<{ name: string; quantity: number }>(
      `select category || ':' || outcome as name, sum(quantity)::int as quantity
       from outcomes_hourly where project_id = $1 group by 1 order by 1`,
      [one.id],
    )
    return found.rows.length === 4 ? found.rows : null
  })
  expect(Object.fromEntries(rows.map(({ name, quantity }) => [name, quantity]))).toEqual({
    'log_item:accepted': 30,
    'log_item:rate_limited': 30,
    'monitor:accepted': 3,
    'monitor:rate_limited': 2,
  })
})
