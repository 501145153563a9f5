import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKeyActor, Caller, OrgActor, SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Call, EventStream, Cookies, SentFile, Upload } from '../../platform/context/handlers.ts'
import type { RouteSpec, RouteSpecs } from '../../platform/kernel/contract.ts'
import type { CsvTable } from '../../platform/kernel/csv.ts'
import { countDenial } from '../../history/audit/denials.ts'
import { unavailable, AppError, invalid, tooLarge } from '../../platform/kernel/errors.ts'
import type { Admission, ApiLimits } from './api-limit.ts'
import { checkCrossSite } from './csrf.ts'
import { countRefusal, parseInput, requirePermission } from './endpoint.ts'
import type { RequestMetrics } from './metrics.ts'
import type { Config } from '../../config/config.ts'
import { Readable } from 'node:stream'
import type { IncomingMessage } from 'node:http'
import { limitBodyTime } from './body-time.ts'

/** Returns the actor of a request; null when the request has no credentials. */
export type Authenticator = (request: FastifyRequest, caller: Caller) => Promise<Known | null>

/** The actor of a request, how it was recognised, and when its session or key ends by itself. */
type Known = {
  readonly actor: SessionActor | ApiKeyActor
  readonly viaCookie: boolean
  readonly expiresAt: Date | null
}

/** A request that may be handled. */
type Admitted = { readonly caller: OrgActor | Caller; readonly expiresAt: Date | null }

export type BindDeps = {
  readonly app: App
  readonly authenticate: Authenticator
  /** Throws `unauthenticated`. */
  readonly refuseUnauthenticated: (request: FastifyRequest) => never
  readonly callerOf: (request: FastifyRequest) => Caller
  readonly limits: ApiLimits
  readonly metrics: RequestMetrics
  /** Aborted when the service stops. It ends streams. */
  readonly stopping: AbortSignal
}

/** A handler of any route. Its actor and input are checked before it is called. */
export type AnyHandler = (app: App, actor: never, call: never) => Promise<unknown>

const SAFE_METHODS = new Set(['GET'])

/**
 * Binds every route of a contract: limit → authentication → cross-site → permission → validation → handler → response
 * as declared. In this order a caller without permission learns nothing about what is valid.
 */
export function bindRoutes(
  fastify: FastifyInstance,
  specs: RouteSpecs,
  handlers: Readonly<Record<string, AnyHandler>>,
  deps: BindDeps,
): void {
  const admitted = new WeakMap<FastifyRequest, Admitted>()
  const uploads = createUploads()
  for (const [name, spec] of Object.entries(specs)) {
    const handler = handlers[name]
    if (handler === undefined) throw new Error(`route ${name} has no handler`)
    const bind = (on: FastifyInstance) =>
      on.route({
        method: spec.method,
        url: spec.path,
        // HEAD would open a stream without a reader.
        exposeHeadRoute: spec.stream === undefined,
        // Before the body is read: a caller without permission gets no validation errors.
        onRequest: async (request, reply) => void admitted.set(request, await admit(spec, request, reply, deps)),
        handler: async (request, reply) => {
          const { caller, expiresAt } = admitted.get(request) ?? {}
          if (caller === undefined || expiresAt === undefined)
            throw new Error(`route ${name} was not authorised before its handler`)
          let status: number | undefined = spec.status
          const call = {
            ...callOf(spec, request, reply, { ...deps, expiresAt }),
            useOtherStatus: () => void (status = spec.otherStatus),
          }
          const handled =
            spec.upload === undefined
              ? handler(deps.app, caller as never, call as never)
              : uploads.receive(ownerOf(caller), request.raw, spec.upload.maxBytes, (upload) =>
                  handler(deps.app, caller as never, { ...call, upload: () => upload } as never),
                )
          const work = countRefusal(deps.app, spec, caller, handled)
          const mayBeLong = spec.isSlow === true || spec.upload !== undefined
          const answer = await ((spec.stream === undefined || spec.stream === 'redirect') && !mayBeLong
            ? withTimeout(work)
            : work)
          if (spec.stream !== undefined) return reply
          if (spec.status === 204) return reply.code(204).send()
          const declared = spec.response?.parse(answer)
          if (spec.csv !== undefined && wantsCsv(call.query)) {
            sendTable(reply, spec.csv, declared)
            return reply
          }
          return reply.code(status ?? 200).send(declared)
        },
      })
    if (spec.rawBody !== true && spec.upload === undefined) bind(fastify)
    else
      void fastify.register(async (scope) => {
        if (spec.upload === undefined) takeBytes(scope)
        else takeNothing(scope)
        bind(scope)
      })
  }
}

/** The rules of an endpoint for its callers. */
export type Guarded = Pick<RouteSpec, 'method' | 'permission' | 'csrf'> & { readonly path: string }

/** Our own origin and those of ALLOWED_ORIGINS. */
export const ownOrigins = ({ publicUrl, allowedOrigins }: App['config']): readonly string[] => [
  new URL(publicUrl).origin,
  ...allowedOrigins,
]

/**
 * Limit → authentication → cross-site → permission; sets the headers of the limits.
 * @throws AppError rate_limited, unauthenticated, forbidden, unavailable
 */
export async function admit(
  spec: Guarded,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: BindDeps,
): Promise<Admitted> {
  const caller = deps.callerOf(request)
  const ofAddress = deps.limits.address(caller, () => void auditLimit(request, caller, deps))
  void reply.headers(ofAddress.headers())
  let expiresAt: Date | null = null
  const authorised = authorise(spec, request, caller, deps, ({ actor, ...known }) => {
    expiresAt = known.expiresAt
    if (actor.kind !== 'api_key') return
    // A key has a limit of its own. An invalid one stays counted with its address.
    ofAddress.giveBack()
    void reply.headers(countKey(actor, deps).headers())
  })
  return { caller: await withTimeout(authorised), expiresAt }
}

/** Counts a call for the limit of its key. @throws AppError rate_limited */
export const countKey = (actor: ApiKeyActor, { app, limits }: BindDeps): Admission =>
  limits.key(actor.keyId, () => countLimit(app, actor, 'api-key'))

/** For whom an upload counts. */
const ownerOf = (caller: OrgActor | Caller): string =>
  'orgId' in caller ? caller.orgId : caller.origin.kind === 'request' ? caller.origin.ip : ''

/** Bodies of these routes are not parsed: a signature is about their bytes. */
function takeBytes(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** The handlers of these routes read the body. */
function takeNothing(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

/** For authentication and for the handler, each. */
const TIMEOUT_MS = 12_000

/**
 * Ends the wait, not the work: what a slow database still completes stays done, as if the client had disconnected.
 * @throws AppError unavailable
 */
export async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(unavailable('The database takes too long to answer. Try again later.', 5)),
      TIMEOUT_MS,
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * @param known counts a request of a known actor
 * @returns the actor; for a public route only the caller
 * @throws AppError unauthenticated, rate_limited, forbidden
 */
async function authorise(
  spec: Guarded,
  request: FastifyRequest,
  caller: Caller,
  deps: BindDeps,
  known: (known: Known) => void,
): Promise<OrgActor | Caller> {
  const { permission } = spec
  if (permission === 'public') {
    if (spec.csrf === true) checkCrossSite(request.headers, ownOrigins(deps.app.config))
    return caller
  }
  const checked = async (): Promise<OrgActor> => {
    const authenticated = await deps.authenticate(request, caller)
    if (authenticated === null) return deps.refuseUnauthenticated(request)
    const { actor, viaCookie } = authenticated
    known(authenticated)
    const permitted = async (): Promise<OrgActor> => {
      if (viaCookie && (spec.csrf === true || !SAFE_METHODS.has(spec.method)))
        checkCrossSite(request.headers, ownOrigins(deps.app.config))
      requirePermission(permission, actor)
      return actor
    }
    return countRefusal(deps.app, spec, actor, permitted())
  }
  const startedMs = performance.now()
  return checked().finally(() => deps.metrics.authenticated(performance.now() - startedMs))
}

/**
 * Counts for the audit log that a member exceeded the limit of the API. Called once per address and minute: who sends the
 * request is looked up only then.
 */
async function auditLimit(request: FastifyRequest, caller: Caller, { app, authenticate }: BindDeps): Promise<void> {
  try {
    const known = await authenticate(request, caller)
    if (known !== null) countLimit(app, known.actor, 'api')
  } catch {
    // No member whom the log could name.
  }
}

const countLimit = (app: App, actor: SessionActor | ApiKeyActor, limit: string): void =>
  countDenial(app, 'ratelimit.exceeded', { actor }, { name: 'limits', value: limit })

function callOf(
  spec: RouteSpec,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: BindDeps & Pick<Admitted, 'expiresAt'>,
): Omit<Call<RouteSpec>, 'useOtherStatus' | 'upload'> {
  return {
    ...parseInput(spec, request),
    cookies: callCookies(deps.app.config, request, reply),
    raw: () => ({ headers: request.headers, body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0) }),
    openStream: () => openStream(request, reply, deps),
    sendFile: (file) => sendFile(reply, file),
    redirect: (location) => void reply.redirect(location, 302),
  }
}

const wantsCsv = (query: unknown): boolean =>
  typeof query === 'object' && query !== null && 'format' in query && query.format === 'csv'

function sendTable(reply: FastifyReply, { name, textOf }: CsvTable, answer: unknown): void {
  const bytes = Buffer.from(textOf(answer))
  const contentType = 'text/csv; charset=utf-8'
  sendFile(reply, { filename: `${name}.csv`, contentType, sizeBytes: bytes.length, chunks: once(bytes) })
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

const HEARTBEAT_MS = 15_000
/** A client with more unread bytes is disconnected. Messages are small: these are minutes of a busy service. */
const MAX_UNREAD_BYTES = 256 * 1024

/** The longest time of a timer, 24 days. A stream ends then at the latest; its client connects again. */
const MAX_STREAM_MS = 2 ** 31 - 1

function openStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { app, stopping, expiresAt }: Pick<BindDeps, 'app' | 'stopping'> & Pick<Admitted, 'expiresAt'>,
): EventStream {
  reply.hijack()
  const { raw } = reply
  const closed = new AbortController()
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  raw.write(': open\n\n')
  let unreadAtHeartbeat = 0
  const heartbeat = setInterval(() => {
    // The client read nothing since the last heartbeat.
    if (unreadAtHeartbeat > 0 && raw.writableLength >= unreadAtHeartbeat) return drop()
    unreadAtHeartbeat = raw.writableLength
    raw.write(': alive\n\n')
  }, HEARTBEAT_MS)
  const leftMs = expiresAt === null ? MAX_STREAM_MS : expiresAt.getTime() - app.clock.now().getTime()
  const expiry = setTimeout(() => end(), Math.min(leftMs, MAX_STREAM_MS))
  const drop = () => {
    end()
    raw.destroy()
  }
  const close = () => end()
  const end = (lastData?: string) => {
    if (lastData !== undefined && !closed.signal.aborted) raw.write(`data: ${lastData}\n\n`)
    clearInterval(heartbeat)
    clearTimeout(expiry)
    stopping.removeEventListener('abort', close)
    closed.abort()
    raw.end()
  }
  // Not the request: it is closed as soon as its body is read.
  raw.once('close', close)
  raw.once('error', close)
  stopping.addEventListener('abort', close)
  // The service is stopping, or the client disconnected during authentication: these events do not fire again.
  if (stopping.aborted || raw.destroyed || request.raw.socket.destroyed) end()
  return {
    signal: closed.signal,
    end,
    send(event, data) {
      if (closed.signal.aborted) return
      if (raw.writableLength > MAX_UNREAD_BYTES) return drop()
      raw.write(`${event === null ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`)
    },
  }
}

/**
 * Cookies of one call. PUBLIC_URL decides about `Secure`, never a header. The prefix `__Host-` requires the path `/`.
 */
function callCookies(config: Config, request: FastifyRequest, reply: FastifyReply): Cookies {
  const secure = config.publicUrl.startsWith('https:')
  const pathOf = (path: string) => (config.cookiePrefix === '' ? path : '/')
  return {
    get: (name) => request.cookies[config.cookiePrefix + name] ?? null,
    set(name, value, options) {
      void reply.setCookie(config.cookiePrefix + name, value, {
        httpOnly: true,
        secure,
        sameSite: options.sameSite,
        path: pathOf(options.path),
        maxAge: options.maxAgeSeconds,
      })
    },
    clear(name, path) {
      void reply.setCookie(config.cookiePrefix + name, '', {
        httpOnly: true,
        secure,
        sameSite: 'lax',
        path: pathOf(path),
        maxAge: 0,
      })
    },
  }
}

/**
 * Sends a file of a client as a download. Nothing in it may run in our origin: browsers must not guess its type, and
 * show it without scripts, frames or requests.
 */
function sendFile(reply: FastifyReply, file: SentFile): void {
  if (file.sizeBytes !== null) void reply.header('content-length', file.sizeBytes)
  void reply
    .header('content-disposition', contentDisposition(file.filename))
    .header('content-type', file.contentType)
    .header('content-security-policy', "sandbox; default-src 'none'")
    .header('x-content-type-options', 'nosniff')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('cache-control', 'private, no-store')
    .send(Readable.from(file.chunks, { objectMode: false }))
}

/** RFC 6266: a plain name for old clients, without characters that end the quotes, and the full name percent-encoded. */
export function contentDisposition(filename: string): string {
  const plain = filename.replaceAll(/[^\w.() -]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** As long as the server waits for any request. A client that sends nothing is disconnected before. */
const UPLOAD_TIMEOUT_MS = 600_000
/** Uploads of a process at a time. Each holds a few MiB: a piece, compressed, and as the database receives it. */
const MAX_UPLOADS = 20
/** An announced body of this size, which any request may have, needs no place among them. */
const SMALL_BYTES = 1024 * 1024
/** The share of one owner, so that slow uploads of one organisation leave room for those of others. */
export const MAX_UPLOADS_PER_OWNER = 5

type Uploads = {
  /**
   * Runs a handler that reads the body of a request as a file.
   * @param owner an organisation, or the address of a caller without one
   * @throws AppError too_large, by the announced length; invalid; unavailable while too many are received, of the owner or
   *   of all
   */
  receive<T>(
    owner: string,
    request: IncomingMessage,
    maxBytes: number,
    handle: (upload: Upload) => Promise<T>,
  ): Promise<T>
}

function createUploads(): Uploads {
  let running = 0
  const byOwner = new Map<string, number>()
  return {
    async receive(owner, request, maxBytes, handle) {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw fileTooLarge(maxBytes)
      if (request.headers['content-encoding'] !== undefined) throw invalid('Send the file without a Content-Encoding.')
      const upload = { contentType: request.headers['content-type'] ?? null, content: bytesOf(request, maxBytes) }
      if (Number(request.headers['content-length'] ?? Infinity) <= SMALL_BYTES) return handle(upload)
      const own = byOwner.get(owner) ?? 0
      if (running >= MAX_UPLOADS || own >= MAX_UPLOADS_PER_OWNER)
        throw unavailable('Too many uploads at once. Try again in a few seconds.', 5)
      running++
      byOwner.set(owner, own + 1)
      limitBodyTime(request, UPLOAD_TIMEOUT_MS)
      try {
        return await handle(upload)
      } finally {
        running--
        const left = (byOwner.get(owner) ?? 1) - 1
        if (left === 0) byOwner.delete(owner)
        else byOwner.set(owner, left)
      }
    },
  }
}

/** The connection stays open for the answer when the handler stops reading. */
async function* bytesOf(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  try {
    const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
    for await (const part of parts) {
      bytes += part.length
      if (bytes > maxBytes) throw fileTooLarge(maxBytes)
      yield part
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw invalid('The file did not arrive completely.')
  }
}

const fileTooLarge = (maxBytes: number): AppError =>
  tooLarge(`A file may have at most ${maxBytes.toLocaleString('en')} bytes.`)
