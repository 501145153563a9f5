import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import SwaggerParser from '@apidevtools/swagger-parser'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { packageVersion } from '#server/config.ts'
import { apiSchemas } from '#server/service/api/api-schemas.ts'
import { contract } from '#server/service/api/contract.ts'
import { fieldDescriptions } from '#server/service/api/field-descriptions.ts'
import { openApiDocument } from '#server/service/http/openapi.ts'
import type { RouteSpec } from '#server/platform/kernel/contract.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { permissionsPage } from '../../scripts/permissions-page.ts'

const specs: [string, RouteSpec][] = Object.entries(contract)

/** Names of the routes that break a rule. Types ensure that each has a handler and a known permission. */
const offenders = (holds: (spec: RouteSpec) => boolean): string[] =>
  specs.flatMap(([name, spec]) => (holds(spec) ? [] : [name]))

test('every route has a summary and a tag', () => {
  expect(offenders(({ summary, tag }) => /^[A-Z].{5,}[^.]$/.test(summary) && tag !== '')).toEqual([])
})

test('every route declares its response: a shape, a stream, or 204', () => {
  const answers = ({ response, stream, status }: RouteSpec) => [
    response !== undefined,
    stream !== undefined,
    status === 204,
  ]
  expect(offenders((spec) => answers(spec).filter(Boolean).length === 1)).toEqual([])
})

test('every route declares the parameters of its path, and no others', () => {
  const inPath = ({ path }: RouteSpec) => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const named = ({ params }: RouteSpec) => Object.keys(params?.shape ?? {})
  expect(offenders((spec) => named(spec).toSorted().join() === inPath(spec).toSorted().join())).toEqual([])
})

test('every public route that changes data checks for cross-site requests, or what the request itself proves', () => {
  expect(
    offenders(
      ({ permission, method, csrf, rawBody }) =>
        permission !== 'public' || method === 'GET' || csrf === true || rawBody === true,
    ),
  ).toEqual([])
  expect(
    offenders(({ permission, rawBody, body }) => rawBody !== true || (permission === 'public' && body === undefined)),
  ).toEqual([])
})

test('a route that takes a file takes nothing else as its body, from known callers or with a signature only', () => {
  const isFine = ({ upload, body, rawBody, permission, method }: RouteSpec): boolean =>
    upload === undefined || (body === undefined && (rawBody === true) === (permission === 'public') && method !== 'GET')
  expect(offenders(isFine)).toEqual([])
})

/** Short lists without pages. */
const SHORT_LISTS: Readonly<Record<string, number>> = {
  '/api/alerts/recent': 20,
  '/api/issues/suggestions': 10,
  '/api/issues/:issueId/similar': 5,
}

test('every list gives 25 rows by default, the audit log 50, short lists their own number', () => {
  const isFine = ({ query, path }: RouteSpec): boolean => {
    if (query === undefined || !('limit' in query.shape)) return true
    const required = { projectId: newId(), dimension: 'device' }
    const given = Object.fromEntries(Object.entries(required).filter(([name]) => name in query.shape))
    const { limit, offset } = query.parse(given)
    const short = SHORT_LISTS[path]
    if (short !== undefined) return limit === short
    return limit === (path === '/api/audit-log' ? 50 : 25) && offset === 0
  }
  expect(offenders(isFine)).toEqual([])
})

test('every route with an id in its path can answer 404', () => {
  // Redirects send the browser to a page that says so.
  const isFine = ({ params, refusals, stream }: RouteSpec): boolean =>
    params === undefined || stream === 'redirect' || refusals?.includes(404) === true
  expect(offenders(isFine)).toEqual([])
})

test('no two routes have the same method and path', () => {
  const addresses = specs.map(([, spec]) => `${spec.method} ${spec.path}`)
  expect(new Set(addresses).size).toBe(addresses.length)
})

test('docs/openapi.json matches the contract ("npm run openapi" writes it)', () => {
  const committed: unknown = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'))
  expect(committed).toEqual(
    JSON.parse(JSON.stringify(openApiDocument(contract, apiSchemas, packageVersion(), fieldDescriptions))),
  )
})

test('docs/openapi.json is valid by two independent validators', async () => {
  const document = () => openApiDocument(contract, apiSchemas, packageVersion(), fieldDescriptions)
  await expect(SwaggerParser.validate(document() as never)).resolves.toHaveProperty('openapi', '3.1.0')
  expect(await new Validator().validate(document())).toEqual({ valid: true })
})

test('no component of docs/openapi.json lacks a name', () => {
  const { components } = z
    .object({ components: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(openApiDocument(contract, apiSchemas, packageVersion(), fieldDescriptions))
  const names = Object.values(components).flatMap((group) => Object.keys(group))
  expect(names.filter((name) => !/^[A-Za-z]\w*$/.test(name))).toEqual([])
  for (const name of ['Alert', 'AlertRule', 'ApiKey', 'Invite', 'Issue', 'Release', 'Webhook'])
    expect(components['schemas']).toHaveProperty(name)
})

test('every property and parameter of docs/openapi.json has a description', () => {
  const problems: string[] = []
  const Field = z.record(z.string(), z.unknown())
  const Fields = z.union([z.array(Field), z.record(z.string(), Field)])
  const walk = (node: unknown, at: string): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, value] of Object.entries(node)) {
      const { data: fields = {} } = key === 'properties' || key === 'parameters' ? Fields.safeParse(value) : {}
      for (const [name, { description, $ref }] of Object.entries(fields))
        if (!description && (key === 'properties' || $ref === undefined)) problems.push(`${at}/${key}/${name}`)
      walk(value, `${at}/${key}`)
    }
  }
  walk(openApiDocument(contract, apiSchemas, packageVersion(), fieldDescriptions), '')
  expect(problems).toEqual([])
})

test('entities of the API have names of their own, not those of operations', () => {
  const { components } = z
    .object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) })
    .parse(openApiDocument(contract, apiSchemas, packageVersion(), fieldDescriptions))
  const text = JSON.stringify(components.schemas)
  const shared = Object.keys(components.schemas).filter((name) => text.includes(`schemas/${name}"`))
  expect(shared.filter((name) => name.endsWith('Response'))).toEqual([])
})

test('docs/permissions.md matches the contract ("npm run openapi" writes it)', () => {
  expect(readFileSync(new URL('../../docs/permissions.md', import.meta.url), 'utf8')).toBe(permissionsPage(contract))
})
