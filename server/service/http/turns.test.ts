import type { Server, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { waitFor } from '#test/kit/wait.ts'
import { createOrderlyServer, closeUnread, createTurns } from './connection-end.ts'
import { createRequestGuard } from './request-guard.ts'

let server: Server
let port = 0
let stop: () => void
/** Requests that are handled and not answered yet. */
const handled: { path: string; response: ServerResponse }[] = []
/** Connections with more requests than may wait. */
const overflowed: Socket[] = []
/** Requests that Node has parsed. */
let emitted = 0
const sockets: Socket[] = []

beforeAll(async () => {
  const guard = createRequestGuard()
  const take = createTurns((socket) => overflowed.push(socket))
  server = createOrderlyServer({}, (request, response) => {
    emitted++
    if (guard.accepts(request, response))
      take(request, response, () => void handled.push({ path: request.url ?? '', response }))
  })
  server.on('clientError', (error, socket) => guard.onClientError(error, socket as Socket))
  stop = closeUnread(server, 8 * 1024 * 1024)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})
beforeEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  handled.length = 0
})
afterAll(() => {
  stop()
  for (const socket of sockets) socket.destroy()
  server.closeAllConnections()
  server.close()
})

/** A connection that has sent requests; it reads only what the test asks for. */
async function sent(...paths: string[]): Promise<{ socket: Socket; text: () => string; closed: () => boolean }> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let text = ''
  let closed = false
  socket.on('error', () => {})
  socket.on('close', () => (closed = true))
  socket.on('data', (chunk) => (text += chunk.toString()))
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  await waitFor('the first request', () => handled.length > 0)
  return { socket, text: () => text, closed: () => closed }
}

test('a request is handled when the answer before it has left the connection', async () => {
  const { text } = await sent('/1', '/2', '/3')
  for (const path of ['/1', '/2', '/3']) {
    await waitFor(path, () => handled.some((one) => one.path === path))
    expect(handled.map((one) => one.path).at(-1)).toBe(path)
    handled.at(-1)?.response.end(`answer ${path}`)
  }
  await waitFor('all answers', () => text().includes('answer /3'))
  expect(text().indexOf('answer /1')).toBeLessThan(text().indexOf('answer /2'))
})

test('connections do not wait for each other', async () => {
  await sent('/slow')
  await sent('/other')
  await waitFor('both', () => handled.length === 2)
})

test('a connection with very many requests ends in order after its first answer; no other is handled or parsed', async () => {
  const before = [emitted, overflowed.length]
  const { text, closed } = await sent(...Array.from({ length: 2_000 }, (_, n) => `/${n}`))
  expect([emitted, overflowed.length]).toEqual([(before[0] ?? 0) + 18, (before[1] ?? 0) + 1])
  expect(closed()).toBe(false)
  handled[0]?.response.end('answer /0')
  await waitFor('the end', closed)
  expect(text()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n[^]*answer \/0$/)
  expect(handled.map(({ path }) => path)).toEqual(['/0'])
  expect(emitted).toBe((before[0] ?? 0) + 18)
})

test('sixteen requests may wait', async () => {
  const { text } = await sent(...Array.from({ length: 17 }, (_, n) => `/${n}`))
  for (let n = 0; n < 17; n++) {
    await waitFor(`request ${n}`, () => handled.length === n + 1)
    handled[n]?.response.end(`answer /${n};`)
  }
  await waitFor('the last answer', () => text().includes('answer /16;'))
})

test('what follows a refused request is not parsed', async () => {
  const before = emitted
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let text = ''
  let closed = false
  socket.on('data', (chunk) => (text += chunk.toString()))
  socket.on('close', () => (closed = true))
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n'.repeat(300))
  await waitFor('the end', () => closed)
  expect(text.match(/HTTP\/1\.1 400/g)).toHaveLength(1)
  expect(emitted).toBe(before + 2)
})

test('a client that leaves takes its waiting requests with it', async () => {
  const { socket } = await sent('/1', '/2')
  socket.destroy()
  await waitFor('its end', () => handled[0]?.response.destroyed === true)
  const { text } = await sent('/3')
  await waitFor('the next client', () => handled.some(({ path }) => path === '/3'))
  handled.at(-1)?.response.end('answer /3')
  await waitFor('its answer', () => text().includes('answer /3'))
  expect(handled.map(({ path }) => path)).toEqual(['/1', '/3'])
})

test('above the limit of unread bytes the connections with the most are closed', async () => {
  const greedy = await sent('/greedy')
  greedy.socket.pause()
  const [first] = handled
  first?.response.end(Buffer.alloc(32 * 1024 * 1024))
  const modest = await sent('/modest')
  await waitFor('the modest request', () => handled.length === 2)
  await waitFor('the end of the greedy one', () => first?.response.socket == null || first.response.socket.destroyed)
  handled.at(-1)?.response.end('answer')
  await waitFor('the answer', () => modest.text().includes('answer'))
})
