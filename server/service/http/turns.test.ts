import { createServer, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { waitFor } from '#test/kit/wait.ts'
import { closeUnread, createTurns } from './turns.ts'

let server: Server
let port = 0
let stop: () => void
/** Requests that are handled and not answered yet. */
const handled: { path: string; response: ServerResponse }[] = []
const sockets: Socket[] = []

beforeAll(async () => {
  const take = createTurns()
  server = createServer((request, response) =>
    take(request, response, () => void handled.push({ path: request.url ?? '', response })),
  )
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

test('a connection with very many unanswered requests is closed, and none of them is handled', async () => {
  const { closed } = await sent(...Array.from({ length: 300 }, (_, n) => `/${n}`))
  await waitFor('the end', closed)
  expect(handled.map(({ path }) => path)).toEqual(['/0'])
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
