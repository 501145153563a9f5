import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { serveMcp } from '../../assistant/mcp/serve-mcp.ts'
import type { ApiKeyActor } from '../../platform/context/actor.ts'
import type { RouteSpecs } from '../../platform/kernel/contract.ts'
import { invalid, unauthenticated } from '../../platform/kernel/errors.ts'
import { admit, type BindDeps, countKey, type Guarded, ownOrigins, withTimeout } from './bind.ts'
import { checkCrossSite } from './csrf.ts'
import { errorAnswer } from './errors.ts'

const PATH = '/mcp'
export const isMcp = (url: string): boolean => url === PATH || url.startsWith(`${PATH}?`)

/** Any key may connect; each tool asks for the scope of its operation. */
const RULES: Guarded = { method: 'POST', path: PATH, permission: 'me.read' }

/** Older revisions send several messages in one body. Each call counts for the limit of the key. */
const MAX_MESSAGES = 20
/** The longest time of an answer that the API streams. */
const STREAM_MS = 120_000

/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP, for API keys. Limits, cross-site rule and authentication
 * are those of the API; other methods are 405, because nothing is kept between requests.
 */
export function registerMcp(fastify: FastifyInstance, contract: RouteSpecs, deps: BindDeps): void {
  const { app } = deps
  const mcp = serveMcp(app, contract, (actor, name, input, spec) => {
    if (spec.stream === 'sse') return app.operations.collect(actor, name, input, AbortSignal.timeout(STREAM_MS))
    const work = app.operations.call(actor, name, input)
    return spec.isSlow === true ? work : withTimeout(work)
  })
  const callers = new WeakMap<FastifyRequest, ApiKeyActor>()
  void fastify.register(async (scope) => {
    answerErrors(scope, deps)
    scope.route({
      method: ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url: PATH,
      handler: (_request, reply) =>
        reply
          .code(405)
          .header('allow', 'POST')
          .send(rpcError(-32_000, 'Send messages with POST: there are no sessions.')),
    })
    scope.post(PATH, {
      onRequest: async (request, reply) => {
        checkCrossSite(request.headers, ownOrigins(app.config))
        const { caller } = await admit(RULES, request, reply, deps)
        // A browser sends cookies unasked; an agent has a key.
        if (!('kind' in caller) || caller.kind !== 'api_key')
          throw unauthenticated('Send an API key: Authorization: Bearer svc_….')
        callers.set(request, caller)
      },
      handler: async (request, reply) => {
        const actor = callers.get(request)
        if (actor === undefined) throw new Error('a message was not authorised before its handler')
        countMessages(request.body, actor, deps)
        const { status, headers, body } = await mcp.answer(actor, {
          headers: request.headers,
          body: request.body,
          signal: whenLeft(reply),
        })
        return reply.code(status).headers(headers).send(body)
      },
    })
  })
}

/** @throws AppError invalid, rate_limited */
function countMessages(body: unknown, actor: ApiKeyActor, deps: BindDeps): void {
  if (!Array.isArray(body)) return
  if (body.length > MAX_MESSAGES) throw invalid(`Send at most ${MAX_MESSAGES} messages in one body.`)
  // The request itself is counted already.
  for (let message = 1; message < body.length; message++) countKey(actor, deps)
}

function whenLeft(reply: FastifyReply): AbortSignal {
  const left = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) left.abort()
  })
  return left.signal
}

const rpcError = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } })

/** Refusals before a message is read have the form of the protocol, with the sentence of the API. */
function answerErrors(scope: FastifyInstance, { app }: BindDeps): void {
  scope.setErrorHandler((error, request, reply) => {
    const { status, body, headers, unexpected } = errorAnswer(error)
    if (unexpected) app.log.error({ request_id: request.id, path: PATH, err: error }, 'request failed')
    if (status === 401) {
      const isWrong = request.headers.authorization !== undefined
      void reply.header('www-authenticate', `Bearer realm="Faultline"${isWrong ? ', error="invalid_token"' : ''}`)
    }
    return reply
      .headers(headers)
      .code(status)
      .send(rpcError(status >= 500 ? -32_603 : -32_600, body.error))
  })
}
