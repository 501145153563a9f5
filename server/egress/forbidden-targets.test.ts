import { afterAll, describe, expect, test } from 'vitest'
import { EgressError, type Egress } from '#server/context/egress.ts'
import { AppError } from '#server/kernel/errors.ts'
import { parseAddressRange } from '#server/kernel/address-range.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { createEgress, type EgressOptions } from './create-egress.ts'

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

/** Answers of the resolver, in turn; the last one stays. */
const names: Record<string, readonly (readonly string[])[]> = {
  'rebinding.example': [['::1'], ['127.0.0.1']],
  'rebinding-mapped.example': [['::1'], ['::ffff:127.0.0.1']],
  'loopback-4.example': [['127.0.0.1']],
  'loopback-6.example': [['::1']],
  'mapped.example': [['::ffff:127.0.0.1']],
  'nat64.example': [['64:ff9b::7f00:1']],
  'compatible.example': [['::7f00:1']],
  'scoped.example': [['fe80::1%lo']],
  'one-bad-last.example': [['93.184.216.34', '127.0.0.1']],
  'one-bad-first.example': [['127.0.0.1', '93.184.216.34']],
  'one-bad-6.example': [['93.184.216.34', '2606:4700::1111', '::1']],
  'metadata.example': [['169.254.169.254']],
  'metadata-6.example': [['fd00:ec2::254']],
  'private.example': [['10.0.0.7']],
  'unspecified.example': [['0.0.0.0']],
  'nonsense.example': [['localhost']],
  'none.example': [[]],
}
const asked = new Map<string, number>()

function resolveName(name: string): Promise<string[]> {
  const answers = names[name]
  if (answers === undefined)
    return Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }))
  const count = asked.get(name) ?? 0
  asked.set(name, count + 1)
  return Promise.resolve([...(answers[Math.min(count, answers.length - 1)] ?? [])])
}

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

const LOOPBACK_4 = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.000.000.001',
  '127.255.255.254',
  '127.13.37.1',
  '2130706433',
  '017700000001',
  '0x7f000001',
  '0x7F000001',
  '0x7f.1',
  '0x7f.0.0.1',
  '0x7f.0x0.0x0.0x1',
  '0177.0.0.1',
  '0177.0.0.01',
  '0177.0x0.0.1',
  '00000177.1',
  '0x0000007f.1',
  '127.0x000001',
  '127.0.0x1',
  '127.0.1.',
  '0x7f.1.',
  '2130706433.',
  '１２７.０.０.１',
  '１２７。０。０。１',
  '127。0。0。1',
  '127．0．0．1',
  '127｡0｡0｡1',
  '①②⑦.⓪.⓪.①',
  '𝟏𝟐𝟕.𝟎.𝟎.𝟏',
  '0𝖷7f.1',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '12%37.1',
  '0',
  '0.0.0.0',
  '0x0',
  '00',
  '0.0',
  '0.0.0.1',
  '000.000.000.000',
]
const LOOPBACK_NAMES = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'LocalHost.',
  'a.localhost',
  'a.b.localhost.',
  'ｌｏｃａｌｈｏｓｔ',
  'local%68ost',
  'ⓛocalhost',
  'loc\u{ad}alhost',
]
const IPV6 = [
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::0001]',
  '[0::1]',
  '[::0:1]',
  '[::0.0.0.1]',
  '[::]',
  '[0:0:0:0:0:0:0:0]',
  '[::0.0.0.0]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::7F00:0001]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:7f00:0001]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[0:0:0:0:0:ffff:7f00:1]',
  '[::ffff:127.255.0.1]',
  '[::ffff:0.0.0.0]',
  '[::ffff:0:127.0.0.1]',
  '[::ffff:0:7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:0:0:0:0:7f00:1]',
  '[64:ff9b:1::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[64:ff9b:1:7f00:0:100::]',
  '[64:ff9b:1:ffff::7f00:1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b::a00:1]',
  '[2002:7f00:1::]',
  '[2002:7f00:1::1]',
  '[2002:a9fe:a9fe::]',
  '[2001:0:7f00:1::]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  '[::5efe:127.0.0.1]',
  '[fe80::5efe:127.0.0.1]',
  '[100::1]',
  '[1::1]',
  '[4000::1]',
  '[e000::1]',
]
const INSIDE = [
  '169.254.169.254',
  '169.254.169.253',
  '169.254.170.2',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[fd00:ec2::254]',
  '[fd00:0ec2:0::0254]',
  '[fd00:ec2::23]',
  '[fd20:ce::254]',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '10.0.0.1',
  '10.255.255.255',
  '012.0.0.1',
  '0xa000001',
  '167772161',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.257',
  '0xc0a80001',
  '100.64.0.1',
  '198.18.0.1',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[ff0e::1]',
  '[2001:db8::1]',
  '[2001:10::1]',
  '[3fff::1]',
]
const PORTS = [22, 25, 110, 143, 465, 587, 993, 995, 3306, 5432, 6379, 9200, 11_211, 27_017]
const port4 = canary4.port
const port6 = canary6.port

/** Refused when a user types them. */
const EARLY: readonly string[] = [
  ...LOOPBACK_4.map((host) => `http://${host}:${port4}/`),
  ...LOOPBACK_NAMES.map((host) => `http://${host}:${port4}/`),
  ...IPV6.flatMap((host) => [`http://${host}:${port6}/`]),
  ...INSIDE.map((host) => `http://${host}:${port4}/`),
  ...PORTS.map((port) => `https://example.com:${port}/`),
  'https://example.com:0/',
  'http://example.com:0022/',
  `http://user@127.0.0.1:${port4}/`,
  `http://user:password@loopback-4.example:${port4}/`,
  `http://@loopback-4.example:${port4}/`,
  `http://:@loopback-4.example:${port4}/`,
  `http://example.com@127.0.0.1:${port4}/`,
  `http://example.com%40127.0.0.1:${port4}/`,
  `http://example.com:80@127.0.0.1:${port4}/`,
  `http://127.0.0.1:${port4}@example.com/`,
  `http:\\\\127.0.0.1:${port4}\\`,
  `http:/127.0.0.1:${port4}/`,
  `http:127.0.0.1:${port4}/`,
  `http:///127.0.0.1:${port4}/`,
  `HTTP://127.0.0.1:${port4}/`,
  `http://127.0.0.1:${port4}/#fragment`,
  `http://loopback-4.example:${port4}/#`,
  `http://127.0.0.1\t:${port4}/`,
  `ht\ntp://loopback-4.example:${port4}/`,
  ` http://loopback-4.example:${port4}/`,
  `http://loopback-4.example:${port4}/ HTTP/1.1\r\nX: y`,
  `http://loopback-4.example:${port4}/\u0000`,
  `http://loopback-4.example..:${port4}/`,
  `http://.loopback-4.example:${port4}/`,
  `http://127.0.0.1%00.example.com:${port4}/`,
  `http://[::1%25lo]:${port6}/`,
  `http://[fe80::1%25eth0]:${port6}/`,
  `http://[::1]x:${port6}/`,
  `http://[::1:${port6}/`,
  `http://127.0.0.1:${port4}:80/`,
  `http://256.256.256.256:${port4}/`,
  `http://1.2.3.4.5:${port4}/`,
  `http://0x100000000:${port4}/`,
  `ws://127.0.0.1:${port4}/`,
  `ftp://127.0.0.1:${port4}/`,
  `gopher://127.0.0.1:${port4}/_GET`,
  `file:///etc/passwd`,
  `unix:/var/run/docker.sock`,
  `data:text/plain,x`,
  `javascript:alert(1)`,
  `blob:http://127.0.0.1:${port4}/x`,
  `//127.0.0.1:${port4}/`,
  `127.0.0.1:${port4}`,
  '',
  'http://',
  `http://loopback-4.example:${port4}/${'a'.repeat(2_048)}`,
]

/** Only the connection shows what they are. */
const LATE: readonly string[] = Object.keys(names)
  .filter((name) => !name.startsWith('rebinding'))
  .flatMap((name) => [
    `http://${name}:${port4}/`,
    `http://${name}.:${port6}/`,
    `https://${name.toUpperCase()}:${port4}/hook?a=1`,
  ])

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
