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
