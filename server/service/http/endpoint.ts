import type { z } from 'zod'
import { type Permission, explainRefusal } from '#shared/permissions.ts'
import { countDenial } from '../../history/audit/denials.ts'
import { type Caller, requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Inputs, RouteSpec } from '../../platform/kernel/contract.ts'
import { AppError, forbidden, invalid, notFound } from '../../platform/kernel/errors.ts'
import { validationSentence } from './errors.ts'

/** Rules for every call of an endpoint, over HTTP and inside the service: permission, validation, the audit log. */

/** @throws AppError forbidden when the role of the member, or the scopes of the API key, do not grant it */
export function requirePermission(permission: Exclude<Permission, 'public'>, actor: OrgActor): void {
  const { role } = requireActingMember(actor)
  const scopes = actor.kind === 'api_key' ? actor.scopes : undefined
  const refusal = explainRefusal(permission, { role, scopes })
  if (refusal !== null) throw forbidden(refusal)
}

/** Counts for the audit log what a known actor was not allowed to do. */
export async function countRefusal<T>(
  app: App,
  spec: Pick<RouteSpec, 'method'> & { readonly path: string },
  actor: OrgActor | Caller,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof AppError && error.code === 'forbidden' && 'kind' in actor)
      countDenial(app, 'access.denied', { actor }, { name: 'routes', value: `${spec.method} ${spec.path}` })
    throw error
  }
}

/**
 * Parameters, query and body as the endpoint declares them.
 * @throws AppError not_found (an id that is none), invalid
 */
export const parseInput = (
  spec: RouteSpec,
  given: { readonly params?: unknown; readonly query?: unknown; readonly body?: unknown },
): Inputs<RouteSpec> => ({
  params: parseParams(spec, given.params),
  query: spec.query === undefined ? undefined : parse(spec.query, given.query),
  body: parseBody(spec, given.body),
})

/** An invalid id is 404, like one that does not exist. No name has the NUL character, which PostgreSQL cannot even look for. */
function parseParams(spec: RouteSpec, given: unknown): Record<string, unknown> | undefined {
  if (spec.params === undefined) return undefined
  const parsed = spec.params.safeParse(given)
  const wrong = parsed.success
    ? Object.keys(parsed.data).find((name) => String(parsed.data[name]).includes('\0'))
    : String(parsed.error.issues[0]?.path[0] ?? 'id')
  if (parsed.success && wrong === undefined) return parsed.data
  const name = (wrong ?? '').replace(/Id$/, '')
  throw notFound(name.charAt(0).toUpperCase() + name.slice(1))
}

function parseBody(spec: RouteSpec, body: unknown): unknown {
  if (spec.body === undefined) return undefined
  // Fastify gives null without a body; schemas expect undefined.
  const given = body ?? undefined
  if (given === undefined && !spec.body.safeParse(undefined).success) throw invalid('Send a JSON object as the body.')
  return parse(spec.body, given)
}

function parse(schema: z.ZodType, given: unknown): never {
  const parsed = schema.safeParse(given, { reportInput: true })
  if (!parsed.success) throw invalid(validationSentence(parsed.error))
  refuseUnstorable(parsed.data)
  return parsed.data as never
}

/** PostgreSQL cannot store U+0000 in text, nor half a surrogate pair in JSON: refuses both, for every field. */
function refuseUnstorable(value: unknown, path = ''): void {
  const under = (key: string | number): string => (path === '' ? String(key) : `${path}.${key}`)
  if (typeof value === 'string') {
    const name = path === '' ? 'Text' : path
    const nul = value.indexOf('\0')
    if (nul >= 0) throw invalid(`${name} must not hold the NUL character (character ${nul + 1}).`)
    if (!value.isWellFormed()) throw invalid(`${name} must be well-formed Unicode; it holds half a surrogate pair.`)
  } else if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) refuseUnstorable(element, under(index))
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, element] of Object.entries(value)) refuseUnstorable(element, under(key))
  }
}
