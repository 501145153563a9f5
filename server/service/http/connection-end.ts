import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { BODY_TIMEOUT_MS, limitBodyTime } from './body-time.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/** The rest of a body that is read for the next request of its connection. A larger one ends the connection. */
const MAX_KEPT_BODY_BYTES = 1024 * 1024
/** Read from a connection after its last answer: more than the largest body that an endpoint takes. */
const MAX_LEFT_BYTES = 128 * 1024 * 1024
/** A client that sends nothing for this time after its last answer is disconnected. */
const IDLE_MS = { inBody: 5_000, afterBody: 1_000 }
const CHECK_INTERVAL_MS = 500

/** Connections whose last answer is sent. */
const ending = new WeakSet<Socket>()
/** Connections whose client still sends the body of a request that is answered. */
const inBody = new WeakSet<Socket>()

/** @returns whether the last answer of a connection is sent: no further request on it is handled */
export const isEnding = (socket: Socket): boolean => ending.has(socket)

/**
 * Creates a server that leaves no connection in the middle of a body. A request may be answered before its body has
 * arrived. Then the rest is read, within limits, and the connection serves the next request; or the answer says
 * `Connection: close`.
 */
export function createOrderlyServer(options: ServerOptions, listener: RequestListener): Server {
  const server = createServer({ ...options, ServerResponse: OrderlyResponse }, listener)
  server.on('connection', (socket: Socket) => {
    // Node calls it after the last answer. Its own version closes at once: bytes that arrive later are answered with a
    // reset, which takes the answer from a client that has not read it yet.
    socket.destroySoon = () => endInOrder(socket)
  })
  return server
}

class OrderlyResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override writeHead(
    status: number,
    first?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    second?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    if (!this.req.complete && !this.headersSent) answerBeforeBody(this)
    return typeof first === 'string' ? super.writeHead(status, first, second) : super.writeHead(status, first)
  }
}

/** Decides what follows on the connection of a request whose body has not arrived. */
function answerBeforeBody(response: ServerResponse): void {
  const request = response.req
  const { headers, socket } = request
  const isChunked = headers['transfer-encoding'] !== undefined
  // The end of a request without a body is parsed after its head.
  if (!isChunked && headers['content-length'] === undefined) return
  if (isChunked || Number(headers['content-length']) > MAX_KEPT_BODY_BYTES) response.shouldKeepAlive = false
  // Before Node ends the connection.
  response.prependOnceListener('finish', () => {
    if (request.complete || request.destroyed) return
    inBody.add(socket)
    request.once('end', () => inBody.delete(socket))
    // A parser or handler that read from the body before the answer needs no more of it.
    request.removeAllListeners('data').removeAllListeners('readable').resume()
    limitBodyTime(request, BODY_TIMEOUT_MS)
  })
}

/** Ends a connection after what is written: reads on for a while, so that the client can read the answer. */
export function endInOrder(socket: Socket): void {
  if (socket.destroyed || ending.has(socket)) return
  ending.add(socket)
  socket.end()
  const maxBytes = socket.bytesRead + MAX_LEFT_BYTES
  const lastMs = performance.now() + BODY_TIMEOUT_MS
  let readBytes = socket.bytesRead
  let readMs = performance.now()
  const check = setInterval(() => {
    const now = performance.now()
    if (socket.bytesRead > readBytes) {
      readBytes = socket.bytesRead
      readMs = now
    }
    const idleMs = inBody.has(socket) ? IDLE_MS.inBody : IDLE_MS.afterBody
    if (now - readMs >= idleMs || now > lastMs || readBytes > maxBytes) socket.destroy()
  }, CHECK_INTERVAL_MS)
  check.unref()
  socket.once('close', () => clearInterval(check))
}

/** Reads what a client still sends, and parses none of it. */
export function discardInput(socket: Socket): void {
  socket.removeAllListeners('data')
  // Such a listener takes the connection from Node's parser.
  socket.on('data', () => {})
  socket.resume()
}

/** An error of the connection after {@link stopParsing}. */
export const PARSING_STOPPED = 'HPE_CB_HEADERS_COMPLETE'
/** The parser takes 0 to 2, and ends with an error at any other value. */
const STOP = 4

/**
 * Ends the parsing of a connection at its next request. Node emits every request of the bytes it has read, up to thousands,
 * even after the connection is destroyed (measured: 10 µs each), and offers no other way to end that.
 */
export function stopParsing(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, 'parser')
  // Not documented; in a version without it, this costs the time only.
  if (typeof parser === 'object' && parser !== null && 'onIncoming' in parser) parser.onIncoming = () => STOP
}

const MAX_PER_ADDRESS = 1_000
/** Connections of an address that may send too many requests at once in {@link OVERFLOW_MS}; then new ones are closed. */
const MAX_OVERFLOWS = 20
const OVERFLOW_MS = 10_000
/** Limits of a request line and its headers (docs/protocol.md §6). */
const MAX_URL_CHARACTERS = 8 * 1024
const MAX_HEADERS = 100

/**
 * Closes new connections of an address that has `max` open, or of which many connections have just sent more requests than
 * may wait. Phones of one carrier share an address, so the numbers are large.
 * @param isFree addresses without limits: behind a proxy are many clients
 * @returns a function to call for each connection that sent too many requests
 */
export function limitConnections(
  server: Server,
  isFree: (address: string) => boolean,
  max = MAX_PER_ADDRESS,
): (socket: Socket) => void {
  const held = new Map<string, number>()
  const overflows = new Map<string, number>()
  const add = (counts: Map<string, number>, address: string): void => {
    counts.set(address, (counts.get(address) ?? 0) + 1)
  }
  const remove = (counts: Map<string, number>, address: string): void => {
    const left = (counts.get(address) ?? 1) - 1
    if (left === 0) counts.delete(address)
    else counts.set(address, left)
  }
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isFree(address)) return
    if ((held.get(address) ?? 0) >= max || (overflows.get(address) ?? 0) >= MAX_OVERFLOWS) {
      socket.destroy()
      return
    }
    add(held, address)
    socket.once('close', () => remove(held, address))
  })
  return ({ remoteAddress: address }) => {
    if (address === undefined || isFree(address)) return
    add(overflows, address)
    setTimeout(() => remove(overflows, address), OVERFLOW_MS).unref()
  }
}

type ConnectionLimits = {
  readonly max: number
  /** Maximum of those whose last request was not of an SDK; the rest is a reserve for SDKs. */
  readonly maxOthers: number
}

const CONNECTION_LIMITS: ConnectionLimits = { max: 10_000, maxOthers: 8_000 }

export type Connections = {
  /** The connection carries a request of an SDK. */
  carriesIntake(socket: Socket): void
  /** The connection carries another request. @returns false when too many do */
  carriesOther(socket: Socket): boolean
}

/**
 * Limits the connections of a server so that SDKs always get one: others, dashboards and programs, may hold only a part
 * of them. What a connection is for is known with its first request; while all are in use, the connection that has waited
 * for it longest is closed for a new one.
 */
export function reserveConnections(server: Server, limits: ConnectionLimits = CONNECTION_LIMITS): Connections {
  // One more than allowed is open until the oldest is closed.
  server.maxConnections = limits.max + 1
  const open = new Set<Socket>()
  const others = new Set<Socket>()
  /** Without a request so far, the oldest first. */
  const silent = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    // An address over its limit.
    if (socket.destroyed) return
    open.add(socket)
    silent.add(socket)
    socket.once('close', () => {
      for (const set of [open, others, silent]) set.delete(socket)
    })
    if (open.size <= limits.max) return
    for (const oldest of silent) {
      open.delete(oldest)
      silent.delete(oldest)
      oldest.destroy()
      break
    }
  })
  return {
    carriesIntake(socket) {
      silent.delete(socket)
      others.delete(socket)
    },
    carriesOther(socket) {
      silent.delete(socket)
      if (others.has(socket)) return true
      if (others.size >= limits.maxOthers) return false
      others.add(socket)
      return true
    },
  }
}

/** @returns a sentence when URL or headers are too large, else null */
export function sizeProblem(request: IncomingMessage): string | null {
  if ((request.url?.length ?? 0) > MAX_URL_CHARACTERS)
    return `The address is longer than ${MAX_URL_CHARACTERS.toLocaleString('en')} characters.`
  return request.rawHeaders.length > MAX_HEADERS * 2 ? `The request has more than ${MAX_HEADERS} headers.` : null
}

/** Answers and closes the connection. */
export function refuse(response: ServerResponse, sentence: string, status: 400 | 503 = 400): void {
  // Clients of the intake read `detail`, and browsers of any origin may read its answers.
  const isIntake = /^\/api\/\d+\//.test(response.req.url ?? '')
  const body = JSON.stringify(isIntake ? { error: sentence, detail: sentence } : { error: sentence })
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...(status === 503 ? { 'retry-after': '10' } : {}),
    'access-control-allow-origin': '*',
  })
  response.end(body)
}

/**
 * Requests that may wait on one connection for the answer before theirs. Browsers and SDKs send one at a time; a client
 * that sends many without reading the answers would fill the memory with them. With one more, the connection ends after
 * the answer to its first.
 */
const MAX_WAITING = 16

/** A connection whose client takes no byte of an answer for this time is closed. */
const UNREAD_TIMEOUT_MS = 60_000

/** Unread bytes of answers, of all connections; the connections with the most are closed above it. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024
const TURN_CHECK_INTERVAL_MS = 250

/** The requests of one connection whose answers have not left it. */
type Turn = { readonly waiting: (() => void)[]; response: ServerResponse; isOver: boolean }

/** Handles a request when the answers before it on its connection have left it. */
type TakeTurn = (request: IncomingMessage, response: ServerResponse, handle: () => void) => void

/** @param onOverflow is called for each connection with more requests than may wait */
export function createTurns(onOverflow: (socket: Socket) => void): TakeTurn {
  const turns = new WeakMap<Socket, Turn>()

  const begin = (socket: Socket, turn: Turn, response: ServerResponse, handle: () => void): void => {
    turn.response = response
    response.once('close', () => {
      if (turn.isOver) return endInOrder(socket)
      const next = turn.waiting.shift()
      if (next === undefined) turns.delete(socket)
      else if (!socket.destroyed && !isEnding(socket)) next()
    })
    handle()
  }

  const overflow = (socket: Socket, turn: Turn): void => {
    stopParsing(socket)
    if (turn.isOver) return
    turn.isOver = true
    turn.waiting.length = 0
    turn.response.shouldKeepAlive = false
    onOverflow(socket)
  }

  return ({ socket }, response, handle) => {
    const turn = turns.get(socket)
    if (turn === undefined) {
      const first = { waiting: [], response, isOver: false }
      turns.set(socket, first)
      begin(socket, first, response, handle)
    } else if (turn.isOver || turn.waiting.length >= MAX_WAITING) overflow(socket, turn)
    else turn.waiting.push(() => begin(socket, turn, response, handle))
  }
}

/** Closes connections whose clients do not read their answers. @returns a function that ends the checks */
export function closeUnread(server: Server, maxBytes = MAX_UNREAD_BYTES): () => void {
  // Node counts every byte that leaves the connection or arrives as activity.
  server.setTimeout(UNREAD_TIMEOUT_MS, (socket: Socket) => socket.destroy())
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const check = setInterval(() => {
    let unread = 0
    for (const socket of sockets) unread += socket.writableLength
    if (unread <= maxBytes) return
    for (const socket of [...sockets].sort((a, b) => b.writableLength - a.writableLength)) {
      if (unread <= maxBytes) return
      unread -= socket.writableLength
      socket.destroy()
    }
  }, TURN_CHECK_INTERVAL_MS)
  check.unref()
  return () => clearInterval(check)
}
