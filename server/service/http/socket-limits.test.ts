import { createServer, request as httpRequest, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitFor } from '#test/kit/wait.ts'
import { createRequestGuard } from './request-guard.ts'
import { limitConnections, refuse, reserveConnections } from './connection-end.ts'

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

test('while others hold all their connections, or send nothing, SDKs get one', async () => {
  const held: (() => void)[] = []
  const small = createServer((request, response) => {
    if (request.url?.startsWith('/api/1/') === true) {
      connections.carriesIntake(request.socket)
      response.end('taken')
    } else if (!connections.carriesOther(request.socket)) refuse(response, 'Too many.', 503)
    else held.push(() => response.end('ok'))
  })
  const connections = reserveConnections(small, { max: 6, maxOthers: 4 })
  await new Promise<void>((resolve) => {
    small.listen(0, '127.0.0.1', resolve)
  })
  const address = small.address()
  const to = typeof address === 'object' && address !== null ? address.port : 0
  const sockets: Socket[] = []
  const ask = (path: string) => {
    const socket = connect(to, '127.0.0.1')
    sockets.push(socket)
    let text = ''
    let isClosed = false
    socket.on('error', () => {})
    socket.on('close', () => {
      isClosed = true
    })
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    if (path !== '') socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    return { socket, text: () => text, closed: () => isClosed }
  }
  try {
    for (let n = 0; n < 4; n++) ask('/api/live')
    await waitFor('four streams', () => held.length === 4)
    const fifth = ask('/api/me')
    await waitFor('the refusal', () => fifth.closed())
    expect(fifth.text()).toMatch(/^HTTP\/1.1 503 [^]*retry-after: 10/)
    // Two are left; connections that send nothing do not keep them.
    const silent = Array.from({ length: 10 }, () => ask(''))
    await waitFor('the end of the oldest', () => silent.filter((one) => one.closed()).length === 8)
    for (let n = 0; n < 3; n++) {
      const sdk = ask('/api/1/envelope/')
      await waitFor('the answer to an SDK', () => sdk.text().includes('taken'))
      sdk.socket.destroy()
    }
    expect(held).toHaveLength(4)
    // A connection of an SDK that asks for something else counts as another.
    const both = ask('/api/1/envelope/')
    await waitFor('the answer', () => both.text().includes('taken'))
    both.socket.write('GET /api/me HTTP/1.1\r\nhost: x\r\n\r\n')
    await waitFor('the second refusal', () => both.closed())
    expect(both.text()).toContain('HTTP/1.1 503')
    // A place is free again.
    held[0]?.()
    sockets[0]?.destroy()
    await waitFor('a place', async () => {
      const next = ask('/api/me')
      await waitFor('an answer or a place', () => next.closed() || held.length === 5)
      return held.length === 5
    })
  } finally {
    for (const socket of sockets) socket.destroy()
    small.closeAllConnections()
    small.close()
  }
})

test('an address whose connections send too many requests at once gets no new connection for a while', async () => {
  const small = createServer((_request, response) => void response.end('ok'))
  let isFree = false
  const overflowed = limitConnections(small, () => isFree)
  const accepted: Socket[] = []
  small.on('connection', (socket: Socket) => void accepted.push(socket))
  await new Promise<void>((resolve) => {
    small.listen(0, '127.0.0.1', resolve)
  })
  const address = small.address()
  const to = typeof address === 'object' && address !== null ? address.port : 0
  const answer = () => fetch(`http://127.0.0.1:${to}/`).then(({ status }) => status, String)
  try {
    expect(await answer()).toBe(200)
    const [first] = accepted
    if (first === undefined) throw new Error('no connection')
    for (let n = 0; n < 19; n++) overflowed(first)
    small.closeIdleConnections()
    expect(await answer()).toBe(200)
    overflowed(first)
    small.closeIdleConnections()
    await waitFor('the refusal', async () => /failed/.test(String(await answer())))
    // A proxy, whose other clients did nothing.
    isFree = true
    expect(await answer()).toBe(200)
  } finally {
    small.closeAllConnections()
    small.close()
  }
})
