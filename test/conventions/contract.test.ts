import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import SwaggerParser from '@apidevtools/swagger-parser'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { packageVersion } from '#server/config/manifest.ts'
import { apiSchemas } from '#server/service/api/api-schemas.ts'
import { contract } from '#server/service/api/contract.ts'
import { fieldDescriptions } from '#server/service/api/field-descriptions.ts'
import { openApiDocument } from '#server/service/http/openapi.ts'
import type { RouteSpec } from '#server/platform/kernel/contract.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { permissionsPage } from '../../scripts/permissions-page.ts'

const specs: [string, RouteSpec][] = Object.entries(contract)
const document = openApiDocument(contract, apiSchemas, packageVersion(), fieldDescriptions)

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
  expect(committed).toEqual(JSON.parse(JSON.stringify(document)))
})

test('docs/openapi.json is valid by two independent validators', async () => {
  const copy = (): unknown => structuredClone(document)
  await expect(SwaggerParser.validate(copy() as never)).resolves.toHaveProperty('openapi', '3.1.0')
  expect(await new Validator().validate(copy() as never)).toEqual({ valid: true })
})

test('no component of docs/openapi.json lacks a name', () => {
  const { components } = z
    .object({ components: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(document)
  const names = Object.values(components).flatMap((group) => Object.keys(group))
  expect(names.filter((name) => !/^[A-Za-z]\w*$/.test(name))).toEqual([])
  for (const name of ['Alert', 'AlertRule', 'ApiKey', 'Invite', 'Issue', 'Release', 'Webhook'])
    expect(components['schemas']).toHaveProperty(name)
})

test('every property and parameter of docs/openapi.json has a description', () => {
  const isSentence = (text: unknown): boolean => typeof text === 'string' && !/^(?:$|Default: ["[{\dtfn])/.test(text)
  const problems: string[] = []
  const Field = z.record(z.string(), z.unknown())
  const Fields = z.union([z.array(Field), z.record(z.string(), Field)])
  const walk = (node: unknown, at: string): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, value] of Object.entries(node)) {
      const { data: fields = {} } = key === 'properties' || key === 'parameters' ? Fields.safeParse(value) : {}
      for (const [name, { description, $ref }] of Object.entries(fields))
        if (!isSentence(description) && (key === 'properties' || $ref === undefined))
          problems.push(`${at}/${key}/${name}`)
      walk(value, `${at}/${key}`)
    }
  }
  walk(document, '')
  expect(problems).toEqual([])
})

test('a description of what may be null says when it is', () => {
  const mayBeNull = (schema: unknown): boolean => {
    const { data } = Nullable.safeParse(schema)
    return data !== undefined && ([data.type].flat().includes('null') || (data.anyOf ?? []).some(mayBeNull))
  }
  const Nullable = z.object({
    description: z.string().default(''),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    anyOf: z.array(z.unknown()).optional(),
  })
  const problems: string[] = []
  const walk = (node: unknown, at: string): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, value] of Object.entries(node)) {
      const { data: fields = {} } = key === 'properties' ? z.record(z.string(), Nullable).safeParse(value) : {}
      for (const [name, field] of Object.entries(fields))
        if (mayBeNull(field) && !/\bnever null\b|\bnull\b\W+\w/i.test(field.description))
          problems.push(`${at}/${name}: ${field.description}`)
      walk(value, `${at}/${key}`)
    }
  }
  walk(document, '')
  expect(problems).toEqual([])
})

test('a description of a duration, and of a share, says its unit', () => {
  const UNITS: readonly (readonly [RegExp, RegExp])[] = [
    [/_ms$/, /milliseconds/i],
    [/_seconds$/, /seconds/i],
    [/(?:^|_)(?:share|rate|ratio|coverage)$|^(?:adoption|crash_free)_(?:users|sessions|trend)$/, /0 to 1|÷/],
  ]
  const Field = z.object({ description: z.string(), type: z.unknown().optional(), anyOf: z.unknown().optional() })
  const problems: string[] = []
  const walk = (node: unknown, at: string): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, value] of Object.entries(node)) {
      const { data: field } = Field.safeParse(value)
      const isNumber = /"(?:number|integer)"/.test(JSON.stringify([field?.type, field?.anyOf]))
      if (field !== undefined && isNumber)
        for (const [name, unit] of UNITS)
          if (name.test(key) && !unit.test(field.description)) problems.push(`${at}/${key}: ${field.description}`)
      walk(value, `${at}/${key}`)
    }
  }
  walk(document, '')
  expect(problems).toEqual([])
})

test('every list has a total, or a description says why not', () => {
  const Field = z.looseObject({ description: z.string().default('') })
  const Schema = Field.extend({ type: z.unknown().optional(), properties: z.record(z.string(), Field).default({}) })
  const { schemas } = z
    .object({ components: z.object({ schemas: z.record(z.string(), Schema) }) })
    .parse(document).components
  const isFine = ([name, { response, description = '' }]: (typeof specs)[number]): boolean => {
    const schema = response === undefined ? undefined : schemas[z.globalRegistry.get(response)?.id ?? '']
    if (schema === undefined) return true
    const { type, properties } = schema
    const isList = type === 'array' || 'items' in properties || 'next_cursor' in properties || name.startsWith('list')
    const texts = [description, schema.description, properties['items']?.description]
    return !isList || 'total' in properties || texts.some((text) => text?.includes('no total'))
  }
  expect(specs.filter((one) => !isFine(one)).map(([name]) => name)).toEqual([])
})

/** Values of an answer that have the digits they were sent or set with. */
const AS_GIVEN =
  /\.(?:additionalProperties|payload|request\.data|lineno|colno|mechanism\.\w+|user_share|request_failure_limit|conditions\.\w+|threshold|schedule\.value|listTraceMetrics\.value|last_value)$/

test('no number of an answer has digits that only arithmetic put there', () => {
  const isUnrounded = new Map<string, boolean>()
  for (const [name, { response }] of specs) {
    if (response === undefined) continue
    z.toJSONSchema(response, {
      io: 'output',
      unrepresentable: 'any',
      // A schema comes after the one that it was made of.
      override: ({ zodSchema, path }) => {
        const at = [name, ...path.filter((part) => !/^(?:properties|items|anyOf|oneOf|\d+)$/.test(String(part)))]
        isUnrounded.set(at.join('.'), z.core.safeParse(zodSchema, 1 / 3).data === 1 / 3)
      },
    })
  }
  const found = [...isUnrounded].filter(([at, is]) => is && !AS_GIVEN.test(`.${at}`))
  expect(found.map(([at]) => at)).toEqual([])
})

test('entities of the API have names of their own, not those of operations', () => {
  const { components } = z
    .object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) })
    .parse(document)
  const text = JSON.stringify(components.schemas)
  const shared = Object.keys(components.schemas).filter((name) => text.includes(`schemas/${name}"`))
  expect(shared.filter((name) => name.endsWith('Response'))).toEqual([])
})

test('docs/permissions.md matches the contract ("npm run openapi" writes it)', () => {
  expect(readFileSync(new URL('../../docs/permissions.md', import.meta.url), 'utf8')).toBe(permissionsPage(contract))
})
