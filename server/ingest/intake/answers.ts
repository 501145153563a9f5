import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { AppError, type ErrorCode } from '../../platform/kernel/errors.ts'
import type { Category } from '../../events/protocol/envelope.ts'
import type { DropReason } from '../outcomes/dropped-items.ts'

/** Answers in the form SDKs expect (docs/protocol.md §3.1, §5); unlike the product API errors carry `detail` beside `error`. */

/** On every answer: without them a browser SDK can read neither the limits nor the reason of a refusal. */
const CORS_NAMES = 'access-control-allow-origin'
const EXPOSED = 'x-sentry-error, x-sentry-rate-limits, retry-after'

const STATUS: Record<ErrorCode, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported_media: 415,
  rate_limited: 429,
  unavailable: 503,
}

/** @param further headers that announce limits, null for none. @returns the status, 200 */
export function answerAccepted(
  response: ServerResponse,
  eventId: string | null,
  further: Readonly<Record<string, string>> | null = null,
): number {
  send(response, 200, eventId === null ? '{}' : `{"id":"${eventId}"}`, further ?? undefined)
  return 200
}

/** Plain text, or nothing at all, where clients expect that. @returns the status, 200 */
export function answerText(response: ServerResponse, text: string): number {
  if (response.headersSent || response.destroyed) return 200
  const headers = [CORS_NAMES, '*', 'access-control-expose-headers', EXPOSED]
  if (text !== '') headers.push('content-type', 'text/plain; charset=utf-8')
  response.writeHead(200, [...headers, 'content-length', String(Buffer.byteLength(text))])
  response.end(text)
  return 200
}

/** Any other response of an endpoint. @returns the status */
export function answerWith(
  response: ServerResponse,
  status: number,
  contentType: string,
  body: Uint8Array | string,
  further: Readonly<Record<string, string>> = {},
): number {
  if (response.headersSent || response.destroyed) return status
  response.writeHead(status, {
    [CORS_NAMES]: '*',
    'access-control-expose-headers': EXPOSED,
    'content-type': contentType,
    'content-length': String(Buffer.byteLength(body)),
    ...further,
  })
  response.end(body)
  return status
}

/** Status and headers of a rejection, for endpoints with their own response format. */
export function toRefusalAnswer(error: AppError): {
  readonly status: number
  readonly headers: Record<string, string>
} {
  const { retryAfterSeconds, headers } = error.details
  return {
    status: STATUS[error.code],
    headers: {
      ...headers,
      'x-sentry-error': headerText(error.message),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
  }
}

/** For GET on /store/, which pages embed as an image. @returns the status, 200 */
export function answerPixel(response: ServerResponse): number {
  if (response.headersSent || response.destroyed) return 200
  response.writeHead(200, [
    CORS_NAMES,
    '*',
    'access-control-expose-headers',
    EXPOSED,
    'content-type',
    'image/gif',
    'content-length',
    String(PIXEL.length),
    'cache-control',
    'no-store',
  ])
  response.end(PIXEL)
  return 200
}

const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

export function answerPreflight(response: ServerResponse, methods: string): void {
  response.writeHead(204, {
    [CORS_NAMES]: '*',
    'access-control-allow-methods': methods,
    'access-control-allow-headers':
      'x-sentry-auth, x-requested-with, x-forwarded-for, origin, referer, accept, content-type, authentication, authorization, content-encoding, transfer-encoding, sentry-trace, baggage',
    'access-control-expose-headers': EXPOSED,
    'access-control-max-age': '3600',
    allow: methods,
  })
  response.end()
}

/** 405 with the allowed methods. */
export function answerMethod(response: ServerResponse, methods: string): void {
  const detail = `This endpoint takes ${methods} only.`
  send(response, 405, errorBody(detail), { allow: methods, 'x-sentry-error': detail })
}

/** An expected failure as its status; anything else is a bug, answered 500 without details. @returns the status */
export function answerError(response: ServerResponse, error: unknown): number {
  if (!(error instanceof AppError)) {
    send(response, 500, errorBody('Internal error'), { 'x-sentry-error': 'Internal error' })
    return 500
  }
  const { status, headers } = toRefusalAnswer(error)
  send(response, status, errorBody(error.message), headers)
  return status
}

function send(response: ServerResponse, status: number, body: string, further?: OutgoingHttpHeaders): void {
  if (response.headersSent || response.destroyed) return
  const headers = [
    CORS_NAMES,
    '*',
    'access-control-expose-headers',
    EXPOSED,
    'content-type',
    'application/json',
    'content-length',
    String(Buffer.byteLength(body)),
  ]
  if (further !== undefined) for (const [name, value] of Object.entries(further)) headers.push(name, String(value))
  response.writeHead(status, headers)
  response.end(body)
}

const errorBody = (detail: string): string => JSON.stringify({ detail, error: detail })

/** Header values are ASCII on one line. */
const headerText = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 200)

/** A rate limit for a client: categories (none: all of them), duration, reason. */
export type Limit = {
  readonly categories: readonly Category[]
  readonly seconds: number
  readonly scope: 'organization' | 'project' | 'key'
  readonly reason: string
}

/** `60:error;transaction:key:rate_limit, …` (docs/protocol.md §5.2). */
export function rateLimitHeaders(limits: readonly Limit[]): Record<string, string> {
  const entries = limits.map(
    ({ categories, seconds, scope, reason }) => `${seconds}:${categories.join(';')}:${scope}:${reason}`,
  )
  return { 'x-sentry-rate-limits': entries.join(', ') }
}

/** One entry per category of a key. */
export const keyLimits = (waits: ReadonlyMap<Category, number>): Limit[] =>
  [...waits].map(([category, seconds]) => ({ categories: [category], seconds, scope: 'key', reason: 'rate_limit' }))

/** Counts since the start, for /-/metrics. */
export type IntakeCounters = {
  requests: number
  /** Requests whose data is on disk. */
  accepted: number
  /** Requests whose client disconnected before the body was complete. */
  aborted: number
  /** Bytes of the bodies of accepted requests, as received. */
  acceptedBytes: number
  /** Answers by status. */
  readonly answers: Map<number, number>
  /** Items dropped by reason. */
  readonly dropped: Record<DropReason, number>
  /** Events accepted over their limit because their kind was new. */
  letThrough: number
  readonly latencyBoundsMs: readonly number[]
  /** Accepted requests by duration, from the headers to the commit, up to each bound and above the last. */
  readonly latency: number[]
  latencySumMs: number
}

/** Upper bounds of the latency buckets; a last bucket counts longer requests. */
const LATENCY_BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 250, 500, 1000, 5000] as const

export const createCounters = (): IntakeCounters => ({
  requests: 0,
  accepted: 0,
  aborted: 0,
  acceptedBytes: 0,
  answers: new Map(),
  dropped: { too_large: 0, rate_limited: 0, storm: 0, quota: 0 },
  letThrough: 0,
  latencyBoundsMs: LATENCY_BOUNDS_MS,
  latency: LATENCY_BOUNDS_MS.map(() => 0).concat(0),
  latencySumMs: 0,
})

export function countAnswer(counters: IntakeCounters, status: number): void {
  counters.answers.set(status, (counters.answers.get(status) ?? 0) + 1)
}

export function countLatency(counters: IntakeCounters, ms: number): void {
  let bucket = 0
  while (bucket < LATENCY_BOUNDS_MS.length && ms > (LATENCY_BOUNDS_MS[bucket] ?? 0)) bucket++
  counters.latency[bucket] = (counters.latency[bucket] ?? 0) + 1
  counters.latencySumMs += ms
}
