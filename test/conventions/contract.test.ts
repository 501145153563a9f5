import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { packageVersion } from '#server/config.ts'
import { apiSchemas } from '#server/http/api-schemas.ts'
import { contract } from '#server/http/contract.ts'
import { handlers } from '#server/http/handlers.ts'
import { openApiDocument } from '#server/http/openapi.ts'
import type { RouteSpec } from '#server/kernel/contract.ts'
import { newId } from '#server/kernel/ids.ts'
import { PERMISSIONS } from '#shared/permissions.ts'

const specs: [string, RouteSpec][] = Object.entries(contract)

describe.each(specs)('route %s', (name, spec) => {
  test('says what it does', () => {
    expect(spec.summary).toMatch(/^[A-Z].{5,}[^.]$/)
    expect(spec.tag).not.toBe('')
  })

  test('has an entry in the permission matrix', () => {
    expect(Object.keys(PERMISSIONS)).toContain(spec.permission)
  })

  test('has a handler', () => {
    expect(handlers).toHaveProperty(name)
  })

  test('declares what it answers: a shape, a stream, or 204', () => {
    const answers = [spec.response !== undefined, spec.stream !== undefined, spec.status === 204]
    expect(answers.filter(Boolean)).toHaveLength(1)
  })

  test('names every parameter of its path, and no other', () => {
    const named = [...spec.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    expect(Object.keys(spec.params?.shape ?? {}).sort()).toEqual(named.sort())
  })

  test('checks for cross-site calls when it changes something without a session', () => {
    if (spec.permission === 'public' && spec.method !== 'GET') expect(spec.csrf).toBe(true)
  })

  test('gives 25 rows of a list unless told otherwise', () => {
    if (spec.query === undefined || !('limit' in spec.query.shape)) return
    const asked = 'projectId' in spec.query.shape ? { projectId: newId() } : {}
    expect(spec.query.parse(asked)).toMatchObject({ limit: 25, offset: 0 })
  })

  test('says it can be missing when its path names a thing', () => {
    if (spec.params !== undefined) expect(spec.refusals).toContain(404)
  })
})

test('no two routes share method and path', () => {
  const addresses = specs.map(([, spec]) => `${spec.method} ${spec.path}`)
  expect(new Set(addresses).size).toBe(addresses.length)
})

test('docs/openapi.json is what the contract says; otherwise run "npm run openapi"', () => {
  const committed: unknown = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'))
  expect(committed).toEqual(JSON.parse(JSON.stringify(openApiDocument(contract, apiSchemas, packageVersion()))))
})
