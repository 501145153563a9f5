import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { testServer } from '#test/kit/test-server.ts'

const server = await testServer({ env: { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_SCALE: '0.01' } })

test.each(['/docs/json', '/docs/yaml', '/api/openapi.json', '/docs/static/swagger-ui.css'].entries().toArray())(
  '%i: %s counts for the limit of its address',
  async (n, path) => {
    const statuses: number[] = []
    for (let call = 0; call < 8; call++) {
      const answer = await fetch(server.url + path, { headers: { 'x-forwarded-for': `203.0.113.${n}` } })
      statuses.push(answer.status)
      expect(answer.headers.get('ratelimit-policy')).toBe('"api";q=6;w=60')
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
    // Other addresses are not affected, and loopback has no limit in relaxed mode.
    expect((await fetch(server.url + path)).status).toBe(200)
  },
)

test('the document is the committed one, as JSON and as YAML', async () => {
  const committed: unknown = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'))
  for (const path of ['/docs/json', '/api/openapi.json'])
    expect(await (await fetch(server.url + path)).json()).toEqual(committed)
  expect(parse(await (await fetch(`${server.url}/docs/yaml`)).text())).toEqual(committed)
})
