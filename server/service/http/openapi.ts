import { z } from 'zod'
import { PERMISSIONS, type Rule } from '#shared/permissions.ts'
import type { RouteSpec, RouteSpecs } from '../../platform/kernel/contract.ts'

type Json = { [key: string]: unknown }

const REFUSALS: Readonly<Record<number, { readonly name: string; readonly description: string }>> = {
  400: { name: 'Invalid', description: 'The request is not valid; the message names the field.' },
  401: { name: 'Unauthenticated', description: 'Not authenticated.' },
  403: { name: 'Forbidden', description: 'Authenticated, but the role or the origin does not allow it.' },
  404: { name: 'NotFound', description: 'Not found in your organisation.' },
  409: { name: 'Conflict', description: 'In conflict with the current state.' },
  429: { name: 'RateLimited', description: 'Too many requests; see Retry-After.' },
}

/** Schemas by the names they have in the document. */
export type NamedSchemas = Readonly<Record<string, z.ZodType>>

/**
 * The contract as an OpenAPI 3.1 document; the same contract always gives the same text. Named schemas, refusals and
 * parameters that several operations share become components, so that a change shows once in review and client
 * generators get types with names.
 * @throws Error when two schemas with the same name differ
 */
export function openApiDocument(specs: RouteSpecs, named: NamedSchemas, version: string): Json {
  name(specs, named)
  const components = new Components(specs)
  const parameters = new SharedParameters(specs, components)
  const paths: Record<string, Json> = {}
  for (const [operationId, spec] of Object.entries(specs)) {
    const path = spec.path.replace(/:(\w+)/g, '{$1}')
    const operation = operationOf(operationId, spec, components, parameters)
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Faultline API',
      version,
      description:
        'REST API of Faultline, a crash and performance monitoring service. SDKs send events to the ingestion endpoint of their DSN, which is not part of this document.',
    },
    tags: [...new Set(Object.values(specs).map((spec) => spec.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'svc_access', description: 'Set by POST /api/auth/login.' },
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of POST /api/api-keys.' },
      },
      parameters: parameters.shared,
      responses: Object.fromEntries(
        Object.values(REFUSALS).map(({ name, description }) => [
          name,
          { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
        ]),
      ),
      schemas: {
        Error: {
          type: 'object',
          required: ['error'],
          properties: {
            error: { type: 'string', description: 'One sentence that says what is wrong and what to do.' },
            position: {
              type: 'object',
              description: 'Of a query that cannot be read: the place of the mistake, from 0.',
              required: ['start', 'end'],
              properties: { start: { type: 'integer' }, end: { type: 'integer' } },
            },
            hints: {
              type: 'array',
              description: 'Of a query that cannot be read: what may be meant instead.',
              items: {
                type: 'object',
                required: ['start', 'end', 'sentence', 'replacement'],
                properties: {
                  start: { type: 'integer' },
                  end: { type: 'integer' },
                  sentence: { type: 'string' },
                  replacement: { type: ['string', 'null'] },
                },
              },
            },
          },
        },
        ...components.schemas,
      },
    },
  }
}

/** Names every schema of the document: first those listed, then requests and responses by their operation. */
function name(specs: RouteSpecs, named: NamedSchemas): void {
  const add = (schema: z.ZodType | undefined, id: string) => {
    const meta = schema === undefined ? undefined : z.globalRegistry.get(schema)
    if (schema !== undefined && meta?.id === undefined) z.globalRegistry.add(schema, { ...meta, id })
  }
  for (const [id, schema] of Object.entries(named)) add(schema, id)
  for (const [operationId, { body, response }] of Object.entries(specs)) {
    const id = operationId.charAt(0).toUpperCase() + operationId.slice(1)
    add(body, `${id}Request`)
    add(response, `${id}Response`)
  }
}

function operationOf(operationId: string, spec: RouteSpec, components: Components, shared: SharedParameters): Json {
  const rule: Rule | null = PERMISSIONS[spec.permission]
  const access = rule === null ? 'Needs no session.' : `Minimum role: ${rule.minRole}. ${keyAccess(rule)}`
  const refusals = [400, ...(rule === null ? [] : [401, 403]), ...(spec.refusals ?? [])]
  return {
    operationId,
    tags: [spec.tag],
    summary: spec.summary,
    description: spec.description === undefined ? access : `${spec.description}\n\n${access}`,
    security: rule === null ? [] : [{ session: [] }, ...(rule.scope === null ? [] : [{ apiKey: [] }])],
    parameters: parametersOf(spec, components).map((parameter) => shared.referenceTo(parameter)),
    ...(spec.body === undefined
      ? {}
      : {
          requestBody: {
            required: !spec.body.safeParse(undefined).success,
            content: { 'application/json': { schema: components.schemaOf(spec.body, 'input') } },
          },
        }),
    ...(spec.rawBody === true ? { requestBody: { required: true, content: { '*/*': {} } } } : {}),
    responses: {
      [spec.stream === 'redirect' ? '302' : String(spec.status ?? 200)]: successOf(spec, components),
      ...(spec.otherStatus === undefined ? {} : { [String(spec.otherStatus)]: successOf(spec, components) }),
      ...Object.fromEntries(
        [...new Set(refusals)]
          .sort((a, b) => a - b)
          .map((code) => [String(code), { $ref: `#/components/responses/${REFUSALS[code]?.name ?? ''}` }]),
      ),
    },
  }
}

function keyAccess({ scope }: Rule): string {
  if (scope === null) return 'Sessions only.'
  return scope === 'any' ? 'Any API key.' : `API-key scope: ${scope}.`
}

function successOf(spec: RouteSpec, components: Components): Json {
  if (spec.stream === 'sse')
    return {
      description: 'A stream of server-sent events.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }
  if (spec.stream === 'redirect') return { description: 'A redirect.' }
  if (spec.stream === 'file')
    return {
      description: 'The file.',
      content: {
        'application/octet-stream': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } },
      },
    }
  if (spec.response === undefined) return { description: 'Done.' }
  const schema = components.schemaOf(spec.response, 'output')
  const csv = spec.csv === undefined ? {} : { 'text/csv': { schema: { type: 'string' } } }
  return { description: 'Done.', content: { 'application/json': { schema }, ...csv } }
}

type Parameter = { readonly name: string } & Json

function parametersOf(spec: RouteSpec, components: Components): Parameter[] {
  return [...parametersIn(spec.params, 'path', components), ...parametersIn(spec.query, 'query', components)]
}

function parametersIn(schema: z.ZodObject | undefined, place: 'path' | 'query', components: Components): Parameter[] {
  if (schema === undefined) return []
  const whole = components.schemaOf(schema, 'input')
  const properties = z.record(z.string(), z.record(z.string(), z.unknown())).parse(whole['properties'] ?? {})
  const required = z.array(z.string()).parse(whole['required'] ?? [])
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

/** Parameters that two or more operations declare alike: a component each, named as the parameter. */
class SharedParameters {
  readonly shared: Record<string, Parameter> = {}
  readonly #names = new Map<string, string>()

  constructor(specs: RouteSpecs, components: Components) {
    const uses = new Map<string, { parameter: Parameter; count: number }>()
    for (const parameter of Object.values(specs).flatMap((spec) => parametersOf(spec, components))) {
      const text = JSON.stringify(parameter)
      const use = uses.get(text) ?? { parameter, count: 0 }
      use.count++
      uses.set(text, use)
    }
    for (const [text, { parameter, count }] of uses) {
      if (count < 2) continue
      let name = parameter.name
      for (let n = 2; name in this.shared; n++) name = `${parameter.name}_${n}`
      this.shared[name] = parameter
      this.#names.set(text, name)
    }
  }

  referenceTo(parameter: Parameter): Json {
    const name = this.#names.get(JSON.stringify(parameter))
    return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
  }
}

const Definitions = z.record(z.string(), z.record(z.string(), z.unknown()))

type Direction = 'input' | 'output'

/**
 * JSON schemas of a contract in which named schemas are references. A schema that accepts other values than it returns
 * (because of defaults or transformations) is two components: `ViewFilters` and `ViewFiltersInput`.
 */
class Components {
  /** Every named schema the contract uses, by its name in the document. */
  readonly schemas: Record<string, Json> = {}
  readonly #inputNames = new Map<string, string>()

  constructor(specs: RouteSpecs) {
    const input = new Map<string, Json>()
    const output = new Map<string, Json>()
    for (const { params, query, body, response } of Object.values(specs)) {
      for (const schema of [params, query, body]) if (schema !== undefined) collect(schema, 'input', input)
      if (response !== undefined) collect(response, 'output', output)
    }
    for (const [name, definition] of input) {
      const returned = output.get(name)
      const isAlike = returned === undefined || JSON.stringify(returned) === JSON.stringify(definition)
      this.#inputNames.set(name, isAlike ? name : `${name}Input`)
    }
    const names = [...new Set([...output.keys(), ...this.#inputNames.values()])].sort()
    for (const name of names) {
      const returned = output.get(name)
      const accepted = input.get(name) ?? input.get(name.replace(/Input$/, ''))
      const definition = returned ?? accepted
      if (definition !== undefined)
        this.schemas[name] = this.#withReferences(definition, returned === undefined ? 'input' : 'output')
    }
  }

  schemaOf(schema: z.ZodType, direction: Direction): Json {
    const { $schema: _, $defs: _definitions, ...rest } = jsonSchemaOf(schema, direction)
    return this.#withReferences(rest, direction)
  }

  #withReferences(value: Json, direction: Direction): Json
  #withReferences(value: unknown, direction: Direction): unknown
  #withReferences(value: unknown, direction: Direction): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#withReferences(one, direction))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, one]): [string, unknown] => {
        if (key !== '$ref' || typeof one !== 'string') return [key, this.#withReferences(one, direction)]
        const name = one.replace('#/$defs/', '')
        return [key, `#/components/schemas/${direction === 'input' ? (this.#inputNames.get(name) ?? name) : name}`]
      }),
    )
  }
}

/** @throws Error when two schemas with the same name differ */
function collect(schema: z.ZodType, direction: Direction, into: Map<string, Json>): void {
  for (const [name, { id: _, ...definition }] of Object.entries(
    Definitions.parse(jsonSchemaOf(schema, direction).$defs ?? {}),
  )) {
    const known = into.get(name)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition))
      throw new Error(`two schemas of the contract are named ${name}`)
    into.set(name, definition)
  }
}

const jsonSchemaOf = (schema: z.ZodType, io: Direction) =>
  z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      // `format` already says it; the pattern of an integer in a query string only describes its text.
      if (jsonSchema.format !== undefined || jsonSchema.type === 'integer') delete jsonSchema.pattern
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      // Responses may get further fields in later versions.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
