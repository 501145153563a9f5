import { createServer, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { waitFor } from '#test/kit/wait.ts'
import { createRequestGuard } from './request-guard.ts'

let server: Server
let port = 0
/** Paths of the requests that the guard accepted. */
let seen: string[] = []
/** Responses of `/held`, which the test ends. */
let held: ServerResponse[] = []

beforeAll(async () => {
  const guard = createRequestGuard()
  server = createServer(
    { requireHostHeader: false, headersTimeout: 300, connectionsCheckingInterval: 50 },
    (request, response) => {
      if (!guard.accepts(request, response)) return
      seen.push(request.url ?? '')
      if (request.url === '/held') held.push(response)
      else if (request.url === '/early') response.writeHead(403, { 'content-length': 0 }).end()
      else request.on('end', () => response.end('ok')).resume()
    },
  )
  server.on('clientError', (error, socket) => guard.onClientError(error, socket as Socket))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  seen = []
  held = []
})

const SECOND = 'GET /second HTTP/1.1\r\nhost: x\r\n\r\n'
const statuses = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

/** Sends bytes in one packet. @returns everything received until the server closed the connection */
const exchange = (text: string): Promise<string> =>
  new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(text, 'latin1')))
    socket.on('data', (data) => (answer += data.toString('latin1')))
    socket.on('close', () => resolve(answer))
    socket.on('error', () => {})
  })

describe('the guard refuses what a proxy may read differently, and nothing that follows is handled', () => {
  test.each([
    [
      'an unsupported coding before chunked',
      'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'two codings in two headers',
      'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: identity\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a coding that is not chunked', 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n'],
    ['chunks in HTTP/1.0', 'POST / HTTP/1.0\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['an unsupported version', 'GET / HTTP/2.0\r\nhost: x\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nhost: x\r\nHost: y\r\n\r\n'],
    ['an invalid host', 'GET / HTTP/1.1\r\nhost: a b\r\n\r\n'],
    ['an address that is too long', `GET /${'a'.repeat(8 * 1024)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello'],
    [
      'chunks and a length',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('%s', async (_what, text) => {
    expect(statuses(await exchange(text + SECOND))).toEqual([400])
    expect(seen).toEqual([])
  })
})

test.each([
  [
    'one host',
    'POST / HTTP/1.1\r\nhost: a-b.example:8000\r\nTransfer-Encoding: Chunked\r\nconnection: close\r\n\r\n0\r\n\r\n',
  ],
  ['an IPv6 host', 'GET / HTTP/1.1\r\nhost: [::1]:8000\r\nconnection: close\r\n\r\n'],
  ['HTTP/1.0 without a host', 'GET / HTTP/1.0\r\n\r\n'],
])('%s passes', async (_what, text) => {
  expect(statuses(await exchange(text))).toEqual([200])
})

describe('invalid bytes on a connection', () => {
  const badChunk = (path: string) => `POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`

  test('in the body of an unanswered request are answered with 400', async () => {
    expect(statuses(await exchange(badChunk('/')))).toEqual([400])
  })
  test('in the body of an answered request get no second answer', async () => {
    expect(statuses(await exchange(badChunk('/early')))).toEqual([403])
  })
  test('after a pending request close the connection after its answer', async () => {
    const answer = exchange(`GET /held HTTP/1.1\r\nhost: x\r\n\r\nJUNK\r\n\r\n${SECOND}`)
    await waitFor('the first request', () => held.length === 1)
    held[0]?.end('ok')
    expect(statuses(await answer)).toEqual([200])
    expect(seen).toEqual(['/held'])
  })
  test('in a request behind a pending one close the connection without an answer', async () => {
    const answer = exchange(`GET /held HTTP/1.1\r\nhost: x\r\n\r\n${badChunk('/')}`)
    await waitFor('the first request', () => held.length === 1)
    expect(statuses(await answer)).toEqual([])
    expect(seen).toEqual(['/held', '/'])
  })
})

describe('a connection that times out', () => {
  test('is closed without an answer before its first byte', async () => {
    expect(await exchange('')).toBe('')
    expect(seen).toEqual([])
  })

  test('gets an answer in the middle of a request', async () => {
    expect(await exchange('GET / HTTP/1.1\r\nhost: x\r\n')).toContain('did not arrive in time')
    expect(seen).toEqual([])
  })
})
