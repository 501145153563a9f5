import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { contract } from '#server/service/api/contract.ts'
import type { RouteSpec } from '#server/platform/kernel/contract.ts'
import { aPerson } from '#test/kit/members.ts'
import { EXAMPLES } from '#test/kit/route-examples.ts'
import { testServer } from '#test/kit/test-server.ts'

/** A client is written by docs/openapi.json, so each status that a call can meet must be in it. */

const t = await testServer({ env: { TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_SCALE: '0.001' } })
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.object({ responses: z.record(z.string(), z.unknown()) }))),
})
const { paths } = Document.parse(JSON.parse(readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8')))

type Name = keyof typeof contract
const routes = Object.entries(contract) as [Name, RouteSpec][]
const documented = ({ method, path }: RouteSpec): string[] =>
  Object.keys(paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]?.responses ?? {})

async function call({ method, path }: RouteSpec, headers: Record<string, string>, body: string | null, query = '') {
  const answer = await fetch(t.url + path.replaceAll(/:\w+/g, 'x') + query, {
    method,
    redirect: 'manual',
    headers,
    body: method === 'GET' ? null : body,
  })
  await answer.body?.cancel()
  return String(answer.status)
}

const JSON_TYPE = { 'content-type': 'application/json' }

test('of calls without a session, from another site, with a wrong body, and too many', async () => {
  const missing: string[] = []
  const met = new Set<string>()
  for (const [name, spec] of routes) {
    const calls: [what: string, headers: Record<string, string>, body: string | null][] = [
      ['nothing', {}, null],
      ['an empty object', JSON_TYPE, '{}'],
      ['text', { 'content-type': 'text/plain' }, 'text'],
      ['another site', { ...JSON_TYPE, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, '{}'],
      ['a wrong key', { ...JSON_TYPE, authorization: 'Bearer svc_wrong' }, '{}'],
    ]
    for (const [what, headers, body] of calls) {
      const status = await call(spec, headers, body)
      met.add(status)
      if (!documented(spec).includes(status)) missing.push(`${name}: ${status} of ${what}`)
    }
    for (let n = 0; n < 3; n++) {
      const status = await call(spec, { 'x-forwarded-for': '203.0.113.5' }, null)
      met.add(status)
      if (!documented(spec).includes(status)) missing.push(`${name}: ${status} of too many`)
    }
  }
  expect(missing).toEqual([])
  expect([...met].toSorted()).toEqual(expect.arrayContaining(['400', '401', '403', '429']))
})

test('of public calls whose secret is used, wrong or unknown', async () => {
  const missing: string[] = []
  for (const [name, spec] of routes.filter(
    ([, { permission, method }]) => permission === 'public' && method === 'POST',
  )) {
    const { body, raw, headers = {}, query } = await EXAMPLES[name](t.app, await aPerson(t.app), await aPerson(t.app))
    const wrong = Object.fromEntries(
      Object.entries(body ?? {}).map(([key, value]) => [key, /password|code/i.test(key) ? '999999-Wrong-1!' : value]),
    )
    for (const sent of [wrong, body, body]) {
      const text = raw === undefined ? (sent === undefined ? null : JSON.stringify(sent)) : String(raw)
      const status = await call(spec, { ...(raw === undefined ? JSON_TYPE : {}), ...headers }, text, query)
      if (!documented(spec).includes(status)) missing.push(`${name}: ${status}`)
    }
  }
  expect(missing).toEqual([])
})
