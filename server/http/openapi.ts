import { z } from 'zod'
import type { RouteSpec, RouteSpecs } from '../kernel/contract.ts'
import { PERMISSIONS } from '#shared/permissions.ts'

type Json = { [key: string]: unknown }

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'The request is not valid; the message names the field.',
  401: 'Not authenticated.',
  403: 'Authenticated, but the role or the origin does not allow it.',
  404: 'No such thing in your organisation.',
  409: 'In conflict with what is there.',
  429: 'Too many requests; see Retry-After.',
  503: 'The database is away for the moment; see Retry-After.',
}

/** The contract as an OpenAPI 3.1 document. The same contract always gives the same text. */
export function openApiDocument(specs: RouteSpecs, version: string): Json {
  const paths: Record<string, Json> = {}
  for (const [operationId, spec] of Object.entries(specs)) {
    const path = spec.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(operationId, spec) }
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
      },
      schemas: {
        Error: {
          type: 'object',
          required: ['error'],
          properties: { error: { type: 'string', description: 'One sentence a person can act on.' } },
        },
      },
    },
  }
}

function operation(operationId: string, spec: RouteSpec): Json {
  const rule = PERMISSIONS[spec.permission]
  const access =
    rule === null
      ? 'Needs no session.'
      : `Minimum role: ${rule.minRole}.${rule.scope === null ? ' Sessions only.' : ` API-key scope: ${rule.scope}.`}`
  const status = String(spec.status ?? 200)
  const refusals = [400, ...(rule === null ? [] : [401, 403]), ...(spec.refusals ?? [])]
  return {
    operationId,
    tags: [spec.tag],
    summary: spec.summary,
    description: spec.description === undefined ? access : `${spec.description}\n\n${access}`,
    security: rule === null ? [] : [{ session: [] }],
    parameters: [...parameters(spec.params, 'path'), ...parameters(spec.query, 'query')],
    ...(spec.body === undefined
      ? {}
      : {
          requestBody: {
            required: !spec.body.safeParse(undefined).success,
            content: { 'application/json': { schema: schemaOf(spec.body, 'input') } },
          },
        }),
    responses: {
      [status]: success(spec),
      ...Object.fromEntries(
        [...new Set(refusals)]
          .sort((a, b) => a - b)
          .map((code) => [
            String(code),
            {
              description: REFUSALS[code] ?? '',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
            },
          ]),
      ),
    },
  }
}

function success(spec: RouteSpec): Json {
  if (spec.stream === 'sse')
    return {
      description: 'A stream of server-sent events.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }
  if (spec.stream === 'file')
    return {
      description: 'The file.',
      content: {
        'application/octet-stream': { schema: { type: 'string', contentMediaType: 'application/octet-stream' } },
      },
    }
  if (spec.response === undefined) return { description: 'Done.' }
  return { description: 'Done.', content: { 'application/json': { schema: schemaOf(spec.response, 'output') } } }
}

function parameters(schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return []
  const whole = schemaOf(schema, 'input')
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

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    reused: 'inline',
    // A number in a query is read from its text, which is no business of who writes a client.
    override: ({ jsonSchema }) => {
      if (jsonSchema.type === 'integer') delete jsonSchema.pattern
    },
  })
  return rest
}
