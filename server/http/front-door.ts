import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { refuse, sizeProblem } from './socket-limits.ts'

export type FrontDoor = {
  /**
   * Whether anybody may see the request. What two readers of HTTP (a proxy and we) could understand differently is
   * refused, and so is everything behind it on its connection.
   */
  admits(request: IncomingMessage, response: ServerResponse): boolean
  /** For `clientError`: answers what is no HTTP in the API's form and hangs up. */
  broken(error: Error & { code?: string }, socket: Socket): void
}

/** Judges requests before they are told apart into SDK traffic and API: framing (RFC 9112 §6, §11) and size. */
export function createFrontDoor(): FrontDoor {
  const refused = new WeakSet<Socket>()
  /** The newest request of each connection: what breaks the connection belongs to it, or to what comes behind it. */
  const newest = new WeakMap<Socket, ServerResponse>()
  return {
    admits(request, response) {
      const { socket } = request
      // `connection: close` ends a connection, but what was sent in the same packet is parsed all the same.
      if (refused.has(socket)) return false
      newest.set(socket, response)
      const problem = framingProblem(request) ?? sizeProblem(request)
      if (problem === null) return true
      refused.add(socket)
      refuse(response, problem)
      return false
    },
    broken(error, socket) {
      // One opened in advance that never said a word is owed no answer: the client would take it for that to the
      // request it is about to send, and SDKs throw away what is answered with 400.
      if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesRead === 0) {
        socket.destroy()
        return
      }
      const response = newest.get(socket)
      if (response === undefined || (response.writableFinished && response.req.complete)) answerBroken(error, socket)
      // Behind a whole request: that one's answer is still owed, and the last thing to be said.
      else if (response.req.complete && !response.destroyed) {
        response.shouldKeepAlive = false
        response.once('close', () => socket.destroy())
      }
      // In the body of a request that has its answer, or whose turn has not come: another one would be taken for
      // somebody else's.
      else if (response.headersSent || response.socket === null) socket.destroy()
      else answerBroken(error, socket)
    },
  }
}

/** Node's parser is strict about lengths and chunks; these pass it. */
function framingProblem(request: IncomingMessage): string | null {
  if (request.httpVersionMajor !== 1) return 'Only HTTP/1.1 and HTTP/1.0 are spoken here.'
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && (request.httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked'))
    return 'The only Transfer-Encoding is chunked, in HTTP/1.1.'
  let hosts = 0
  const { rawHeaders } = request
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor !== 0)) return 'A request has exactly one Host header.'
  return HOST.test(request.headers.host ?? '') ? null : 'The Host header is not a host.'
}

/** RFC 3986 §3.2.2 and a port; not whether such a host exists. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

function answerBroken(error: { code?: string }, socket: Socket): void {
  const sentence =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'The headers are larger than 16 KiB.'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'The request did not arrive in time.'
        : 'The request is not valid HTTP.'
  const body = JSON.stringify({ error: sentence })
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}
