import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Call, EventStream } from '../../platform/context/handlers.ts'
import type { OperationInput } from '../../platform/context/operations.ts'
import type { RouteSpec, RouteSpecs } from '../../platform/kernel/contract.ts'
import { notFound, unavailable } from '../../platform/kernel/errors.ts'
import type { AnyHandler } from '../http/bind.ts'
import { countRefusal, parseInput, requirePermission } from '../http/endpoint.ts'
import { contract } from './contract.ts'
import { handlers } from './handlers.ts'

const specs: RouteSpecs = contract
const byName: Readonly<Record<string, AnyHandler>> = handlers

/** See `Operations.call`. */
export async function callOperation(app: App, actor: OrgActor, name: string, input: OperationInput): Promise<unknown> {
  const { spec, run } = operation(name, undefined)
  const answer = await run(app, actor, input, {})
  return spec.response?.parse(answer)
}

/** The events of a stream hold an answer, which models and members read. */
const MAX_STREAM_CHARACTERS = 1024 * 1024

/** See `Operations.collect`. */
export async function collectStream(
  app: App,
  actor: OrgActor,
  name: string,
  input: OperationInput,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const events: unknown[] = []
  let characters = 0
  const closed = new AbortController()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const late = (): void => closed.abort()
  closed.signal.addEventListener('abort', () => end(), { once: true })
  signal.addEventListener('abort', late, { once: true })
  if (signal.aborted) late()
  let isWhole = false
  const stream: EventStream = {
    signal: closed.signal,
    send(_event, data) {
      if (closed.signal.aborted) return
      characters += JSON.stringify(data).length
      if (characters > MAX_STREAM_CHARACTERS) return closed.abort()
      events.push(data)
    },
    end() {
      isWhole ||= !closed.signal.aborted
      closed.abort()
    },
  }
  try {
    await operation(name, 'sse').run(app, actor, input, { openStream: () => stream })
    await ended
  } finally {
    signal.removeEventListener('abort', late)
  }
  if (!isWhole) throw unavailable('The answer takes too long or is too long. Ask for less.')
  return events
}

/** @throws AppError not_found */
function operation(name: string, stream: RouteSpec['stream']) {
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
  const handler = byName[name]
  if (spec === undefined || handler === undefined) throw notFound('Operation')
  if (spec.stream !== stream || spec.rawBody === true || spec.upload !== undefined) throw notFound('Operation')
  const { permission } = spec
  if (permission === 'public' || permission === 'self') throw notFound('Operation')
  const run = (app: App, actor: OrgActor, input: OperationInput, over: Partial<Call<RouteSpec>>): Promise<unknown> => {
    const permitted = async (): Promise<unknown> => {
      requirePermission(permission, actor)
      return handler(app, actor as never, { ...callOf(spec, input), ...over } as never)
    }
    return countRefusal(app, spec, actor, permitted())
  }
  return { spec, run }
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
