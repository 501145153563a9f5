import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { SECURITY_HEADERS } from './security-headers.ts'

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

export type ConnectionLimits = {
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
