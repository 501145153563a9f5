import { createServer, request as httpRequest, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitFor } from '#test/kit/wait.ts'
import { createRequestGuard } from './request-guard.ts'
import { limitConnections } from './socket-limits.ts'

let server: Server
let port = 0
let free = false

beforeAll(async () => {
  const guard = createRequestGuard()
  server = createServer((request, response) => {
    if (guard.accepts(request, response)) response.end('ok')
  })
  limitConnections(server, () => free, 3)
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

const get = (path: string, headers: Record<string, string> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = httpRequest({ port, path, headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.end()
  })

const headersOf = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-h${i}`, '1']))

test('a URL of 8 KiB and 100 headers are accepted, more is 400', async () => {
  expect(await get(`/${'a'.repeat(8 * 1024 - 1)}`)).toBe(200)
  expect(await get(`/${'a'.repeat(8 * 1024)}`)).toBe(400)
  // Node adds Host and Connection.
  expect(await get('/', headersOf(98))).toBe(200)
  expect(await get('/', headersOf(99))).toBe(400)
  expect(await get('/', headersOf(150))).toBe(400)
})

test('connections of one address are limited; closing one allows another', async () => {
  const open = (): { socket: Socket; closed: () => boolean } => {
    let closed = false
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.on('close', () => {
      closed = true
    })
    return { socket, closed: () => closed }
  }
  const connections = () =>
    new Promise<number>((resolve, reject) => {
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
    })
  await waitFor('earlier connections to close', async () => (await connections()) === 0)
  const kept = [open(), open(), open()]
  await waitFor('three connections', async () => (await connections()) === 3)
  const refused = open()
  await waitFor('the refusal', () => refused.closed())
  expect(kept.some((one) => one.closed())).toBe(false)
  kept[0]?.socket.destroy()
  await waitFor('the closed connection', async () => (await connections()) === 2)
  expect(await get('/')).toBe(200)
  free = true
  const more = [open(), open(), open()]
  await waitFor('more connections', async () => (await connections()) === 5)
  for (const one of [...kept, ...more]) one.socket.destroy()
  free = false
})
