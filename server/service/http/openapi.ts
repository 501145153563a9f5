import { z } from 'zod'
import { PERMISSIONS, type Rule } from '#shared/permissions.ts'
import type { RouteSpec, RouteSpecs } from '../../platform/kernel/contract.ts'

const Json = z.record(z.string(), z.unknown())
type Json = z.infer<typeof Json>

const REFUSALS: Readonly<Record<number, { readonly name: string; readonly description: string }>> = {
  400: { name: 'Invalid', description: 'The request is not valid; the message names the field.' },
  401: { name: 'Unauthenticated', description: 'Not authenticated.' },
  403: { name: 'Forbidden', description: 'Authenticated, but the role or the origin does not allow it.' },
  404: { name: 'NotFound', description: 'Not found in your organisation.' },
  409: { name: 'Conflict', description: 'In conflict with the current state.' },
  413: { name: 'TooLarge', description: 'The file is larger than this endpoint takes.' },
  429: { name: 'RateLimited', description: 'Too many requests; see Retry-After.' },
  503: { name: 'Unavailable', description: 'The database does not answer, or too much runs at once; see Retry-After.' },
}

const RETRY_AFTER: Json = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } }
/** Headers of refusals that a client may read. */
const REFUSAL_HEADERS: Readonly<Record<number, Json>> = {
  400: {
    'X-Query-Mistake': {
      description:
        'Of a query that cannot be read, JSON: `position: {start, end}` is the place of the mistake, from 0, and `hints: [{start, end, sentence, replacement}]` what may be meant.',
      schema: { type: 'string' },
    },
  },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
}

const ApiError = z
  .object({
    error: z.string().describe('One sentence that says what is wrong and what to do.'),
  })
  .meta({ id: 'Error' })

const json = (schema: Json): Json => ({ 'application/json': { schema } })

/** Schemas by the names they have in the document. */
export type NamedSchemas = Readonly<Record<string, z.ZodType>>

/** Sentences about fields, by the end of their path in the document: `created_at`, `sdk.name`, `Issue.type`. */
export type Descriptions = Readonly<Record<string, string>>

/**
 * The contract as an OpenAPI 3.1 document; the same contract always gives the same text. Named schemas, refusals and
 * parameters that several operations share become components, so that a change shows once in review and client
 * generators get types with names. A field or parameter without a description of its own gets the one of `descriptions`
 * whose key is the longest end of its path; parameters are `parameter.limit` or `listIssues.parameter.limit`.
 * @throws Error when two schemas with the same name differ, or a description has no field
 */
export function openApiDocument(
  specs: RouteSpecs,
  named: NamedSchemas,
  version: string,
  descriptions: Descriptions = {},
): Json {
  name(specs, named)
  const schemas = schemasOf(specs)
  const lookUp = lookUpIn(descriptions)
  for (const [component, schema] of Object.entries(schemas.components)) describe(schema, [component], lookUp)
  const described = Object.entries(specs).map(
    ([operationId, spec]) => [operationId, describedParametersOf(operationId, spec, schemas, lookUp)] as const,
  )
  const parametersByOperation = new Map(described)
  if (lookUp.unused.size > 0) throw new Error(`descriptions without a field: ${[...lookUp.unused].join(', ')}`)
  const { shared, referenceTo } = shareParameters(described.flatMap(([, parameters]) => parameters))
  const paths: Record<string, Json> = {}
  for (const [operationId, spec] of Object.entries(specs)) {
    const path = spec.path.replace(/:(\w+)/g, '{$1}')
    const parameters = (parametersByOperation.get(operationId) ?? []).map(referenceTo)
    const operation = operationOf(operationId, spec, schemas, parameters)
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
    externalDocs: { description: 'The documentation of this installation', url: '/docs/guide' },
    servers: [{ url: '/' }],
    tags: [...new Set(Object.values(specs).map((spec) => spec.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'svc_access', description: 'Set by POST /api/auth/login.' },
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of POST /api/api-keys.' },
      },
      parameters: shared,
      responses: Object.fromEntries(
        Object.entries(REFUSALS).map(([status, { name, description }]) => [
          name,
          {
            description,
            headers: REFUSAL_HEADERS[Number(status)],
            content: json({ $ref: '#/components/schemas/Error' }),
          },
        ]),
      ),
      schemas: schemas.components,
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

function operationOf(operationId: string, spec: RouteSpec, schemas: Schemas, parameters: readonly Json[]): Json {
  const rule: Rule | null = PERMISSIONS[spec.permission]
  const access = rule === null ? 'Needs no session.' : `Minimum role: ${rule.minRole}. ${keyAccess(rule)}`
  return {
    operationId,
    tags: [spec.tag],
    summary: spec.summary,
    description: spec.description === undefined ? access : `${spec.description}\n\n${access}`,
    security: rule === null ? [] : [{ session: [] }, ...(rule.scope === null ? [] : [{ apiKey: [] }])],
    parameters,
    requestBody: requestOf(spec, schemas),
    responses: {
      [spec.stream === 'redirect' ? 302 : (spec.status ?? 200)]: successOf(spec, schemas),
      ...(spec.otherStatus === undefined ? {} : { [spec.otherStatus]: successOf(spec, schemas) }),
      ...Object.fromEntries(
        refusalsOf(spec).map((status) => [status, { $ref: `#/components/responses/${nameOfRefusal(status)}` }]),
      ),
    },
  }
}

/** Statuses of refusals: those of every route, those that follow from its policy, and its own. */
function refusalsOf({ permission, csrf, upload, refusals = [] }: RouteSpec): number[] {
  const ofPolicy = [
    ...(PERMISSIONS[permission] === null ? [] : [401, 403]),
    ...(csrf === true ? [403] : []),
    ...(upload === undefined ? [] : [413]),
  ]
  return [...new Set([400, 429, 503, ...ofPolicy, ...refusals])].toSorted((a, b) => a - b)
}

function nameOfRefusal(status: number): string {
  const refusal = REFUSALS[status]
  if (refusal === undefined) throw new Error(`the status ${status} has no component`)
  return refusal.name
}

function requestOf({ body, rawBody, upload }: RouteSpec, schemas: Schemas): Json | undefined {
  if (rawBody === true || upload !== undefined) return { required: true, content: { '*/*': {} } }
  if (body === undefined) return undefined
  return { required: !body.safeParse(undefined).success, content: json(schemas.accepted(body)) }
}

function keyAccess({ scope }: Rule): string {
  if (scope === null) return 'Sessions only.'
  return scope === 'any' ? 'Any API key.' : `API-key scope: ${scope}.`
}

function successOf(spec: RouteSpec, schemas: Schemas): Json {
  const ofText = (type: string, more: Json = {}): Json => ({ [type]: { schema: { type: 'string', ...more } } })
  if (spec.stream === 'sse')
    return { description: 'A stream of server-sent events.', content: ofText('text/event-stream') }
  if (spec.stream === 'redirect') return { description: 'A redirect.' }
  const bytes = 'application/octet-stream'
  if (spec.stream === 'file') return { description: 'The file.', content: ofText(bytes, { contentMediaType: bytes }) }
  if (spec.response === undefined) return { description: 'Done.' }
  const csv = spec.csv === undefined ? {} : ofText('text/csv')
  return { description: 'Done.', content: { ...json(schemas.returned(spec.response)), ...csv } }
}

type Parameter = { readonly name: string } & Json

const ObjectSchema = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  required: z.array(z.string()).default([]),
})

/** The parameters of every operation. */
function parametersOf({ params, query }: RouteSpec, schemas: Schemas): Parameter[] {
  return [params, query].flatMap((schema) => {
    if (schema === undefined) return []
    const { properties, required } = ObjectSchema.parse(schemas.accepted(schema))
    return Object.entries(properties).map(([name, { description, ...rest }]) => ({
      name,
      in: schema === params ? 'path' : 'query',
      required: schema === params || required.includes(name),
      description,
      schema: rest,
    }))
  })
}

type LookUp = { readonly at: (path: readonly string[]) => string | undefined; readonly unused: Set<string> }

function lookUpIn(descriptions: Descriptions): LookUp {
  const unused = new Set(Object.keys(descriptions))
  const at = (path: readonly string[]): string | undefined => {
    const key = path.map((_, from) => path.slice(from).join('.')).find((end) => Object.hasOwn(descriptions, end))
    if (key === undefined) return undefined
    unused.delete(key)
    return descriptions[key]
  }
  return { at, unused }
}

function describedParametersOf(operationId: string, spec: RouteSpec, schemas: Schemas, lookUp: LookUp): Parameter[] {
  return parametersOf(spec, schemas).map((parameter) => ({
    ...parameter,
    description: withSentence(parameter['description'], lookUp, [operationId, 'parameter', parameter.name]),
  }))
}

/** The description of a field: its own, or the sentence about its path, also before one that only names its default. */
function withSentence(own: unknown, lookUp: LookUp, path: readonly string[]): unknown {
  const isDefault = typeof own === 'string' && /^Default: (?:["[{\d]|true|false|null)/.test(own)
  if (own !== undefined && !isDefault) return own
  const found = lookUp.at(path)
  return own === undefined ? found : [found, own].filter(Boolean).join(' ')
}

/** Adds descriptions to the fields of a schema, at any depth. Lists and alternatives are no part of a path. */
function describe(schema: unknown, path: readonly string[], lookUp: LookUp): void {
  if (Array.isArray(schema)) for (const one of schema) describe(one, path, lookUp)
  if (!isObject(schema)) return
  for (const [name, field] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
    const at = [...path, name]
    if (isObject(field)) field['description'] = withSentence(field['description'], lookUp, at)
    describe(field, at, lookUp)
  }
  for (const key of ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'])
    describe(schema[key], path, lookUp)
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parameters that two or more operations declare alike: a component each, named as the parameter. */
function shareParameters(all: readonly Parameter[]): {
  readonly shared: Record<string, Parameter>
  readonly referenceTo: (parameter: Parameter) => Json
} {
  const shared: Record<string, Parameter> = {}
  const names = new Map<string, string>()
  for (const [text, [parameter, other]] of Map.groupBy(all, (one) => JSON.stringify(one))) {
    if (parameter === undefined || other === undefined) continue
    let name = parameter.name
    for (let n = 2; name in shared; n++) name = `${parameter.name}_${n}`
    shared[name] = parameter
    names.set(text, name)
  }
  return {
    shared,
    referenceTo: (parameter) => {
      const name = names.get(JSON.stringify(parameter))
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
    },
  }
}

type Schemas = {
  /** Every named schema that the contract uses, by its name in the document. */
  readonly components: Record<string, Json>
  /** The JSON schema of a request's part. */
  readonly accepted: (schema: z.ZodType) => Json
  /** The JSON schema of a response. */
  readonly returned: (schema: z.ZodType) => Json
}

/**
 * JSON schemas of a contract in which named schemas are references. A schema that accepts other values than it returns
 * (because of defaults or transformations) is two components: `ViewFilters` and `ViewFiltersInput`.
 * @throws Error when two schemas have the same name
 */
function schemasOf(specs: RouteSpecs): Schemas {
  const all = Object.values(specs)
  const input = jsonSchemasOf(
    all.flatMap(({ params, query, body }) => [params, query, body]),
    'input',
  )
  const output = jsonSchemasOf([ApiError, ...all.map(({ response }) => response)], 'output')
  const inputName = (name: string): string => {
    const returned = output.named[name]
    return returned === undefined || JSON.stringify(returned) === JSON.stringify(input.named[name])
      ? name
      : `${name}Input`
  }
  const withReferences = (schema: Json | undefined, nameOf = (name: string) => name): Json =>
    Json.parse(
      JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
        key === '$ref' && typeof value === 'string'
          ? `#/components/schemas/${nameOf(value.replace('#/$defs/', ''))}`
          : value,
      ),
    )
  const components = [
    ...Object.entries(input.named).map(([name, json]) => [inputName(name), withReferences(json, inputName)] as const),
    ...Object.entries(output.named).map(([name, json]) => [name, withReferences(json)] as const),
  ]
  return {
    components: Object.fromEntries(new Map(components.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))),
    accepted: (schema) => withReferences(input.schemas.get(schema), inputName),
    returned: (schema) => withReferences(output.schemas.get(schema)),
  }
}

const Whole = z.object({ properties: z.record(z.string(), Json), $defs: z.record(z.string(), Json).default({}) })

/** JSON schemas of one direction, and the named ones that they refer to. */
function jsonSchemasOf(given: readonly (z.ZodType | undefined)[], io: 'input' | 'output') {
  const schemas = [...new Set(given)].filter((schema) => schema !== undefined)
  const { properties, $defs } = Whole.parse(
    z.toJSONSchema(z.object(Object.fromEntries(schemas.entries())), {
      io,
      target: 'draft-2020-12',
      unrepresentable: 'any',
      reused: 'inline',
      override: ({ jsonSchema }) => {
        // `format` already says it; the pattern of an integer in a query string only describes its text.
        if (jsonSchema.format !== undefined || jsonSchema.type === 'integer') delete jsonSchema.pattern
        // Client generators take a field with a default for one that is always there, and require it in requests.
        if (io === 'input' && jsonSchema.default !== undefined) {
          const description = `Default: ${JSON.stringify(jsonSchema.default)}.`
          jsonSchema.description = [jsonSchema.description, description].filter(Boolean).join(' ')
          delete jsonSchema.default
        }
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
        // Generators know no tuple that is closed with `false`; its length says the same.
        if (jsonSchema.prefixItems !== undefined && jsonSchema.items === false) {
          delete jsonSchema.items
          jsonSchema.minItems = jsonSchema.maxItems = jsonSchema.prefixItems.length
        }
        // Responses may get further fields in later versions.
        if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      },
    }),
  )
  return { schemas: new Map(schemas.map((schema, at) => [schema, properties[String(at)]])), named: $defs }
}
