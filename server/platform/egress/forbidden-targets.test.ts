import { afterAll, describe, expect, test } from 'vitest'
import { EgressError, type Egress } from '#server/platform/context/egress.ts'
import { AppError } from '#server/platform/kernel/errors.ts'
import { parseAddressRange } from '#server/platform/kernel/address-range.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { createEgress, type EgressOptions } from './create-egress.ts'
import { forbiddenNames, refusedEarly, refusedLate } from './forbidden-targets.fixture.ts'

/**
 * Addresses that a user may type to reach the inside of the installation. Two canaries listen on loopback; in strict mode
 * no request may reach them, whatever the spelling, the resolver or another server says.
 */

const canary4 = await startReceiver()
const canary6 = await startReceiver({ host: '::1' })
const closers: (() => Promise<void>)[] = [canary4.close, canary6.close]
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})
const hits = (): number => canary4.connections() + canary6.connections()

const { asked, resolveName } = forbiddenNames()

function egressWith(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({
    allowed: [],
    loopbackOpen: false,
    httpOpen: true,
    ownPorts: [],
    database: () => ({ host: '/nowhere', port: 1 }),
    resolveName,
    ...options,
  })
  closers.push(() => egress.close())
  return egress
}
const strict = egressWith()

const port4 = canary4.port
const EARLY = refusedEarly(port4, canary6.port)
const LATE = refusedLate(port4, canary6.port)

test(`the ${EARLY.length + LATE.length} cases are many and each is one`, () => {
  expect(EARLY.length + LATE.length).toBeGreaterThanOrEqual(200)
  expect(new Set([...EARLY, ...LATE]).size).toBe(EARLY.length + LATE.length)
})

describe('is refused when a user types it, and when it is requested', () => {
  test.each(EARLY.map((url) => [url]))('%j', async (url) => {
    const refusal = ((): unknown => {
      try {
        return strict.checkUrl(url)
      } catch (error) {
        return error
      }
    })()
    expect(refusal).toBeInstanceOf(AppError)
    expect(refusal).toHaveProperty('code', 'invalid')
    expect(String(refusal)).toMatch(/^AppError: The (URL|host name) .{10,}\.$/)
    const failure: unknown = await strict.request({ url, method: 'POST', headers: {} }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(EgressError)
    expect(failure).toMatchObject({ kind: 'refused', code: 'EGRESS_URL' })
    expect(hits()).toBe(0)
  })
})

describe('is refused when it is requested', () => {
  test.each(LATE.map((url) => [url]))('%j', async (url) => {
    strict.checkUrl(url)
    const failure: unknown = await strict.request({ url, method: 'POST', headers: {} }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'refused', code: 'EGRESS_ADDRESS', remoteIp: null })
    expect(hits()).toBe(0)
  })
})

/** Stands for a server outside: the only address that is allowed. */
const OUTSIDE = '::1'
const outsideOnly = [parseAddressRange(OUTSIDE) ?? expect.unreachable()]

test('a name is resolved once: no second look-up decides where the connection goes', async () => {
  const outside = await startReceiver({ host: OUTSIDE, respond: () => ({ headers: { connection: 'close' } }) })
  closers.push(outside.close)
  const egress = egressWith({ allowed: outsideOnly })
  for (const name of ['rebinding.example', 'rebinding-mapped.example']) {
    const request = { url: `http://${name}:${outside.port}/`, method: 'GET', headers: {} } as const
    expect(await egress.request(request)).toMatchObject({ status: 200, remoteIp: OUTSIDE })
    expect(asked.get(name)).toBe(1)
    await expect(egress.request(request)).rejects.toMatchObject({ kind: 'refused', code: 'EGRESS_ADDRESS' })
    const atCanary = { ...request, url: `http://${name}:${port4}/` }
    await expect(egress.request(atCanary)).rejects.toMatchObject({ kind: 'refused', code: 'EGRESS_ADDRESS' })
  }
  expect(outside.requests).toHaveLength(2)
  expect(hits()).toBe(0)
})

test('the text of a refusal tells nothing about the addresses inside', async () => {
  const failure: unknown = await strict
    .request({ url: 'https://private.example/', method: 'GET', headers: {} })
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({
    message: 'private.example resolves to a private address, which this installation does not allow.',
  })
})

test('a redirect to loopback is an answer, not a way', async () => {
  const outside = await startReceiver({
    host: OUTSIDE,
    respond: ({ path }) => ({
      status: Number(path.slice(1)),
      headers: { location: `http://127.0.0.1:${port4}/`, refresh: `0; url=http://127.0.0.1:${port4}/` },
    }),
  })
  closers.push(outside.close)
  const egress = egressWith({ allowed: outsideOnly })
  for (const status of [300, 301, 302, 303, 305, 307, 308]) {
    const response = await egress.request({ url: `${outside.url}/${status}`, method: 'POST', headers: {} })
    expect(response.status).toBe(status)
  }
  expect(hits()).toBe(0)
})

test('http is refused unless the operator allows it', () => {
  const secure = egressWith({ httpOpen: false })
  expect(() => secure.checkUrl('http://example.com/')).toThrow(
    'The URL must begin with https://: this installation does not send to http addresses.',
  )
  expect(secure.checkUrl('https://example.com./a?b=c').href).toBe('https://example.com/a?b=c')
})

test('good URLs are accepted', () => {
  for (const url of [
    'https://example.com',
    'https://example.com:8443/hooks/1?token=a%20b',
    'https://xn--mnchen-3ya.example/',
    'https://münchen.example/',
    'https://93.184.216.34/',
    'https://[2606:4700::1111]:8443/',
    'http://example.com:8080/@user/x:y',
    'https://receiver/',
    `https://example.com/${'a'.repeat(2_028)}`,
  ])
    expect(strict.checkUrl(url), url).toBeInstanceOf(URL)
})

describe('with loopback open', () => {
  const range = parseAddressRange('127.0.0.0/8') ?? expect.unreachable()

  test('a request reaches a local receiver, and never the listener of this service', async () => {
    const receiver = await startReceiver()
    const service = await startReceiver()
    const later = await startReceiver()
    closers.push(receiver.close, service.close, later.close)
    for (const options of [{ loopbackOpen: true }, { allowed: [range] }]) {
      const egress = egressWith({
        ...options,
        ownPorts: [service.port],
        resolveName: () => Promise.resolve(['127.0.0.1']),
      })
      egress.protectPort(later.port)
      expect(await egress.request({ url: receiver.url, method: 'GET', headers: {} })).toMatchObject({ status: 200 })
      for (const host of ['127.0.0.1', '127.0.0.2', 'name.example'])
        for (const { port } of [service, later]) {
          const request = egress.request({ url: `http://${host}:${port}/`, method: 'GET', headers: {} })
          await expect(request).rejects.toThrow(/ this service, which/)
        }
    }
    expect(service.connections() + later.connections()).toBe(0)
  })

  test('the database is refused: by socket, by address, by name, and when its name does not resolve', async () => {
    const database = await startReceiver()
    closers.push(database.close)
    const { port } = database
    const resolve = (name: string): Promise<string[]> =>
      name === 'gone.example' ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(['127.0.0.1'])
    for (const host of ['/run/postgresql', '127.0.0.1', 'db.example', 'gone.example']) {
      const egress = egressWith({ loopbackOpen: true, database: () => ({ host, port }), resolveName: resolve })
      for (const target of ['127.0.0.1', '127.0.0.9', 'name.example']) {
        const request = egress.request({ url: `http://${target}:${port}/`, method: 'GET', headers: {} })
        await expect(request, `${host} from ${target}`).rejects.toThrow(/ the database of this service, which/)
      }
    }
    expect(database.connections()).toBe(0)
    const elsewhere = egressWith({ loopbackOpen: true, database: () => ({ host: '10.9.9.9', port }) })
    expect(await elsewhere.request({ url: database.url, method: 'GET', headers: {} })).toMatchObject({ status: 200 })
  })

  test('what no setting opens stays refused', async () => {
    const egress = egressWith({
      loopbackOpen: true,
      allowed: ['0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1'].map(
        (text) => parseAddressRange(text) ?? expect.unreachable(),
      ),
    })
    for (const host of [
      '0.0.0.0',
      '0',
      '[::]',
      '169.254.169.254',
      '[fd00:ec2::254]',
      '[::ffff:169.254.169.254]',
      '168.63.129.16',
    ])
      expect(() => egress.checkUrl(`http://${host}:${port4}/`), host).toThrow('The URL points to')
    const request = egress.request({ url: `http://unspecified.example:${port4}/`, method: 'GET', headers: {} })
    await expect(request).rejects.toMatchObject({ code: 'EGRESS_ADDRESS' })
    expect(hits()).toBe(0)
  })
})

test('neither canary saw a connection', async () => {
  expect(hits()).toBe(0)
  // Both do listen.
  expect((await fetch(canary4.url)).status).toBe(200)
  expect((await fetch(canary6.url)).status).toBe(200)
})
