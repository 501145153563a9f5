import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Call } from '../../platform/context/handlers.ts'
import type { OperationInput } from '../../platform/context/operations.ts'
import type { RouteSpec, RouteSpecs } from '../../platform/kernel/contract.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { AnyHandler } from '../http/bind.ts'
import { countRefusal, parseInput, requirePermission } from '../http/endpoint.ts'
import { contract } from './contract.ts'
import { handlers } from './handlers.ts'

const specs: RouteSpecs = contract
const byName: Readonly<Record<string, AnyHandler>> = handlers

/** See `Operations.call`. */
export async function callOperation(app: App, actor: OrgActor, name: string, input: OperationInput): Promise<unknown> {
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
  const handler = byName[name]
  if (spec === undefined || handler === undefined) throw notFound('Operation')
  if (spec.stream !== undefined || spec.rawBody === true || spec.upload !== undefined) throw notFound('Operation')
  const { permission } = spec
  if (permission === 'public' || permission === 'self') throw notFound('Operation')
  const run = async (): Promise<unknown> => {
    requirePermission(permission, actor)
    return handler(app, actor as never, callOf(spec, input) as never)
  }
  const answer = await countRefusal(app, spec, actor, run())
  return spec.response?.parse(answer)
}

/** A call without a request: nothing that an endpoint without cookies and streams uses is missing. */
function callOf(spec: RouteSpec, input: OperationInput): Call<RouteSpec> {
  const refuse = (): never => {
    throw new Error('this operation needs an HTTP request')
  }
  return {
    ...parseInput(spec, { query: {}, ...input }),
    cookies: { get: refuse, set: refuse, clear: refuse },
    raw: refuse,
    useOtherStatus: () => undefined,
    upload: refuse,
    openStream: refuse,
    sendFile: refuse,
    redirect: refuse,
  }
}
