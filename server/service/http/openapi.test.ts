import { expect, test } from 'vitest'
import { z } from 'zod'
import { routes } from '../../platform/kernel/contract.ts'
import { apiSchemas } from '../api/api-schemas.ts'
import { contract } from '../api/contract.ts'
import { openApiDocument } from './openapi.ts'

const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.record(z.string(), z.record(z.string(), z.unknown())),
})
const document = Document.parse(openApiDocument(contract, apiSchemas, '1.2.3'))

test('every path has at most 8 kB', () => {
  const sizes = Object.entries(document.paths).map(
    ([path, item]) => [path, JSON.stringify(item, null, 2).length] as const,
  )
  expect(sizes.filter(([, bytes]) => bytes > 8_000)).toEqual([])
})

test('every reference has a component, and every named schema is used', () => {
  const text = JSON.stringify(document)
  const references = new Set(
    [...text.matchAll(/"\$ref":"#\/components\/([^/"]+)\/([^"]+)"/g)].map(([, kind, name]) => `${kind}/${name}`),
  )
  const components = Object.entries(document.components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, members]) => Object.keys(members).map((name) => `${kind}/${name}`))
  expect([...references].sort()).toEqual(components.sort())
  expect(text).not.toContain('#/$defs/')
  for (const name of Object.keys(apiSchemas)) expect(document.components['schemas']).toHaveProperty(name)
})

test('a schema that accepts other values than it returns is two components', () => {
  const Draft = z.object({ name: z.string().default('new') })
  const { components } = Document.parse(
    openApiDocument(
      routes({
        a: {
          method: 'POST',
          path: '/api/a',
          summary: 'A',
          tag: 'A',
          permission: 'self',
          body: z.strictObject({ draft: Draft }),
          response: Draft,
        },
      }),
      { Draft },
      '1',
    ),
  )
  expect(components['schemas']).toMatchObject({
    Draft: { required: ['name'] },
    ARequest: { properties: { draft: { $ref: '#/components/schemas/DraftInput' } } },
  })
  expect(components['schemas']?.['DraftInput']).not.toHaveProperty('required')
})

test('two different schemas with one name throw', () => {
  const [one, other] = [z.object({ a: z.string() }), z.object({ b: z.string() })]
  z.globalRegistry.add(one, { id: 'Same' })
  expect(() =>
    openApiDocument(
      routes({
        a: { method: 'GET', path: '/api/a', summary: 'A', tag: 'A', permission: 'self', response: one },
        b: { method: 'GET', path: '/api/b', summary: 'B', tag: 'B', permission: 'self', response: other },
      }),
      { Same: other },
      '1',
    ),
  ).toThrow()
})
