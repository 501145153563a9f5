import { get } from 'node:https'
import { afterEach, expect, test } from 'vitest'
import { testAuthority } from './certificates.ts'
import { startReceiver, type Answer, type Receiver } from './receiver.ts'

let receiver: Receiver
afterEach(() => receiver.close())

test('a receiver keeps method, path, headers, raw body and time of a request', async () => {
  receiver = await startReceiver()
  const before = Date.now()
  const body = Buffer.from([0, 255, 10, 13])
  const response = await fetch(`${receiver.url}/hook?a=1`, { method: 'POST', body, headers: { 'X-One': 'two' } })
  expect(response.status).toBe(200)
  const [request] = receiver.requests
  expect(request).toMatchObject({ method: 'POST', path: '/hook?a=1', body })
  expect(request?.headers['x-one']).toBe('two')
  expect(request?.receivedAtMs).toBeGreaterThanOrEqual(before - 1)
  expect(request?.receivedAtMs).toBeLessThanOrEqual(Date.now() + 1)
})

test('a receiver answers each request as it is asked to', async () => {
  const answers: Answer[] = [
    204,
    { status: 503, body: 'busy', headers: { 'retry-after': '7' }, delayMs: 20 },
    { bodySizeBytes: 100_000 },
    { body: 'slow', dripMs: 1 },
    { raw: 'HTTP/1.0 418 Teapot\r\n\r\nshort', dripMs: 1 },
    { fault: 'reset' },
    { fault: 'close' },
  ]
  receiver = await startReceiver({
    respond: (request) => Promise.resolve(answers[Number(request.path.slice(1))] ?? 500),
  })
  const seen: unknown[] = []
  for (const index of answers.keys()) {
    seen.push(
      await fetch(`${receiver.url}/${index}`).then(
        async (response) => [response.status, response.headers.get('retry-after'), (await response.text()).length],
        () => 'failed',
      ),
    )
  }
  expect(seen).toEqual([
    [204, null, 0],
    [503, '7', 4],
    [200, null, 100_000],
    [200, null, 4],
    [418, null, 5],
    'failed',
    'failed',
  ])
})

test('a receiver that hangs keeps the connection until it is closed', async () => {
  receiver = await startReceiver({
    respond: ({ path }) => ({ fault: path === '/body' ? 'hang-body' : 'hang' }),
  })
  const inBody = await fetch(`${receiver.url}/body`)
  expect(inBody.status).toBe(200)
  const hanging = fetch(receiver.url).then(
    () => 'answered',
    () => 'failed',
  )
  await expect.poll(() => receiver.requests.length).toBe(2)
  expect(receiver.openConnections()).toBe(2)
  await receiver.close()
  expect(await hanging).toBe('failed')
  await expect(inBody.text()).rejects.toThrow()
})

test('a receiver with TLS can reset a connection', async () => {
  const authority = testAuthority()
  receiver = await startReceiver({ tls: authority.issue(), respond: () => ({ fault: 'reset' }) })
  const failure = await new Promise<unknown>((resolve) => {
    get(receiver.url, { ca: authority.cert }, () => resolve('answered')).on('error', resolve)
  })
  expect(failure).toMatchObject({ code: 'ECONNRESET' })
  expect(receiver.requests).toHaveLength(1)
})
