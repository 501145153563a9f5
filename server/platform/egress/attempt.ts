import {
  EgressError,
  type EgressRequest,
  type EgressResponse,
  type EgressTimings,
  type EgressErrorKind,
} from '../context/egress.ts'
import { Refusal, type ConnectionSteps } from './connect.ts'
import type { Connection } from './connections.ts'

const TIMEOUT_MS = 10_000
const MAX_BODY_BYTES = 65_536

/** The client writes them, or they would change how the connection is read. */
const OWN_HEADERS = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export type Attempt = {
  /** At most once. @throws EgressError */
  run(url: URL, connection: Connection): Promise<EgressResponse>
  /** Ends it as `aborted`; after the header line, with what came of the body. */
  abort(): void
  /** The error for a caller. */
  failure(error: unknown): EgressError
}

/** One request and its clock, which runs from here. */
export function createAttempt(request: EgressRequest): Attempt {
  const startedMs = performance.now()
  const timeoutMs = request.timeoutMs ?? TIMEOUT_MS
  const maxBodyBytes = request.maxBodyBytes ?? MAX_BODY_BYTES
  const { promise, resolve, reject } = Promise.withResolvers<EgressResponse>()
  let connection: Connection | null = null
  let settled = false
  let head: Pick<EgressResponse, 'status' | 'headers'> | null = null
  const parts: Buffer[] = []
  let sizeBytes = 0

  const take = (chunk: Buffer): void => {
    if (request.onBody === undefined) parts.push(chunk)
    else if (head !== null) request.onBody(chunk, head)
  }

  const timings = (): EgressTimings => ({
    dnsMs: connection?.steps?.dnsMs ?? null,
    connectMs: connection?.steps?.connectMs ?? null,
    tlsMs: connection?.steps?.tlsMs ?? null,
    durationMs: performance.now() - startedMs,
  })
  const remoteIp = (): string | null => connection?.remoteIp ?? connection?.steps?.remoteIp ?? null

  const failure = (error: unknown): EgressError => {
    const cause = underlying(error)
    const kind = classifyEgressError(cause, connection?.steps?.step ?? null)
    return new EgressError(kind, cause.code, cause.message, timings(), remoteIp(), error)
  }

  const settle = (error: EgressError | null, bodyComplete: boolean): void => {
    if (settled) return
    settled = true
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', abort)
    // The header line is the answer: what happens to the body does not change the status.
    if (head === null) reject(error ?? failure(new Error('no answer')))
    else resolve({ ...head, body: Buffer.concat(parts), bodyComplete, timings: timings(), remoteIp: remoteIp() })
    if (bodyComplete && error === null) connection?.release()
    else connection?.drop()
  }

  const abort = (): void => {
    settle(new EgressError('aborted', 'EGRESS_ABORTED', 'The request was aborted.', timings(), remoteIp()), false)
  }
  const timeOut = (): void => {
    const text = `no answer within ${timeoutMs} ms`
    settle(new EgressError('timeout', 'EGRESS_TIMEOUT', text, timings(), remoteIp()), false)
  }
  // After a busy moment of this process timers run first: an answer that has arrived is read before the clock ends.
  const timer = setTimeout(() => setImmediate(timeOut), timeoutMs)
  request.signal?.addEventListener('abort', abort, { once: true })
  if (request.signal?.aborted === true) abort()
  // `run` may come after the end.
  promise.catch(() => {})

  const send = (url: URL, { client }: Connection): void => {
    const forbidden = Object.keys(request.headers).find((name) => OWN_HEADERS.has(name.toLowerCase()))
    if (forbidden !== undefined)
      throw new Refusal('EGRESS_HEADER', `The header ${forbidden} is set by the client itself.`)
    client.dispatch(
      {
        path: `${url.pathname}${url.search}`,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
      },
      {
        onRequestStart(controller) {
          if (settled) controller.abort(new Error('the request has ended'))
        },
        onResponseStart(controller, status) {
          // An interim answer (103 Early Hints).
          if (status < 200) return
          head = { status, headers: pairs(controller.rawHeaders) }
        },
        onResponseData(_controller, chunk) {
          if (settled) return
          const left = maxBodyBytes - sizeBytes
          sizeBytes += chunk.length
          // A copy: the chunk is a view of a buffer that is read into again.
          if (left > 0) take(Buffer.from(chunk.subarray(0, left)))
          if (chunk.length > left) settle(null, false)
        },
        onResponseEnd() {
          settle(null, true)
        },
        onResponseError(_controller, error) {
          settle(failure(error), false)
        },
      },
    )
  }

  return {
    run(url, given) {
      connection = given
      if (settled) given.drop()
      else {
        try {
          send(url, given)
        } catch (error) {
          settle(failure(error), false)
        }
      }
      return promise
    },
    abort,
    failure(error) {
      const result = failure(error)
      settle(result, false)
      return result
    },
  }
}

function pairs(raw: unknown): [string, string][] {
  if (!Array.isArray(raw)) return []
  const texts = raw.map((part: unknown) => (Buffer.isBuffer(part) ? part.toString('latin1') : String(part)))
  return texts.flatMap((name, index) => (index % 2 === 0 ? [[name, texts[index + 1] ?? ''] as [string, string]] : []))
}

type Underlying = { readonly error: Error; readonly code: string; readonly message: string }

/** Returns the error below every `cause` and aggregate: its code and text are the ones an operator can look up. */
function underlying(error: unknown): Underlying {
  let deepest = error instanceof Error ? error : new Error(String(error))
  // A chain may be a ring.
  for (let depth = 0; depth < 10; depth += 1) {
    // One error for each address of a name; the first is the address that the resolver prefers.
    const next: unknown = deepest instanceof AggregateError ? deepest.errors[0] : deepest.cause
    if (!(next instanceof Error)) break
    deepest = next
  }
  // undici's parser gives no code.
  const code = 'code' in deepest && typeof deepest.code === 'string' ? deepest.code : deepest.name
  return { error: deepest, code, message: deepest.message }
}

/** @param step of the present connection; null on a reused one */
function classifyEgressError(
  { error, code, message }: Underlying,
  step: ConnectionSteps['step'] | null,
): EgressErrorKind {
  if (error instanceof Refusal) return 'refused'
  if (step === 'dns' || step === 'connect' || step === 'tls') return step
  // After the handshake: TLS 1.3 refuses a client without a certificate only then.
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls'
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') return 'refused'
  if (/^E[A-Z]+$/.test(code)) return 'reset'
  // undici reports the end of a connection with this code, and a 101 that was not asked for.
  return code === 'UND_ERR_SOCKET' && !message.startsWith('bad ') ? 'reset' : 'protocol'
}
