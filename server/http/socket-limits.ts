import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { SECURITY_HEADERS } from './security-headers.ts'

const MAX_PER_ADDRESS = 1_000
/** Limits of a request line and its headers (docs/protocol.md §6). */
const MAX_URL_CHARACTERS = 8 * 1024
const MAX_HEADERS = 100

/** Closes new connections of an address that has `max` open. Phones of one carrier share an address, so it is large. */
export function limitConnections(server: Server, isFree: (address: string) => boolean, max = MAX_PER_ADDRESS): void {
  const held = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isFree(address)) return
    const count = held.get(address) ?? 0
    if (count >= max) {
      socket.destroy()
      return
    }
    held.set(address, count + 1)
    socket.once('close', () => {
      const left = (held.get(address) ?? 1) - 1
      if (left === 0) held.delete(address)
      else held.set(address, left)
    })
  })
}

/** @returns a sentence when URL or headers are too large, else null */
export function sizeProblem(request: IncomingMessage): string | null {
  if ((request.url?.length ?? 0) > MAX_URL_CHARACTERS)
    return `The address is longer than ${MAX_URL_CHARACTERS.toLocaleString('en')} characters.`
  return request.rawHeaders.length > MAX_HEADERS * 2 ? `The request has more than ${MAX_HEADERS} headers.` : null
}

/** Answers with 400 and closes the connection. */
export function refuse(response: ServerResponse, sentence: string): void {
  // Clients of the intake read `detail`, and browsers of any origin may read its answers.
  const isIntake = /^\/api\/\d+\//.test(response.req.url ?? '')
  const body = JSON.stringify(isIntake ? { error: sentence, detail: sentence } : { error: sentence })
  response.writeHead(400, {
    ...SECURITY_HEADERS,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    'access-control-allow-origin': '*',
  })
  response.end(body)
}
