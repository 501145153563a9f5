import { randomUUID, randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyReply } from 'fastify'
import { isLoopbackHost, type Config } from '../../config/config.ts'
import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid, notFound, forbidden } from '../../platform/kernel/errors.ts'
import { recentMessages } from '../../platform/live/recent-messages.ts'
import type { RouteSpecs } from '../../platform/kernel/contract.ts'
import { bindRoutes, type AnyHandler, type Authenticator } from './bind.ts'
import { BODY_TIMEOUT_MS, limitBodyTime } from './body-time.ts'
import {
  createOrderlyServer,
  type Connections,
  limitConnections,
  refuse,
  reserveConnections,
  closeUnread,
  createTurns,
} from './connection-end.ts'
import { errorAnswer } from './errors.ts'
import { registerGuide } from './guide.ts'
import { registerHealth, type Health } from './health.ts'
import { apiLimits } from './api-limit.ts'
import { registerMetrics, type MetricsSource } from './metrics.ts'
import { isMcp, registerMcp } from './mcp.ts'
import type { ReadMetric } from './otlp-metrics.ts'
import { createRequestGuard, addressMatcher, clientAddressReader } from './request-guard.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { isLoopbackAddress } from '../../platform/kernel/address-range.ts'
import { readFileSync } from 'node:fs'
import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { z } from 'zod'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'

type HttpDeps = {
  /** The endpoints of the product API, and the handler of each by its name. */
  readonly contract: RouteSpecs
  readonly handlers: Readonly<Record<string, AnyHandler>>
  readonly authenticate: Authenticator
  readonly refuseUnauthenticated: (request: FastifyRequest) => never
  /** Handles SDK traffic of node:http; returns false for other requests. Null without the role `ingest`. */
  readonly intake: ((request: IncomingMessage, response: ServerResponse) => boolean) | null
  /** Whether the product API, its documentation and the dashboard are served: the role `api`. */
  readonly api: boolean
  readonly health: Health
  readonly metrics: MetricsSource
}

type HttpService = {
  readonly server: Server
  readonly fastify: FastifyInstance
  /** Everything that `/-/metrics` has. */
  readonly readMetrics: () => Promise<ReadMetric[]>
  /** Starts listening. @returns the port, also where the configuration says 0 */
  listen(): Promise<number>
  /** Closes the listener and streams; waits at most `graceMs` for running requests. */
  close(graceMs: number): Promise<void>
}

const BODY_LIMIT_BYTES = 1024 * 1024

/**
 * One `node:http` server: SDK traffic goes to the intake, without Fastify; product API, dashboard, health and metrics go
 * to Fastify.
 */
export async function createHttpService(app: App, deps: HttpDeps): Promise<HttpService> {
  const stopping = new AbortController()
  const guard = createRequestGuard()
  const takeTurn = createTurns((socket) => overflowed(socket))
  let overflowed: (socket: Socket) => void = () => {}
  let server: Server | null = null
  let connections: Connections | null = null
  const fastify = Fastify({
    serverFactory: (route) => {
      const handle = (request: IncomingMessage, response: ServerResponse): void => {
        // While stopping, every answer closes its connection: busy clients would never close theirs.
        if (stopping.signal.aborted) response.shouldKeepAlive = false
        if (!guard.accepts(request, response)) return
        takeTurn(request, response, () => {
          if (deps.intake?.(request, response) === true) connections?.carriesIntake(request.socket)
          else if (connections?.carriesOther(request.socket) === false)
            refuse(response, 'Too many connections are open. Try again in a few seconds.', 503)
          else route(request, response)
        })
      }
      server = createOrderlyServer(serverLimits, handle)
      // Node would answer these by itself, past the guard and out of turn.
      server.on('checkExpectation', handle)
      server.on('connect', (request: IncomingMessage) => guard.onConnect(request))
      return server
    },
    bodyLimit: BODY_LIMIT_BYTES,
    logger: false,
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply) => {
      const { status, body } = errorAnswer(error)
      reply.hijack()
      const text = JSON.stringify(body)
      reply.raw
        .writeHead(status, {
          ...SECURITY_HEADERS,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        })
        .end(text)
    },
    clientErrorHandler: (error, socket) => guard.onClientError(error, socket),
    // Ids of an app's users may hold any character, which takes up to twelve when encoded.
    routerOptions: { maxParamLength: 4_096, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
  })
  if (server === null) throw new Error('Fastify did not create a server')
  const listening: Server = server
  overflowed = limitConnections(listening, freeOfLimits(app.config))
  connections = reserveConnections(listening)
  const stopClosingUnread = closeUnread(listening)

  const addressOf = clientAddressReader(app.config.trustedProxies)
  const callerOf = (request: FastifyRequest): Caller => ({
    origin: {
      kind: 'request',
      ip: addressOf(request.raw.socket.remoteAddress, request.headers['x-forwarded-for']),
      userAgent: request.headers['user-agent']?.slice(0, 500) ?? null,
    },
    requestId: request.id,
  })

  await fastify.register(cookie)
  takeJsonOnly(fastify)
  setHeaders(fastify, app)
  const checkHost = knownHosts(app.config)
  fastify.addHook('onRequest', (request, _reply, done) => {
    checkHost(request.headers.host)
    // No file has such a name, and reading one fails. Routes of the API check their own parameters.
    if ((request.is404 || !request.url.startsWith('/api/')) && /%00/.test(request.url)) throw notFound('Page')
    done()
  })
  logRequests(fastify, app, callerOf)
  answerErrors(fastify, app)

  registerHealth(fastify, deps.health)
  const metrics = registerMetrics(fastify, app.config, deps.metrics)
  if (deps.api) {
    recentMessages(app)
    const limits = apiLimits(app)
    const bindDeps = {
      app,
      authenticate: deps.authenticate,
      refuseUnauthenticated: deps.refuseUnauthenticated,
      callerOf,
      limits,
      metrics,
      stopping: stopping.signal,
    }
    bindRoutes(fastify, deps.contract, deps.handlers, bindDeps)
    registerMcp(fastify, deps.contract, bindDeps)
    const limit = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      void reply.headers(limits.address(callerOf(request), () => {}).headers())
    }
    await registerDocs(fastify, limit)
    await registerWebApp(fastify)
    registerGuide(fastify, DIST, limit)
  } else {
    fastify.setNotFoundHandler((_request, reply) =>
      reply.code(404).send({ error: 'This process does not serve the API: it runs without the role api.' }),
    )
  }
  await fastify.ready()

  return {
    server: listening,
    fastify,
    readMetrics: () => metrics.read(),
    listen: () =>
      new Promise((resolve, reject) => {
        listening.once('error', reject)
        listening.listen(app.config.port, app.config.host, () => {
          listening.off('error', reject)
          const address = listening.address()
          resolve(typeof address === 'object' && address !== null ? address.port : app.config.port)
        })
      }),
    close: async (graceMs) => {
      stopping.abort()
      stopClosingUnread()
      // Connections whose requests are not read yet look idle. A connection is accepted in one turn of the event loop and
      // read in the next.
      for (let turn = 0; turn < 3; turn++) await setImmediate()
      const closed = new Promise<void>((resolve) => listening.close(() => resolve()))
      listening.closeIdleConnections()
      const force = setTimeout(() => listening.closeAllConnections(), graceMs)
      await closed
      clearTimeout(force)
      await fastify.close()
    },
  }
}

/** Addresses without a limit of connections: trusted proxies, and loopback in relaxed mode. */
function freeOfLimits(config: App['config']): (address: string) => boolean {
  const isTrusted = addressMatcher(config.trustedProxies)
  return (address) =>
    isTrusted(address) || (config.mode === 'relaxed' && isLoopbackHost(address.replace('::ffff:', '')))
}

/** Node's defaults let a slow client hold a connection for minutes. */
const serverLimits = {
  headersTimeout: 10_000,
  requestTimeout: 600_000,
  // Incomplete headers end a connection 10 to 10.5 s after their first byte.
  connectionsCheckingInterval: 500,
  maxHeaderSize: 16 * 1024,
  keepAliveTimeout: 65_000,
  noDelay: true,
  // The request guard checks it, and also refuses what follows on the connection.
  requireHostHeader: false,
}

/** Accepts JSON bodies only: other sites can send forms and text without a preflight. An empty body counts as absent. */
function takeJsonOnly(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    if (body === '') return done(null, undefined)
    try {
      done(null, JSON.parse(body.toString(), dropPrototypeKeys))
    } catch {
      done(invalid('The body is not valid JSON.'))
    }
  })
  fastify.addContentTypeParser('*', (_request, payload, done) => {
    let size = 0
    payload.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > 0) payload.pause()
      if (size > 0) done(invalid('Send the body as application/json.'))
    })
    payload.on('end', () => {
      if (size === 0) done(null, undefined)
    })
    payload.on('error', done)
  })
  fastify.addHook('onRequest', (request, _reply, done) => {
    // An upload gets more time when its caller has the permission.
    if (hasBody(request.raw)) limitBodyTime(request.raw, BODY_TIMEOUT_MS)
    done()
  })
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

function dropPrototypeKeys(this: unknown, key: string, value: unknown): unknown {
  return key === '__proto__' || key === 'constructor' || key === 'prototype' ? undefined : value
}

function setHeaders(fastify: FastifyInstance, app: App): void {
  const https = app.config.publicUrl.startsWith('https:')
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id)
    void reply.headers(SECURITY_HEADERS).header('cross-origin-resource-policy', 'same-origin')
    if (https) void reply.header('strict-transport-security', 'max-age=31536000; includeSubDomains')
    const isApi = request.url.startsWith('/api')
    if (isApi || isMcp(request.url)) {
      void reply.header('cache-control', 'no-store')
      // The dashboard corrects a browser's clock by it (web/ui/clock.ts).
      void reply.header('date', app.clock.now().toUTCString())
      void reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
    }
    if (isApi) {
      const { origin } = request.headers
      if (origin !== undefined && app.config.allowedOrigins.includes(origin)) {
        void reply.header('access-control-allow-origin', origin)
        void reply.header('access-control-allow-credentials', 'true')
        void reply.header('access-control-expose-headers', 'x-request-id, retry-after, x-query-mistake')
        void reply.header('vary', 'origin')
        if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
          void reply.header('access-control-allow-methods', 'GET, POST, PATCH, DELETE')
          void reply.header('access-control-allow-headers', 'content-type')
          void reply.header('access-control-max-age', '600')
          return void reply.code(204).send()
        }
      }
    }
    done()
  })
}

/** One line per finished request. Paths without their query, which may hold tokens. */
function logRequests(fastify: FastifyInstance, app: App, callerOf: (request: FastifyRequest) => Caller): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    const level =
      reply.statusCode >= 500 ? 'warn' : request.url.startsWith('/api') || isMcp(request.url) ? 'info' : 'debug'
    app.log[level](
      {
        request_id: request.id,
        method: request.method,
        path: pathForLog(request.url),
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime),
        ip: callerOf(request).origin.ip,
      },
      'request',
    )
    done()
  })
}

/** Without the query, and without the id of an app's user: a log must not name a user whose data was erased. */
const pathForLog = (url: string): string =>
  (url.split('?', 1)[0] ?? '').replace(/^(\/api\/projects\/[^/]+\/users\/).*/, '$1…')

function answerErrors(fastify: FastifyInstance, app: App): void {
  fastify.setErrorHandler((error, request, reply) => {
    const answer = errorAnswer(error)
    if (answer.unexpected)
      app.log.error(
        { request_id: request.id, method: request.method, path: pathForLog(request.url), err: error },
        'request failed',
      )
    return reply.headers(answer.headers).code(answer.status).send(answer.body)
  })
}

/**
 * In relaxed mode pages and API answer only to names of this installation: a page of another site whose name is made to
 * resolve to loopback (DNS rebinding) would otherwise read and change everything as the member whose browser shows it.
 */
function knownHosts(config: Config): (host: string | undefined) => void {
  if (config.mode === 'strict') return () => {}
  const own = new Set([config.publicUrl, ...config.allowedOrigins].map((url) => new URL(url).hostname))
  return (host) => {
    const url = `http://${host ?? ''}`
    const name = URL.canParse(url) ? new URL(url).hostname : ''
    const bare = name.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
    if (own.has(name) || bare === 'localhost' || isLoopbackAddress(bare)) return
    throw forbidden(
      `This installation does not answer to the host name "${name}". Set PUBLIC_URL to the address that browsers use.`,
    )
  }
}

type OnRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
type StaticDocument = StaticDocumentSpec['document']
const isObject = (value: unknown): boolean => typeof value === 'object'

/** A test compares it with the contract: making it of the contract takes a fifth of a second of every start. */
const DOCUMENT = new URL('../../../docs/openapi.json', import.meta.url)
const readDocument = () => z.custom<StaticDocument>(isObject).parse(JSON.parse(readFileSync(DOCUMENT, 'utf8')))

/**
 * `GET /api/openapi.json`, and the API documentation at `/docs`, which loads nothing from other hosts.
 * @param limit counts a request for the limit of its address
 */
async function registerDocs(fastify: FastifyInstance, limit: OnRequest): Promise<void> {
  // One buffer for all answers: a string is copied for each client that reads slowly. A service that is not asked has none.
  let json: Buffer | undefined
  const sendDocument = (_request: FastifyRequest, reply: FastifyReply) => {
    json ??= Buffer.from(JSON.stringify(readDocument()))
    return reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(json)
  }
  fastify.get('/api/openapi.json', { onRequest: limit }, sendDocument)
  let yaml: Buffer | undefined
  // The plugin needs the document for YAML alone, and gets it then.
  const document = z.custom<StaticDocument>(isObject).parse({})
  await fastify.register(async (docs) => {
    docs.addHook('onRequest', limit)
    // The plugin serialises the document for each request, and they need no session.
    docs.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.url === '/docs/json') return sendDocument(request, reply)
      if (request.routeOptions.url !== '/docs/yaml') return undefined
      if (yaml === undefined) {
        Object.assign(document, readDocument())
        yaml = Buffer.from(docs.swagger({ yaml: true }))
      }
      return reply.header('cache-control', 'no-cache').type('application/x-yaml').send(yaml)
    })
    await docs.register(swagger, {
      mode: 'static',
      specification: { document },
    })
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      uiConfig: { docExpansion: 'list', deepLinking: true },
    })
  })
}

const DIST = fileURLToPath(new URL('../../../web/dist/', import.meta.url))
/** Pages of mailed links: the secret in their address must not reach other sites. */
const LINK_PAGES = new Set(['/reset', '/invite', '/confirm-email'])
const NONCE = '__CSP_NONCE__'

/**
 * Serves the built dashboard: hashed files, cached for a year, and index.html for every page. Files are looked up at each
 * request, so that a running service serves a new build immediately.
 */
export async function registerWebApp(fastify: FastifyInstance, dist = DIST): Promise<void> {
  const hashed = join(dist, 'assets')
  await fastify.register(fastifyStatic, {
    root: dist,
    index: false,
    immutable: true,
    // The build writes compressed files beside the originals: 700 kB of code become 200 kB.
    preCompressed: true,
    maxAge: '365d',
    // Files of the build itself.
    dotfiles: 'ignore',
    setHeaders: (reply, path) => {
      if (dirname(path) !== hashed) void reply.header('cache-control', 'no-cache')
    },
  })
  // The page needs its content security policy, which the static files do not have.
  fastify.get('/index.html', (_request, reply) => reply.redirect('/', 301))
  // The static plugin answers 403 for a folder.
  fastify.get('/', (_request, reply) => sendPage(reply, dist))
  const answerUnknown = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (path === '/api' || path.startsWith('/api/')) {
      return reply.code(404).send({ error: `There is no ${request.method} ${path.slice(0, 200)}. See /docs.` })
    }
    const wantsPage =
      (request.method === 'GET' || request.method === 'HEAD') &&
      !/\.[a-z0-9]{1,8}$/i.test(path) &&
      !path.startsWith('/.well-known/')
    if (!wantsPage) return reply.code(404).send({ error: 'Page not found.' })
    if (LINK_PAGES.has(path)) void reply.header('referrer-policy', 'no-referrer')
    return sendPage(reply, dist)
  }
  fastify.setNotFoundHandler(answerUnknown)
  // Before the body is read: whether it could be parsed does not matter for a path that is not there.
  fastify.addHook('onRequest', async (request, reply) => (request.is404 ? answerUnknown(request, reply) : undefined))
}

async function sendPage(reply: FastifyReply, dist: string): Promise<FastifyReply> {
  const index = await readFile(`${dist}index.html`, 'utf8').catch(() => null)
  if (index === null) {
    const help = 'The dashboard is not built. Run "npm run build", or start with "npm start".\n'
    return reply.code(503).type('text/plain').send(help)
  }
  const nonce = randomBytes(16).toString('base64')
  return reply
    .header('content-security-policy', pagePolicy(nonce))
    .header('cache-control', 'no-cache')
    .type('text/html; charset=utf-8')
    .send(index.replaceAll(NONCE, nonce))
}

const pagePolicy = (nonce: string): string =>
  [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
