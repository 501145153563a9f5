import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../platform/context/app.ts'
import type { ContentEncoding } from '../../platform/kernel/inflate.ts'
import { CANARY_ORG_ID } from '../../platform/kernel/ids.ts'
import { AppError, forbidden, notFound, rateLimited, unavailable, tooLarge } from '../../platform/kernel/errors.ts'
import { contentEncodingFrom, MAX_DECODED_BYTES } from '../../events/protocol/decode.ts'
import { parseEnvelopeHeader } from '../../events/protocol/envelope.ts'
import { checkDsn, noKey, readAuth, parseDsn } from '../../events/protocol/sentry-auth.ts'
import {
  answerError,
  answerMethod,
  answerPreflight,
  rateLimitHeaders,
  type Limit,
  countAnswer,
  countLatency,
  createCounters,
} from './answers.ts'
import { countRequest, countUnreceived, type RefusedKeys } from './count-refused.ts'
import type { Arrival, ArrivalHead, Endpoint } from './endpoint.ts'
import { matchEndpoint } from './endpoints.ts'
import { AbortedError, tooSlow } from './intake-body.ts'
import type { ProjectKey } from './project-keys.ts'
import type { RefusalReason } from '../../projects/registry/projects.api.ts'
import { takeEnvelope, type Arrived, type Taken, type TakingDeps } from './take-items.ts'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import { compressZstd } from '../../platform/kernel/zstd-encoder.ts'

export type IntakeDeps = TakingDeps & {
  readonly refusedKeys: RefusedKeys
  /** The client's address, from socket peer and X-Forwarded-For. */
  readonly addressOf: (peer: string | undefined, forwardedFor: string | string[] | undefined) => string
  /** Requests that no figure counts. */
  readonly isUncounted: (request: IncomingMessage) => boolean
  /** Time limit for receiving a body. */
  readonly bodyTimeoutMs: number
}

/** A request with its endpoint. */
type Call = { readonly endpoint: Endpoint; readonly head: ArrivalHead }

/**
 * Handles a request of an SDK: checks transport, key, limits and the envelope's grammar, appends the bytes to the spool,
 * and responds only when they are on disk. Digestion parses the payloads.
 * @returns false when the URL is not SDK traffic; nothing was touched then
 */
export function handleIntake(app: App, all: IntakeDeps, request: IncomingMessage, response: ServerResponse): boolean {
  const route = matchIntake(request.url ?? '')
  if (route === null) return false
  const deps = all.isUncounted(request) ? { ...all, counters: createCounters() } : all
  deps.counters.requests++
  const matched = matchEndpoint(route.endpoint)
  const methods = matched?.endpoint.methods
  if (methods !== undefined && request.method === 'OPTIONS') {
    answerPreflight(response, methods)
    countAnswer(deps.counters, 204)
    return true
  }
  if (methods !== undefined && !methods.split(', ').includes(request.method ?? '-')) {
    answerMethod(response, methods)
    countAnswer(deps.counters, 405)
    return true
  }
  let call: Call | null = null
  const refused = (error: unknown): void => refuse(app, deps, request, response, call, error)
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const startedMs = app.clock.monotonicMs()
  const work = async (): Promise<void> => {
    try {
      if (matched === null) throw notFound('Endpoint')
      const { endpoint, params } = matched
      const head = headOf(app, request, route, params, contentEncodingFrom(request.headers['content-encoding']))
      call = { endpoint, head }
      const taken = await accept(app, deps, route, request, call, () => clearTimeout(timer))
      // The rest is stored: the response only announces the limit.
      if (taken.limited !== null && endpoint.announcesLimits) throw taken.limited
      countLatency(deps.counters, app.clock.monotonicMs() - startedMs)
      const status = endpoint.accepted(response, head, taken)
      countAnswer(deps.counters, status)
    } finally {
      isOver = true
    }
  }
  const working = work()
  // Under overload most requests are refused at once.
  if (!isOver)
    timer = setTimeout(() => {
      response.shouldKeepAlive = false
      if (!deps.bodies.giveUp(request)) refused(tooSlow())
    }, matched?.endpoint.bodyTimeoutMs ?? deps.bodyTimeoutMs)
  working
    .catch((error: unknown) => {
      refused(error)
      // Rejected before anything was stored; a failed commit may still be reading the body.
      if (error instanceof AppError && (error.code === 'invalid' || error.code === 'too_large'))
        deps.bodies.discard(request)
    })
    .finally(() => {
      clearTimeout(timer)
      deps.bodies.release(request)
    })
  return true
}

function refuse(
  app: App,
  deps: IntakeDeps,
  request: IncomingMessage,
  response: ServerResponse,
  call: Call | null,
  error: unknown,
): void {
  if (error instanceof AbortedError) {
    deps.counters.aborted++
    response.destroy()
    return
  }
  if (response.headersSent) return
  const status =
    error instanceof AppError && call?.endpoint.refused !== undefined
      ? call.endpoint.refused(response, call.head, error)
      : answerError(response, error)
  countAnswer(deps.counters, status)
  if (status === 500) app.log.error({ err: error, path: request.url?.split('?', 1)[0] }, 'intake failed')
}

function headOf(
  app: App,
  { method, headers }: IncomingMessage,
  { query }: IntakeRoute,
  params: ArrivalHead['params'],
  encoding: ContentEncoding,
): ArrivalHead {
  return {
    method: method ?? 'POST',
    params,
    query,
    headers,
    mediaType: (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '',
    encoding,
    receivedAt: app.clock.now(),
  }
}

async function accept(
  app: App,
  deps: IntakeDeps,
  route: IntakeRoute,
  request: IncomingMessage,
  call: Call,
  bodyArrived: () => void,
): Promise<Taken> {
  const { endpoint, head } = call
  const { headers } = request
  const clientIp = deps.addressOf(request.socket.remoteAddress, headers['x-forwarded-for'])
  // Endpoints that never announce limits have only the limits of their key.
  const addressWait = endpoint.announcesLimits ? deps.limiter.takeAddress(clientIp) : 0
  if (addressWait > 0)
    throw rateLimited(
      'Too many requests from this address.',
      addressWait,
      rateLimitHeaders([{ categories: [], seconds: addressWait, scope: 'key', reason: 'address_limit' }]),
    )

  const auth = readAuth({
    xSentryAuth: textOf(headers['x-sentry-auth']),
    authorization: headers.authorization,
    query: route.query,
    pathKey: head.params.key,
  })
  deps.bodies.own(request, `address ${clientIp}`)
  let publicKey = auth?.key ?? null
  if (publicKey === null) {
    if (endpoint.hasKeyInBody !== true || route.projectNumber === null) throw noKey()
    const header = parseEnvelopeHeader(await deps.bodies.readFirstLine(request, head.encoding))
    publicKey = checkDsn(header.dsn, null, route.projectNumber)
  }
  const found = deps.keys.find(publicKey)
  const key = checkKey(app, deps, route, found instanceof Promise ? await found.catch(databaseAway) : found)
  if (!isAllowedOrigin(key.allowedOrigins, headers.origin))
    throw forbidden('The project does not accept events from this origin.')
  checkReadiness(deps, key, endpoint)
  deps.bodies.own(request, `key ${key.id}`)
  deps.bodies.own(request, `organisation ${key.orgId}`)
  endpoint.check?.(head)
  if (endpoint.storesNothing?.(head) === true) {
    bodyArrived()
    return NOTHING_TAKEN
  }

  const bodyInUrl = endpoint.bodyInUrl?.(head) ?? null
  const body =
    bodyInUrl ??
    (await deps.bodies.read(request, endpoint.maxWireBytes).catch((error: unknown) => {
      countUnreceived(deps, key, error)
      throw error
    }))
  bodyArrived()
  const arrived: Arrived = {
    projectId: key.projectId,
    projectNumber: key.projectNumber,
    keyId: key.id,
    receivedAtMs: app.clock.now().getTime(),
    encoding: bodyInUrl === null ? head.encoding : 'none',
    clientIp: clientIp === '' ? null : clientIp,
    userAgent: headers['user-agent']?.slice(0, 500) ?? null,
    origin: headers.origin?.slice(0, 300) ?? null,
    sdkClient: auth?.client?.slice(0, 200) ?? null,
    body,
  }
  try {
    return await take(deps, route, call, arrived, key)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid')
      deps.refusedKeys.mark(String(key.projectNumber), 'unreadable')
    throw error
  }
}

async function take(
  deps: IntakeDeps,
  { projectNumber }: IntakeRoute,
  call: Call,
  arrived: Arrived,
  key: ProjectKey,
): Promise<Taken> {
  const { endpoint } = call
  if (endpoint.take !== undefined) return endpoint.take(deps, arrived, key)
  const made =
    endpoint.toEnvelope === undefined ? { arrived, decoded: null } : await makeEnvelope(deps, arrived, key, call)
  return takeEnvelope(deps, made.arrived, key, {
    decoded: made.decoded,
    projectNumber,
    maxAttachmentBytes: endpoint.maxAttachmentBytes,
  })
}

const NOTHING_TAKEN: Taken = { eventId: null, limited: null, announced: null }

/** Makes an envelope of a request, and what the spool stores of it. */
async function makeEnvelope(
  deps: IntakeDeps,
  arrived: Arrived,
  key: ProjectKey,
  { endpoint, head }: Call,
): Promise<{ readonly arrived: Arrived; readonly decoded: Buffer | null }> {
  const { body, encoding } = arrived
  let isDecoded = false
  const arrival: Arrival = {
    ...head,
    body,
    async decoded() {
      // Copied: the decoded bytes are valid only during the call.
      const decoded =
        encoding === 'none' ? body : await deps.bodies.decode(body, encoding, (bytes) => Buffer.from(bytes))
      isDecoded = true
      return decoded
    },
  }
  try {
    const decoded = (await endpoint.toEnvelope?.(arrival)) ?? body
    return { arrived: { ...arrived, ...(await packEnvelope(decoded)) }, decoded }
  } catch (error) {
    // A malformed form, dump or export request counts like an envelope with broken grammar.
    if (isDecoded && error instanceof AppError && error.code === 'invalid')
      countRequest(deps, key, 'invalid', 'envelope')
    else countUnreceived(deps, key, error)
    throw error
  }
}

/** @throws AppError `forbidden` with the reason (docs/protocol.md §5.1) */
function checkKey(
  app: App,
  { refusedKeys }: Pick<IntakeDeps, 'refusedKeys'>,
  { projectNumber }: IntakeRoute,
  key: ProjectKey | null,
): ProjectKey {
  const refuse = (reason: RefusalReason, message: string): AppError => {
    refusedKeys.mark(projectNumber, reason)
    return forbidden(message)
  }
  if (key === null) throw refuse('unknown', 'The key is unknown.')
  if (key.expiresAtMs !== null && key.expiresAtMs <= app.clock.now().getTime())
    throw refuse('expired', 'The key was rotated or switched off.')
  if (projectNumber !== null && projectNumber !== String(key.projectNumber) && projectNumber !== key.dsnNumber)
    throw refuse('other_project', 'The key belongs to another project.')
  const { region } = app.config
  // The canary tests every intake.
  if (region !== null && region !== key.region && key.orgId !== CANARY_ORG_ID)
    throw forbidden(`This installation serves projects of ${region}; this project belongs to ${key.region}.`)
  return key
}

/**
 * Under overload a request is refused after the look-up of its key, before its body is read.
 * @throws AppError `rate_limited` or `unavailable`; counted as one item
 */
function checkReadiness(deps: IntakeDeps, key: ProjectKey, { announcesLimits }: Endpoint): void {
  const state = deps.spool.readiness(key)
  if (state === 'open') return
  if (state === 'full') countRequest(deps, key, 'rate_limited', 'busy')
  else countRequest(deps, key, 'dropped', state === 'disk' ? 'disk' : 'database')
  if (state === 'down') throw databaseIsAway()
  if (state === 'disk') throw unavailable('The disk of the service is full.', 30)
  const busy = announcesLimits ? BUSY.announced : BUSY.plain
  throw busy[deps.counters.requests % busy.length] ?? unavailable('The service is busy.', 5)
}

/**
 * Made once: the stack trace of an error costs a fifth of a refusal. The waits are spread out, so that clients do not retry in
 * the same second.
 */
const BUSY_SECONDS = [5, 6, 7, 8, 9, 10]
const BUSY = {
  plain: BUSY_SECONDS.map((seconds) => unavailable('The service is busy.', seconds)),
  announced: BUSY_SECONDS.map((seconds) => {
    const limit: Limit = { categories: [], seconds, scope: 'organization', reason: 'busy' }
    return rateLimited('The service is busy.', seconds, rateLimitHeaders([limit]))
  }),
}

const databaseIsAway = (cause?: unknown): AppError =>
  unavailable('The event cannot be stored at the moment. Try again in a few seconds.', 5, cause)

const databaseAway = (cause: unknown): never => {
  throw databaseIsAway(cause)
}

/** Node joins the values of a repeated header, except for some names, where it returns a list. */
const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header

/**
 * Whether a project takes data from a browser's Origin. Only browsers send one; a request without it passes.
 * @param allowed origins (`https://shop.example`), hosts (`shop.example`), either with `*.` before the host for every
 * host below it, or `*`; empty allows all
 */
export function isAllowedOrigin(allowed: readonly string[], origin: string | undefined): boolean {
  if (allowed.length === 0 || origin === undefined) return true
  const given = origin.toLowerCase()
  // Browsers send a scheme, a host and a port; anything else has no host.
  const host = /^[a-z][a-z0-9+.-]*:\/\/([^/\\?#@\s]+)$/.exec(given)?.[1] ?? ''
  return allowed.some((entry) => {
    const pattern = entry.toLowerCase().replace(/\/$/, '')
    if (pattern === '*') return true
    const scheme = /^[a-z][a-z0-9+.-]*:\/\//.exec(pattern)?.[0] ?? ''
    if (scheme !== '' && !given.startsWith(scheme)) return false
    const name = pattern.slice(scheme.length)
    if (host === '') return false
    if (!name.startsWith('*.')) return host === name
    return host.endsWith(name.slice(1)) && host.length > name.length - 1
  })
}

/** The URL of an SDK request: everything under `/api/<digits>/`, digits other than 0 (docs/protocol.md §1.2). */
type IntakeRoute = {
  /** As in the path; null for the very old `/api/store/`, where the key determines the project. */
  readonly projectNumber: string | null
  /** The path after the number, without slashes around it; for example `envelope`. */
  readonly endpoint: string
  /** The query string, not decoded. */
  readonly query: string
}

const PLAIN = /^\/api\/(?:([1-9]\d{0,19})(?:\/([^?]*))?|(store)\/?)(?:\?|$)/
/** A DSN may carry a base path that a reverse proxy did not strip. */
const BASED =
  /^\/(?!api\/)[^?]*?\/api\/(?:([1-9]\d{0,19})\/((?:envelope|store|security|csp-report|nel|minidump|events|cron|integration|otlp)(?:\/[^?]*)?)|(store)\/?)(?:\?|$)/

/** The form of a browser SDK, which has its DSN in the query. */
const DIALOG = /^(?:\/(?!api\/)[^?]*?)?\/api\/embed\/error-page\/?(?:\?|$)/

/** Recognises SDK traffic by the URL; null for the product API. */
function matchIntake(url: string): IntakeRoute | null {
  if (url.includes('/api/embed/') && DIALOG.test(url)) return dialogRoute(url)
  const match = PLAIN.exec(url) ?? (url.startsWith('/api/') ? null : BASED.exec(url))
  if (match === null) return null
  const mark = url.indexOf('?')
  return {
    projectNumber: match[1] ?? null,
    endpoint: match[3] ?? (match[2] ?? '').replace(/\/$/, ''),
    query: mark === -1 ? '' : url.slice(mark + 1),
  }
}

/** Without a valid DSN the route has no key and is refused like any other request without one. */
function dialogRoute(url: string): IntakeRoute {
  const mark = url.indexOf('?')
  const query = mark === -1 ? '' : url.slice(mark + 1)
  const route = { projectNumber: null, endpoint: 'embed/error-page', query }
  const dsn = new URLSearchParams(query).get('dsn')
  if (dsn === null) return route
  try {
    const { publicKey, projectNumber } = parseDsn(dsn)
    return { ...route, projectNumber, endpoint: `${route.endpoint}/${publicKey}` }
  } catch {
    return route
  }
}

/** Smaller bodies are not compressed. */
const MIN_BYTES = 512
/** Up to this size compression takes less than a millisecond. */
const SYNC_BYTES = 128 * 1024
const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const compress = promisify(zstdCompress)

/**
 * Compresses an envelope that intake built, for the spool.
 * @throws AppError `too_large` when digestion could not decode it again
 */
async function packEnvelope(envelope: Buffer): Promise<{ body: Buffer; encoding: ContentEncoding }> {
  if (envelope.length > MAX_DECODED_BYTES)
    throw tooLarge(`The request holds more than ${MAX_DECODED_BYTES / 1024 / 1024} MiB.`)
  if (envelope.length < MIN_BYTES) return { body: envelope, encoding: 'none' }
  const body = envelope.length <= SYNC_BYTES ? compressZstd(envelope) : await compress(envelope, OPTIONS)
  // Digestion rejects a ratio above 100:1 as a decompression bomb.
  return body.length * 50 < envelope.length ? { body: envelope, encoding: 'none' } : { body, encoding: 'zstd' }
}
