import { learnServiceTime } from '../ui/clock.ts'
import type { queryRoutes } from '../../server/assistant/query/query.api.ts'
import type { Addresses as Served } from '../../server/service/api/contract.ts'
import type { ByAddress, ClientAnswer, ClientCall } from '../../server/platform/kernel/contract.ts'
import { apiTexts } from './texts.ts'
import { endSession, refreshSession } from './session.ts'
import { noteRead } from './unwatched.ts'

/** Until the service has those of queries. */
export type Addresses = Served & ByAddress<typeof queryRoutes>
export type Address = keyof Addresses
export type AnswerOf<A extends Address> = ClientAnswer<Addresses[A]>
/** The body that the endpoint takes. */
export type BodyOf<A extends Address> = ClientCall<Addresses[A]> extends { body: infer Body } ? Body : never

/** The browser's dialog ended without a passkey. The message is for the user. */
export class PasskeyUnused extends Error {
  override readonly name = 'PasskeyUnused'
}

/** An error response, with the server's message; status 0 if there was no response. */
export class ApiError extends Error {
  readonly status: number
  readonly requestId: string | null
  /** Seconds to wait before a retry, from 429 and 503. */
  readonly retryAfterSeconds: number | null
  /** The header `X-Query-Mistake`: the place of a mistake in a query, as JSON. */
  readonly queryMistake: string | null

  constructor(
    status: number,
    message: string,
    requestId: string | null = null,
    retryAfterSeconds: number | null = null,
    queryMistake: string | null = null,
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.requestId = requestId
    this.retryAfterSeconds = retryAfterSeconds
    this.queryMistake = queryMistake
  }
}

/** A field of a query that may be left out is also left out where it is null or undefined. */
type Query<Q> = { [K in keyof Q]: Record<never, never> extends Pick<Q, K> ? Q[K] | null | undefined : Q[K] }
type Given<C> = 'query' extends keyof C ? Omit<C, 'query'> & { query?: Query<NonNullable<C['query']>> } : C

/** Optional if the route has no required input. */
type Input<A extends Address> = Given<ClientCall<Addresses[A]>> & {
  signal?: AbortSignal
  /** Replaces JSON.parse. */
  parse?: (text: string) => unknown
  /** For pages that work without a session: a missing one does not lead to the login page. */
  sessionOptional?: boolean
}
type Rest<A extends Address> = Record<never, never> extends Input<A> ? [input?: Input<A>] : [input: Input<A>]

type Loose = {
  params?: Readonly<Record<string, unknown>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
  signal?: AbortSignal
  parse?: (text: string) => unknown
  sessionOptional?: boolean
}

/** Fills parameters and query into `/api/issues/:issueId`. Arrays repeat, undefined is left out. */
export function buildAddress(path: string, params: Loose['params'] = {}, query: Loose['query'] = {}): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(textOf(params[name])))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== null) search.append(key, textOf(one))
  }
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Their 401 refuses what was sent, not the session. */
const PUBLIC_PATHS = new Set<string>([
  '/api/auth/login',
  '/api/auth/signup',
  '/api/auth/logout',
  '/api/auth/refresh',
  '/api/auth/2fa/continue',
  '/api/auth/passkeys/login/options',
  '/api/auth/passkeys/login/verify',
  '/api/auth/sso/link',
  '/api/auth/accept-invite',
])

/**
 * Calls an endpoint of the contract: `call('PATCH /api/issues/:issueId', { params, body })`. A wrong body, field or
 * address does not compile. An expired access token is refreshed once, for all tabs together.
 * @throws ApiError
 */
export async function call<A extends Address>(address: A, ...[input]: Rest<A>): Promise<AnswerOf<A>> {
  const loose: Loose = input ?? {}
  const startedMs = performance.now()
  const response = await respond(address, loose)
  // Live messages say nothing of what entry pages read.
  if (address.startsWith('GET ') && !address.startsWith('GET /api/auth/') && loose.sessionOptional !== true)
    noteRead(startedMs)
  if (response.status === 204) return undefined as AnswerOf<A>
  // The server serialises with the schema of this type, so the response is not validated again.
  return (await (loose.parse === undefined ? response.json() : loose.parse(await response.text()))) as AnswerOf<A>
}

/**
 * The response of an endpoint whose body is a stream.
 * @throws ApiError
 */
export const openStream = <A extends Address>(address: A, ...[input]: Rest<A>): Promise<Response> =>
  respond(address, input ?? {})

async function respond(address: Address, loose: Loose): Promise<Response> {
  const [method = 'GET', path = ''] = address.split(' ')
  const url = buildAddress(path, loose.params, loose.query)
  const startedAt = Date.now()
  let response = await send(method, url, loose)
  if (response.status === 401 && !PUBLIC_PATHS.has(path)) {
    const end = (reason: string | null) => {
      if (loose.sessionOptional !== true) endSession({ left: false, reason })
    }
    const renewal = await refreshSession(startedAt)
    if (!renewal.valid) {
      end(renewal.reason)
      throw await errorFrom(response)
    }
    response = await send(method, url, loose)
    if (response.status === 401) end(null)
  }
  if (!response.ok) throw await errorFrom(response)
  return response
}

async function send(method: string, url: string, { body, signal }: Loose): Promise<Response> {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  try {
    const response = await fetch(url, {
      method,
      credentials: 'same-origin',
      ...json,
      ...(signal === undefined ? {} : { signal }),
    })
    learnServiceTime(response.headers.get('date'))
    return response
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new ApiError(0, apiTexts.unreachable)
  }
}

/** The error that a refused response stands for. */
export async function errorFrom(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id')
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const mistake = response.headers.get('x-query-mistake')
  const given: unknown = await response.json().catch(() => null)
  const body = typeof given === 'object' && given !== null ? { ...given } : {}
  const message = 'error' in body && typeof body.error === 'string' ? body.error : apiTexts.answered(response.status)
  return new ApiError(response.status, message, requestId, Number.isFinite(seconds) ? seconds : null, mistake)
}
