import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../context/app.ts'
import { type AppError, forbidden, invalid, notFound, rateLimited, tooLarge, unavailable } from '../kernel/errors.ts'
import { eventIdFrom, newId, unhyphenate } from '../kernel/ids.ts'
import { categoryOf } from '../protocol/categories.ts'
import { decodeStoreBody, MOST_EVENT_BYTES } from '../protocol/decode-store.ts'
import { contentEncodingFrom } from '../protocol/decode.ts'
import { isEventShaped, makesEvent, parseEnvelope, parseEnvelopeHeader, type Envelope } from '../protocol/envelope.ts'
import { topLevelString } from '../protocol/json-guard.ts'
import { checkDsn, noKey, readAuth } from '../protocol/sentry-auth.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import type { Spool } from '../spool/write.ts'
import { answerAccepted, answerError, answerMethod, answerPixel, answerPreflight, rateLimitHeaders } from './answers.ts'
import { AbortedError, type Bodies } from './intake-body.ts'
import { countAnswer, countLatency, type IntakeCounters } from './intake-counters.ts'
import { isAllowedOrigin } from './allowed-origin.ts'
import { matchIntake, type IntakeRoute } from './intake-route.ts'
import { judgeItems, type Judgement } from './judge-items.ts'
import type { RateLimiter } from './limits.ts'
import type { ProjectKey, ProjectKeys } from './project-keys.ts'
import type { Refusals } from './refusals.ts'

export type IntakeDeps = {
  readonly keys: ProjectKeys
  readonly spool: Spool
  readonly limiter: RateLimiter
  readonly refusals: Refusals
  readonly bodies: Bodies
  readonly counters: IntakeCounters
  /** Who really sent the request: socket peer and X-Forwarded-For → address. */
  readonly addressOf: (peer: string | undefined, forwardedFor: string | string[] | undefined) => string
  /** A body must have arrived by then, however it drips. */
  readonly bodyTimeoutMs: number
}

/** A client that is refused before it finished sending may go on this long; closing at once would lose the answer. */
const LINGER_MS = 5_000

const METHODS = new Map([
  ['envelope', 'POST'],
  ['store', 'POST, GET'],
])

/**
 * Takes a request of an SDK: judges transport, key, limits and the envelope's grammar, puts the bytes on the spool,
 * and answers only when they are on disk. Payloads are looked at by digestion.
 * @returns false when the URL is not SDK traffic; nothing was touched then
 */
export function handleIntake(app: App, deps: IntakeDeps, request: IncomingMessage, response: ServerResponse): boolean {
  const route = matchIntake(request.url ?? '')
  if (route === null) return false
  deps.counters.requests++
  const methods = METHODS.get(route.endpoint)
  if (methods !== undefined && request.method === 'OPTIONS') {
    answerPreflight(response, methods)
    countAnswer(deps.counters, 204)
    return true
  }
  if (methods !== undefined && !methods.includes(request.method ?? '-')) {
    answerMethod(response, methods)
    countAnswer(deps.counters, 405)
    lingerUnread(request)
    return true
  }
  const timer = setTimeout(() => {
    refuse(app, deps, request, response, invalid('The body did not arrive in time.'))
    // Once the answer is out: nothing more is expected of this client.
    response.once('finish', () => request.destroy())
  }, deps.bodyTimeoutMs)
  const startedMs = app.clock.monotonicMs()
  accept(app, deps, route, request, () => clearTimeout(timer))
    .then(
      (eventId) => {
        countLatency(deps.counters, app.clock.monotonicMs() - startedMs)
        countAnswer(deps.counters, 200)
        if (request.method === 'GET') answerPixel(response)
        else answerAccepted(response, eventId)
      },
      (error: unknown) => refuse(app, deps, request, response, error),
    )
    .finally(() => {
      clearTimeout(timer)
      deps.bodies.release(request)
    })
  return true
}

function refuse(app: App, deps: IntakeDeps, request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (error instanceof AbortedError) {
    deps.counters.aborted++
    response.destroy()
    return
  }
  if (response.headersSent) return
  const status = answerError(response, error)
  countAnswer(deps.counters, status)
  if (status === 500) app.log.error({ err: error, path: request.url?.split('?', 1)[0] }, 'intake failed')
  lingerUnread(request)
}

function lingerUnread(request: IncomingMessage): void {
  if (request.complete) return
  request.resume()
  const timer = setTimeout(() => {
    if (!request.complete) request.destroy()
  }, LINGER_MS)
  timer.unref()
}

/** @returns the event id to answer, null when the request held nothing that makes an event */
async function accept(
  app: App,
  deps: IntakeDeps,
  route: IntakeRoute,
  request: IncomingMessage,
  bodyArrived: () => void,
): Promise<string | null> {
  if (route.endpoint !== 'envelope' && route.endpoint !== 'store') throw notFound('Endpoint')
  const { headers } = request
  const clientIp = deps.addressOf(request.socket.remoteAddress, headers['x-forwarded-for'])
  const addressWait = deps.limiter.takeAddress(clientIp)
  if (addressWait > 0)
    throw rateLimited(
      'Too many requests from this address.',
      addressWait,
      rateLimitHeaders(new Map([['', addressWait]]), 'address_limit'),
    )

  const auth = readAuth({
    xSentryAuth: textOf(headers['x-sentry-auth']),
    authorization: headers.authorization,
    query: route.query,
  })
  const encoding = contentEncodingFrom(headers['content-encoding'])
  let publicKey = auth?.key ?? null
  if (publicKey === null) {
    if (route.endpoint === 'store' || route.projectNumber === null) throw noKey()
    const header = parseEnvelopeHeader(await deps.bodies.readFirstLine(request, encoding))
    publicKey = checkDsn(header.dsn, null, route.projectNumber)
  }
  const found = deps.keys.find(publicKey)
  const key = judgeKey(app, route, found instanceof Promise ? await found.catch(databaseAway) : found)
  if (!isAllowedOrigin(key.allowedOrigins, headers.origin))
    throw forbidden('The project takes nothing from this origin.')
  judgeReadiness(deps.spool)

  const isGet = request.method === 'GET'
  const body = isGet ? bodyOfQuery(route.query) : await deps.bodies.read(request)
  bodyArrived()
  const common = {
    projectId: key.projectId,
    projectNumber: key.projectNumber,
    keyId: key.id,
    receivedAtMs: app.clock.now().getTime(),
    encoding: isGet ? 'none' : encoding,
    clientIp: clientIp === '' ? null : clientIp,
    userAgent: headers['user-agent']?.slice(0, 500) ?? null,
    origin: headers.origin?.slice(0, 300) ?? null,
    sdkClient: auth?.client?.slice(0, 200) ?? null,
    body,
  } satisfies Partial<SpoolEntry>

  if (route.endpoint === 'store') {
    const { json } = decodeStoreBody(body, common.encoding)
    const eventId = eventIdFrom(topLevelString(json, 'event_id')) ?? unhyphenate(newId())
    const wait = deps.limiter.takeItem(key.id, 'error', key.ratePerMinute)
    if (wait > 0) {
      deps.counters.dropped.rate_limited++
      deps.refusals.add(key.projectId, key.id, 'error', 'rate_limited')
      throw rateLimited(
        'Too many errors from this key.',
        wait,
        rateLimitHeaders(new Map([['error', wait]]), 'rate_limit'),
      )
    }
    await store(deps, { ...common, endpoint: 'store', eventId, dropped: [] }, key)
    return eventId
  }

  const { envelope, judgement, eventId } = await deps.bodies.decode(body, encoding, (decoded) => {
    const parsed = parseEnvelope(decoded)
    checkDsn(parsed.header.dsn, publicKey, route.projectNumber ?? '')
    return { envelope: parsed, judgement: judgeItems(parsed.items, key, deps.limiter), eventId: idOf(parsed, decoded) }
  })
  for (const { reason } of judgement.dropped) deps.counters.dropped[reason]++
  if (judgement.kept === 0 && judgement.dropped.length > 0) {
    for (const { index, reason } of judgement.dropped)
      deps.refusals.add(key.projectId, key.id, categoryOf(envelope.items[index]?.type ?? ''), reason)
    throw limitedBy(judgement) ?? tooLarge('Every item of the envelope is over its size limit.')
  }
  await store(deps, { ...common, endpoint: 'envelope', eventId, dropped: judgement.dropped }, key)
  const limited = limitedBy(judgement)
  // The rest is stored: the answer only tells the client what to hold back from now on.
  if (limited !== null) throw limited
  return eventId
}

async function store(deps: IntakeDeps, entry: SpoolEntry, key: ProjectKey): Promise<void> {
  await deps.spool.append(entry)
  deps.keys.markSeen(key)
  deps.counters.accepted++
  deps.counters.acceptedBytes += entry.body.length
}

/** @throws AppError `forbidden` with the reason (ingest.md §7.1) */
function judgeKey(app: App, route: IntakeRoute, key: ProjectKey | null): ProjectKey {
  if (key === null) throw forbidden('The key is unknown.')
  if (key.expiresAtMs !== null && key.expiresAtMs <= app.clock.now().getTime())
    throw forbidden('The key was rotated or switched off.')
  if (route.projectNumber !== null && route.projectNumber !== String(key.projectNumber))
    throw forbidden('The key belongs to another project.')
  const { region } = app.config
  if (region !== null && region !== key.region)
    throw forbidden(`This installation serves projects of ${region}; this project belongs to ${key.region}.`)
  return key
}

/** A refusal because of overload costs nothing but the look-up of the key: no body is read for it. */
function judgeReadiness(spool: Spool): void {
  const state = spool.readiness()
  if (state === 'down') throw databaseIsAway()
  if (state === 'full') throw rateLimited('The service is busy.', 5, rateLimitHeaders(new Map([['', 5]]), 'busy'))
}

const databaseIsAway = (cause?: unknown): AppError =>
  unavailable('The event cannot be stored at the moment. Try again in a few seconds.', 5, cause)

const databaseAway = (cause: unknown): never => {
  throw databaseIsAway(cause)
}

/** The 429 for items over their rate, null when none were. */
function limitedBy({ limited }: Judgement): AppError | null {
  if (limited.size === 0) return null
  return rateLimited(
    `Too many items from this key: ${[...limited.keys()].join(', ')}.`,
    Math.max(...limited.values()),
    rateLimitHeaders(limited, 'rate_limit'),
  )
}

/** The header's id, else the payload's, else a new one; null where nothing makes an event (§6.1 rule 11). */
function idOf({ header, items }: Envelope, decoded: Buffer): string | null {
  if (header.eventId !== null) return header.eventId
  const item = items.find(({ type }) => makesEvent(type) || isEventShaped(type))
  if (item === undefined) return null
  // One that is too large is dropped anyway, and looking through it would hold up everybody.
  const isLookedAt = isEventShaped(item.type) && item.end - item.start <= MOST_EVENT_BYTES
  const inPayload = isLookedAt ? topLevelString(decoded, 'event_id', item.start, item.end) : null
  return eventIdFrom(inPayload) ?? unhyphenate(newId())
}

/** GET carries the event in the query; kept as the form field it amounts to. */
function bodyOfQuery(query: string): Buffer {
  const field = query.split('&').find((pair) => pair.startsWith('sentry_data='))
  if (field === undefined) throw invalid('GET takes the event in sentry_data.')
  return Buffer.from(field)
}

/** Node joins a header sent twice for most names, and lists it for some. */
const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header
