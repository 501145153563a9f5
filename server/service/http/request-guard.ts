import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  discardInput,
  endInOrder,
  isEnding,
  PARSING_STOPPED,
  stopParsing,
  refuse,
  sizeProblem,
} from './connection-end.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import ipaddr from 'ipaddr.js'

type RequestGuard = {
  /**
   * Returns whether to handle the request. Otherwise it is answered with 400 and its connection takes no further ones:
   * a proxy in front could read such a request differently (request smuggling).
   */
  accepts(request: IncomingMessage, response: ServerResponse): boolean
  /** The listener of `clientError`: answers invalid HTTP in the form of the API and closes the connection. */
  onClientError(error: Error & { code?: string }, socket: Socket): void
  /** The listener of `connect`, which asks for a tunnel: refuses it. */
  onConnect(request: IncomingMessage): void
}

/** Checks framing (RFC 9112 §6, §11) and size of every request, of SDKs and of the API. */
export function createRequestGuard(): RequestGuard {
  const refused = new WeakSet<Socket>()
  /** The newest request of each connection: an error of the connection belongs to it, or to what follows it. */
  const newest = new WeakMap<Socket, ServerResponse>()
  return {
    accepts(request, response) {
      const { socket } = request
      // Node still parses what arrived in the same packet as a request answered with `connection: close`.
      if (refused.has(socket) || isEnding(socket)) {
        stopParsing(socket)
        return false
      }
      newest.set(socket, response)
      const problem = framingProblem(request) ?? sizeProblem(request)
      if (problem === null) return true
      refused.add(socket)
      refuse(response, problem)
      return false
    },
    onClientError(error, socket) {
      if (error.code === PARSING_STOPPED || isEnding(socket)) return discardInput(socket)
      // A connection opened in advance without a request gets no answer: the client would take it for the answer to its
      // next request, and SDKs drop what is answered with 400.
      if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesRead === 0) {
        socket.destroy()
        return
      }
      const response = newest.get(socket)
      if (response === undefined || (response.writableFinished && response.req.complete)) answerBroken(error, socket)
      // After a complete request that is not answered yet: close after its answer.
      else if (response.req.complete && !response.destroyed) {
        response.shouldKeepAlive = false
        response.once('close', () => endInOrder(socket))
        discardInput(socket)
      }
      // In the body of a request that is already answered, or waits behind another one: a second answer would be taken
      // for the answer of another request.
      else if (response.writableFinished) {
        endInOrder(socket)
        discardInput(socket)
      } else if (response.headersSent || response.socket === null) socket.destroy()
      else answerBroken(error, socket)
    },
    onConnect({ socket }) {
      // Node has taken its own listeners from the connection.
      socket.on('error', () => {})
      const response = newest.get(socket)
      if (response === undefined || response.writableFinished) answerBroken({ code: 'CONNECT' }, socket)
      else socket.destroy()
    },
  }
}

/** Checks what Node's parser accepts; it is strict about lengths and chunks. */
function framingProblem(request: IncomingMessage): string | null {
  if (request.httpVersionMajor !== 1) return 'Only HTTP/1.1 and HTTP/1.0 are supported.'
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && (request.httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked'))
    return 'Transfer-Encoding must be chunked, and only in HTTP/1.1.'
  let hosts = 0
  const { rawHeaders } = request
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor !== 0))
    return 'The request must have exactly one Host header.'
  return HOST.test(request.headers.host ?? '') ? null : 'The Host header is not a valid host.'
}

/** The characters of a host (RFC 3986 §3.2.2) and a port. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

function answerBroken(error: { code?: string }, socket: Socket): void {
  const sentence =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'The headers are larger than 16 KiB.'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'The request did not arrive in time.'
        : error.code === 'CONNECT'
          ? 'This service is no proxy.'
          : 'The request is not valid HTTP.'
  const body = JSON.stringify({ error: sentence })
  const headers = Object.entries({
    ...SECURITY_HEADERS,
    'content-type': 'application/json',
    'content-length': body.length,
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 400 Bad Request\r\n${headers.join('')}\r\n${body}`)
  endInOrder(socket)
  discardInput(socket)
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Returns whether an address is in one of the ranges (addresses or CIDR, the syntax of TRUSTED_PROXIES). */
export function addressMatcher(texts: readonly string[]): (address: string) => boolean {
  const ranges = texts.map((text): Range => {
    if (text.includes('/')) return ipaddr.parseCIDR(text)
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  })
  return (address) => {
    if (ranges.length === 0 || !ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match([range, bits] as never))
  }
}

/** Returns the client's address: the socket's peer or, behind trusted proxies, the right-most untrusted hop. */
export function clientAddressReader(
  trustedProxies: readonly string[],
): (peer: string | undefined, forwardedFor: string | string[] | undefined) => string {
  const trusted = addressMatcher(trustedProxies)
  return (peer, forwardedFor) => {
    let address = plain(peer ?? '')
    if (!trusted(address) || forwardedFor === undefined) return address
    const hops = (Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor)
      .split(',')
      .map((hop) => plain(withoutPort(hop.trim())))
    for (let i = hops.length - 1; i >= 0 && trusted(address); i--) {
      const hop = hops[i] ?? ''
      if (!ipaddr.isValid(hop)) break
      address = hop
    }
    return address
  }
}

/** `::ffff:10.0.0.1` → `10.0.0.1`; other addresses unchanged. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}

/** Some proxies add the port: `203.0.113.5:41000`, `[2001:db8::1]:41000`. */
function withoutPort(hop: string): string {
  const [, v4, v6] = /^(?:([\d.]{7,15}):\d{1,5}|\[([\da-f:.]{2,45})\](?::\d{1,5})?)$/i.exec(hop) ?? []
  return v4 ?? v6 ?? hop
}
