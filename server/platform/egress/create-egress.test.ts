import { once } from 'node:events'
import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { EgressError, type Egress, type EgressRequest } from '#server/platform/context/egress.ts'
import { selfSigned, testAuthority } from '#test/kit/certificates.ts'
import { startReceiver, type Answer, type Receiver, type ReceiverOptions } from '#test/kit/receiver.ts'
import { waitFor } from '#test/kit/wait.ts'
import { createEgress, type EgressOptions } from './create-egress.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const authority = testAuthority()

function egressWith(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({
    allowed: [],
    loopbackOpen: true,
    httpOpen: true,
    ownPorts: [],
    database: () => ({ host: '/nowhere', port: 1 }),
    ca: [authority.cert],
    ...options,
  })
  closers.push(() => egress.close())
  return egress
}

async function receiverWith(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await startReceiver(options)
  closers.push(() => receiver.close())
  return receiver
}

const get = (url: string, rest: Partial<EgressRequest> = {}): EgressRequest => ({
  url,
  method: 'GET',
  headers: {},
  ...rest,
})

/** The error of a request that must fail. */
async function failure(egress: Egress, request: EgressRequest): Promise<EgressError> {
  const outcome: unknown = await egress.request(request).catch((error: unknown) => error)
  if (outcome instanceof EgressError) return outcome
  throw new Error('the request did not fail with an EgressError', { cause: outcome })
}

describe('a request', () => {
  test('sends method, path, headers and body unchanged, and nothing of its own', async () => {
    const receiver = await receiverWith({
      respond: () => ({ status: 201, body: 'made', headers: { 'X-Odd': 'ä'.normalize() } }),
    })
    const body = Buffer.from('{"a":"süß"}')
    const response = await egressWith().request({
      url: `${receiver.url}/hook?x=1&y=%20`,
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Svc-Id': 'd_1' },
      body,
    })
    expect(response).toMatchObject({ status: 201, bodyComplete: true, remoteIp: '127.0.0.1' })
    expect(response.body.toString()).toBe('made')
    expect(response.headers).toContainEqual(['X-Odd', 'ä'])
    const [request] = receiver.requests
    expect(request).toMatchObject({ method: 'POST', path: '/hook?x=1&y=%20', body })
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'svc-id': 'd_1',
      'content-length': String(body.length),
    })
  })

  test('reports the steps of a new connection, and null for those of a reused one', async () => {
    const receiver = await receiverWith({ tls: authority.issue() })
    const egress = egressWith()
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    const first = await egress.request(get(url))
    const second = await egress.request(get(url))
    for (const step of ['dnsMs', 'connectMs', 'tlsMs', 'durationMs'] as const)
      expect(first.timings[step], step).toBeGreaterThan(0)
    expect(first.timings.durationMs).toBeGreaterThan((first.timings.connectMs ?? 0) + (first.timings.tlsMs ?? 0))
    expect(second.timings).toMatchObject({ dnsMs: null, connectMs: null, tlsMs: null })
    expect(second.remoteIp).toBe('127.0.0.1')
    expect(receiver.connections()).toBe(1)
  })

  test('sends the name of the URL as Host and to TLS, whatever address it has', async () => {
    const names: unknown[] = []
    const server = createTlsServer({ ...authority.issue({ names: ['hooks.example.com'] }) }, (socket) => {
      names.push(socket.servername)
      socket.on('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
    })
    const port = await listening(server)
    const egress = egressWith({ resolveName: () => Promise.resolve(['127.0.0.1']) })
    expect(await egress.request(get(`https://hooks.example.com.:${port}/`))).toMatchObject({ status: 204 })
    expect(names).toEqual(['hooks.example.com'])
  })

  test('follows no redirect', async () => {
    const receiver = await receiverWith({
      respond: ({ path }) => (path === '/' ? { status: 302, headers: { location: '/next' } } : 200),
    })
    expect(await egressWith().request(get(receiver.url))).toMatchObject({ status: 302 })
    expect(receiver.requests).toHaveLength(1)
  })

  test('refuses headers that the client sets', async () => {
    const receiver = await receiverWith()
    for (const name of ['Host', 'connection', 'Transfer-Encoding', 'accept-encoding', 'Content-Length'])
      expect(await failure(egressWith(), get(receiver.url, { headers: { [name]: '1' } }))).toMatchObject({
        kind: 'refused',
        code: 'EGRESS_HEADER',
      })
    expect(await failure(egressWith(), get(receiver.url, { headers: { 'x-a': 'b\r\nc: d' } }))).toMatchObject({
      kind: 'refused',
    })
    expect(receiver.requests).toEqual([])
  })

  test('is refused when the URL is, although it was accepted before', async () => {
    expect(await failure(egressWith(), get('https://user@example.com/'))).toMatchObject({
      kind: 'refused',
      code: 'EGRESS_URL',
      message: 'The URL must hold no user name and no password.',
    })
  })
})

describe('a body that is read while it arrives', () => {
  const streaming = async (answer: Answer, rest: Partial<EgressRequest> = {}) => {
    const receiver = await receiverWith({ respond: () => answer })
    const chunks: string[] = []
    const statuses = new Set<number>()
    const onBody: EgressRequest['onBody'] = (chunk, { status }) => {
      chunks.push(chunk.toString())
      statuses.add(status)
    }
    const response = await egressWith().request(get(receiver.url, { onBody, ...rest }))
    return { response, chunks, statuses: [...statuses] }
  }

  test('is given in parts, with the status, and is not kept', async () => {
    const { response, chunks, statuses } = await streaming({ status: 418, body: 'abcdef', dripMs: 5 })
    expect(response).toMatchObject({ status: 418, bodyComplete: true })
    expect(response.body.length).toBe(0)
    expect(chunks.length).toBeGreaterThan(1)
    expect(chunks.join('')).toBe('abcdef')
    expect(statuses).toEqual([418])
  })

  test('ends at the bound', async () => {
    const { response, chunks } = await streaming({ bodySizeBytes: 10_000_000 }, { maxBodyBytes: 100_000 })
    expect(response.bodyComplete).toBe(false)
    expect(chunks.join('').length).toBe(100_000)
  })

  test('ends with its signal, and then the connection does', async () => {
    const receiver = await receiverWith({ respond: () => ({ body: 'x'.repeat(1_000), dripMs: 5 }) })
    const stop = new AbortController()
    let sizeBytes = 0
    const response = await egressWith().request(
      get(receiver.url, {
        signal: stop.signal,
        onBody: (chunk) => {
          sizeBytes += chunk.length
          stop.abort()
        },
      }),
    )
    expect(response).toMatchObject({ status: 200, bodyComplete: false })
    expect(sizeBytes).toBeLessThan(1_000)
    await waitFor('the connection to be dropped', () => receiver.openConnections() === 0)
  })

  test('whose end is cut is not complete', async () => {
    const raw = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'
    const { response, chunks } = await streaming({ raw })
    expect(response.bodyComplete).toBe(false)
    expect(chunks.join('')).toBe('short')
  })
})

describe('receivers that misbehave', () => {
  const answers: Record<string, Answer> = {
    '/204': 204,
    '/410': { status: 410, body: 'gone' },
    '/500': { status: 500, body: 'broken' },
    '/huge': { bodySizeBytes: 10_000_000 },
    '/exact': { bodySizeBytes: 65_536 },
    '/drip': { body: 'x'.repeat(10_000), dripMs: 5 },
    '/hang': { fault: 'hang' },
    '/hang-body': { fault: 'hang-body' },
    '/reset': { fault: 'reset' },
    '/close': { fault: 'close' },
    '/http10': { raw: 'HTTP/1.0 200 OK\r\nX-A: 1\r\n\r\nold' },
    '/cut': { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort' },
    '/early': { raw: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' },
    '/drip-headers': { raw: `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(10_000)}`, dripMs: 5 },
    '/endless-headers': { raw: `HTTP/1.1 200 OK\r\n${'X-A: aaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(1_000)}\r\n` },
    '/garbage': { raw: 'SSH-2.0-OpenSSH_9.6\r\n' },
    '/split': { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n' },
    '/upgrade': { raw: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n' },
  }
  const misbehaving = (): Promise<Receiver> => receiverWith({ respond: ({ path }) => answers[path] ?? 404 })

  test.each([
    ['/204', 204, '', true],
    ['/410', 410, 'gone', true],
    ['/500', 500, 'broken', true],
    ['/http10', 200, 'old', true],
    ['/early', 200, 'ok', true],
    ['/exact', 200, 'x'.repeat(65_536), true],
    ['/huge', 200, 'x'.repeat(65_536), false],
    ['/cut', 200, 'short', false],
  ])('%s is an answer with status %i', async (path, status, body, bodyComplete) => {
    const receiver = await misbehaving()
    const response = await egressWith().request(get(`${receiver.url}${path}`))
    expect(response).toMatchObject({ status, bodyComplete })
    expect(response.body.toString()).toBe(body)
  })

  test('a body that drips or hangs ends with the clock and counts as an answer', async () => {
    const receiver = await misbehaving()
    const egress = egressWith()
    const [drip, hang] = await Promise.all(
      ['/drip', '/hang-body'].map((path) => egress.request(get(`${receiver.url}${path}`, { timeoutMs: 300 }))),
    )
    expect(drip).toMatchObject({ status: 200, bodyComplete: false })
    expect(drip?.body.length).toBeGreaterThan(0)
    expect(hang).toMatchObject({ status: 200, bodyComplete: false })
    expect(hang?.timings.durationMs).toBeGreaterThanOrEqual(299)
    await waitFor('the connections to be dropped', () => receiver.openConnections() === 0)
  })

  test.each(['/hang', '/drip-headers'])('%s times out', async (path) => {
    const receiver = await misbehaving()
    const error = await failure(egressWith(), get(`${receiver.url}${path}`, { timeoutMs: 200 }))
    expect(error).toMatchObject({
      kind: 'timeout',
      code: 'EGRESS_TIMEOUT',
      message: 'no answer within 200 ms',
      remoteIp: '127.0.0.1',
    })
    expect(error.timings.durationMs).toBeGreaterThanOrEqual(199)
    await waitFor('the connection to be dropped', () => receiver.openConnections() === 0)
  })

  test.each([
    ['/reset', 'reset', 'ECONNRESET'],
    ['/close', 'reset', 'UND_ERR_SOCKET'],
    ['/endless-headers', 'protocol', 'UND_ERR_HEADERS_OVERFLOW'],
    ['/garbage', 'protocol', 'HTTPParserError'],
    ['/split', 'protocol', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'],
    ['/upgrade', 'protocol', 'UND_ERR_SOCKET'],
  ])('%s fails as %s with %s', async (path, kind, code) => {
    const receiver = await misbehaving()
    expect(await failure(egressWith(), get(`${receiver.url}${path}`))).toMatchObject({
      kind,
      code,
      remoteIp: '127.0.0.1',
    })
  })

  test('a port without a listener fails as connect', async () => {
    const receiver = await startReceiver()
    await receiver.close()
    expect(await failure(egressWith(), get(receiver.url))).toMatchObject({
      kind: 'connect',
      code: 'ECONNREFUSED',
      message: `connect ECONNREFUSED 127.0.0.1:${receiver.port}`,
    })
  })

  test('a name without an address fails as dns', async () => {
    const resolveName = (name: string): Promise<string[]> =>
      Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }))
    expect(await failure(egressWith({ resolveName }), get('https://nowhere.example/'))).toMatchObject({
      kind: 'dns',
      code: 'ENOTFOUND',
      message: 'getaddrinfo ENOTFOUND nowhere.example',
      remoteIp: null,
    })
  })

  test('a resolver that hangs ends with the clock', async () => {
    const egress = egressWith({ resolveName: () => new Promise(() => {}) })
    expect(await failure(egress, get('https://slow.example/', { timeoutMs: 50 }))).toMatchObject({
      kind: 'timeout',
      remoteIp: null,
    })
  })

  test('the second address of a name is tried when the first refuses', async () => {
    const receiver = await receiverWith()
    const egress = egressWith({ resolveName: () => Promise.resolve(['::1', '127.0.0.1']) })
    expect(await egress.request(get(`http://two.example:${receiver.port}/`))).toMatchObject({
      status: 200,
      remoteIp: '127.0.0.1',
    })
  })
})

describe('TLS', () => {
  const DAY_MS = 86_400_000
  const expired = { notBefore: new Date(Date.now() - 2 * DAY_MS), notAfter: new Date(Date.now() - DAY_MS) }

  test.each([
    ['an expired certificate', authority.issue(expired), 'CERT_HAS_EXPIRED', 'certificate has expired'],
    ['a self-signed certificate', selfSigned(), 'DEPTH_ZERO_SELF_SIGNED_CERT', /^self-signed certificate/],
    [
      'the certificate of another name',
      authority.issue({ names: ['other.example.com'] }),
      'ERR_TLS_CERT_ALTNAME_INVALID',
      "Hostname/IP does not match certificate's altnames: Host: localhost. is not in the cert's altnames: DNS:other.example.com",
    ],
    [
      'the certificate of an unknown authority',
      testAuthority('Another test authority').issue(),
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      /^unable to verify the first certificate/,
    ],
    [
      'only TLS 1.1',
      { ...authority.issue(), minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const,
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      /alert protocol version/,
    ],
  ])('%s fails with code and text as they are', async (_what, tls, code, message) => {
    const receiver = await receiverWith({ tls })
    const error = await failure(egressWith(), get(receiver.url.replace('127.0.0.1', 'localhost')))
    expect(error).toMatchObject({ kind: 'tls', code, remoteIp: '127.0.0.1' })
    expect(error.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
    expect(error.timings.connectMs).toBeGreaterThan(0)
    expect(error.timings.tlsMs).toBeNull()
    expect(receiver.requests).toEqual([])
  })

  test('plain HTTP behind https fails as tls', async () => {
    const receiver = await receiverWith()
    const error = await failure(egressWith(), get(receiver.url.replace('http:', 'https:')))
    expect(error).toMatchObject({ kind: 'tls', code: 'ERR_SSL_WRONG_VERSION_NUMBER' })
    expect(error.message).toContain('wrong version number')
  })

  test('a server that ends the handshake fails as tls', async () => {
    const port = await listening(createServer((socket) => socket.on('data', () => socket.destroy())))
    const error = await failure(egressWith(), get(`https://127.0.0.1:${port}/`))
    expect(error).toMatchObject({ kind: 'tls', code: 'ECONNRESET' })
  })

  test('the address of a URL is compared with the certificate', async () => {
    const receiver = await receiverWith({ tls: authority.issue({ names: ['127.0.0.1'] }) })
    const egress = egressWith()
    expect(await egress.request(get(receiver.url))).toMatchObject({ status: 200 })
    const other = await receiverWith({ tls: authority.issue({ names: ['127.0.0.2'] }) })
    expect(await failure(egress, get(other.url))).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  })
})

describe('abortion and closing', () => {
  test('a signal aborts a request at any step', async () => {
    const receiver = await receiverWith({ respond: () => ({ fault: 'hang' }) })
    const aborting = new AbortController()
    const egress = egressWith()
    const failing = failure(egress, get(receiver.url, { signal: aborting.signal }))
    await waitFor('the request', () => receiver.requests.length === 1)
    aborting.abort()
    expect(await failing).toMatchObject({ kind: 'aborted', code: 'EGRESS_ABORTED' })
    expect(await failure(egress, get(receiver.url, { signal: aborting.signal }))).toMatchObject({ kind: 'aborted' })
    expect(receiver.requests).toHaveLength(1)
  })

  test('close ends running requests and idle connections, and refuses new ones', async () => {
    const receiver = await receiverWith({ respond: ({ path }) => (path === '/hang' ? { fault: 'hang' } : 200) })
    const egress = egressWith()
    await egress.request(get(receiver.url))
    const failing = failure(egress, get(`${receiver.url}/hang`))
    await waitFor('the request', () => receiver.requests.length === 2)
    await egress.close()
    expect(await failing).toMatchObject({ kind: 'aborted' })
    expect(await failure(egress, get(receiver.url))).toMatchObject({ kind: 'refused', code: 'EGRESS_CLOSED' })
    await waitFor('all connections to end', () => receiver.openConnections() === 0)
  })
})

describe('connections', () => {
  test('100 parallel requests are answered, and a hanging origin does not slow another one', async () => {
    const hanging = await receiverWith({ respond: () => ({ fault: 'hang' }) })
    const receiver = await receiverWith({ respond: ({ body }) => ({ body }) })
    const egress = egressWith()
    const stuck = Array.from({ length: 100 }, () => failure(egress, get(hanging.url, { timeoutMs: 30_000 })))
    await waitFor('the requests that hang', () => hanging.requests.length === 100)
    for (let round = 0; round < 3; round += 1) {
      const responses = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          egress.request({ url: receiver.url, method: 'POST', headers: {}, body: Buffer.from(`${round}-${index}`) }),
        ),
      )
      expect(responses.map(({ body }) => body.toString())).toEqual(
        Array.from({ length: 100 }, (_, index) => `${round}-${index}`),
      )
    }
    expect(receiver.connections()).toBe(100)
    await egress.close()
    expect(new Set((await Promise.all(stuck)).map(({ kind }) => kind))).toEqual(new Set(['aborted']))
  })

  test('an origin never takes more than its share, and the excess fails instead of waiting', async () => {
    const hanging = await receiverWith({ respond: () => ({ fault: 'hang' }) })
    const other = await receiverWith()
    const egress = egressWith({ bounds: { perOrigin: 3, inAll: 5 } })
    const aborting = new AbortController()
    const stuck = Array.from({ length: 3 }, () => failure(egress, get(hanging.url, { signal: aborting.signal })))
    await waitFor('three requests', () => hanging.requests.length === 3)
    expect(await failure(egress, get(hanging.url))).toMatchObject({ kind: 'refused', code: 'EGRESS_BUSY' })
    expect(await egress.request(get(other.url))).toMatchObject({ status: 200 })
    aborting.abort()
    await Promise.all(stuck)
    const answered = failure(egress, get(hanging.url, { timeoutMs: 20 }))
    expect(await answered).toMatchObject({ kind: 'timeout' })
  })

  test('groups share neither the bound of an origin nor connections', async () => {
    const receiver = await receiverWith({ respond: ({ path }) => (path === '/hang' ? { fault: 'hang' } : 200) })
    const egress = egressWith({ bounds: { perOrigin: 2, inAll: 5 } })
    const aborting = new AbortController()
    const hang = (group: string) => failure(egress, get(`${receiver.url}/hang`, { group, signal: aborting.signal }))
    const stuck = ['a', 'a', 'b', 'b'].map(hang)
    await waitFor('four requests', () => receiver.requests.length === 4)
    expect(await failure(egress, get(receiver.url, { group: 'a' }))).toMatchObject({ code: 'EGRESS_BUSY' })
    for (const group of ['c', undefined])
      expect(await egress.request(get(receiver.url, group === undefined ? {} : { group }))).toMatchObject({
        status: 200,
      })
    // The idle connection of another group is not used, it makes room.
    expect(receiver.connections()).toBe(6)
    aborting.abort()
    await Promise.all(stuck)
  })

  test('an idle connection makes room for another origin when all are taken', async () => {
    const receivers = await Promise.all(Array.from({ length: 4 }, () => receiverWith()))
    const egress = egressWith({ bounds: { perOrigin: 2, inAll: 2 } })
    for (const receiver of receivers) expect(await egress.request(get(receiver.url))).toMatchObject({ status: 200 })
    await waitFor(
      'the idle connections to be closed',
      () => receivers.reduce((sum, { openConnections }) => sum + openConnections(), 0) === 2,
    )
    expect(receivers.map(({ openConnections }) => openConnections())).toEqual([0, 0, 1, 1])
  })

  test('a connection that the server closes is not used again', async () => {
    const receiver = await receiverWith({ respond: () => ({ headers: { connection: 'close' }, body: 'x' }) })
    const egress = egressWith()
    for (let index = 0; index < 5; index += 1)
      expect(await egress.request(get(receiver.url))).toMatchObject({ status: 200 })
    expect(receiver.connections()).toBe(5)
    const raw = await receiverWith({ respond: () => ({ raw: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' }) })
    for (let index = 0; index < 5; index += 1) {
      expect(await egress.request(get(raw.url))).toMatchObject({ status: 200 })
      await waitFor('the server to close', () => raw.openConnections() === 0)
    }
  })
})

test('what a server sends without being asked is no answer to the next request', async () => {
  let count = 0
  const port = await listening(
    createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', () => {
        count += 1
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${count}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`,
        )
      })
    }),
  )
  const egress = egressWith()
  for (const expected of ['1', '2', '3']) {
    const response = await egress.request(get(`http://127.0.0.1:${port}/`))
    expect(response.body.toString()).toBe(expected)
  }
})

/** Answers a request when the first number becomes 1, then sets the second. */
const PATIENT_SERVER = `
const { parentPort, workerData } = require('node:worker_threads')
const state = new Int32Array(workerData)
const server = require('node:http').createServer((request, response) => {
  parentPort.postMessage('arrived')
  Atomics.wait(state, 0, 0)
  response.end('ok', () => {
    Atomics.store(state, 1, 1)
    Atomics.notify(state, 1)
  })
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

test('an answer that arrives in time counts when this process is too busy to read it in time', async () => {
  const state = new Int32Array(new SharedArrayBuffer(8))
  const worker = new Worker(PATIENT_SERVER, { eval: true, workerData: state.buffer })
  closers.push(async () => void (await worker.terminate()))
  const [port] = (await once(worker, 'message')) as [number]
  const arrived = once(worker, 'message')
  const timeoutMs = 1_000
  const startedMs = performance.now()
  const answer = egressWith().request(get(`http://127.0.0.1:${port}/`, { timeoutMs }))
  await arrived
  Atomics.store(state, 0, 1)
  Atomics.notify(state, 0)
  // This thread stands still until the answer is sent and the clock has ended.
  Atomics.wait(state, 1, 0)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, startedMs + timeoutMs + 20 - performance.now())
  expect(await answer).toMatchObject({ status: 200 })
})

test('an idle connection is closed', async () => {
  const receiver = await receiverWith()
  const egress = egressWith()
  await egress.request(get(receiver.url))
  const idleSinceMs = performance.now()
  expect(receiver.openConnections()).toBe(1)
  await waitFor('the idle connection to be closed', () => receiver.openConnections() === 0)
  // Not at the end of the request: a connection is for several.
  expect(performance.now() - idleSinceMs).toBeGreaterThan(1_000)
  expect(await egress.request(get(receiver.url))).toMatchObject({ status: 200 })
})

/** Listens on 127.0.0.1; returns the port. */
async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
      }),
  )
  return (server.address() as AddressInfo).port
}
