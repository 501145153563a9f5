import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSamples } from '#test/kit/samples.ts'
import { fingerprint } from '../../issues/grouping/grouping.ts'
import { normalizeEvent } from './normalize.ts'
import { readSecurityReport, reportsIn, type SecurityReport } from './security-report.ts'

const source = { release: 'shop@1', environment: 'production', userAgent: null }
const csp = (fields: Record<string, unknown>): SecurityReport =>
  readSecurityReport({ 'csp-report': { 'document-uri': 'https://shop.example/cart?user=ada#x', ...fields } }, source)

function eventOf(report: SecurityReport) {
  if ('outcome' in report) throw new Error(`${report.outcome}: ${report.reason}`)
  return normalizeEvent(report.event, {
    eventId: '0123456789abcdef0123456789abcdef',
    receivedAt: new Date('2026-11-20T05:00:00Z'),
    sentAt: null,
    clientIp: '198.51.100.7',
    userAgent: null,
  })
}

const titleOf = (report: SecurityReport) => eventOf(report).title
const hashOf = (report: SecurityReport) => fingerprint(eventOf(report)).hash.toString('hex')

describe('Content Security Policy', () => {
  test('a report of Chrome', () => {
    const [evil, image] = readSamples(/security/).map(({ body }) =>
      readSecurityReport(JSON.parse(body.toString()), source),
    )
    if (evil === undefined || image === undefined) throw new Error('no recordings')
    expect(eventOf(evil)).toMatchObject({
      type: 'csp',
      platform: 'other',
      level: 'error',
      title: "Blocked 'eval' in a script",
      culprit: 'script-src',
      release: 'shop@1',
      environment: 'production',
      user: { ip_address: '198.51.100.7' },
      // The recorded URL has a DSN in its query.
      request: { url: 'http://localhost:8088/cart' },
      tags: [
        { key: 'effective-directive', value: 'script-src' },
        { key: 'blocked-uri', value: 'eval' },
      ],
      contexts: { csp: { effective_directive: 'script-src', blocked: 'eval', line_number: 12 } },
      errors: [],
    })
    expect(eventOf(image)).toMatchObject({ title: "Blocked 'image' from 'evil.local'", culprit: 'img-src' })
    expect(fingerprint(eventOf(image)).parts).toEqual([
      {
        variant: 'security',
        values: [
          { label: 'type', value: 'csp' },
          { label: 'directive', value: 'img-src' },
          { label: 'blocked', value: 'evil.local' },
        ],
      },
    ])
  })

  test.each([
    [{ 'effective-directive': 'script-src-elem', 'blocked-uri': 'inline' }, "Blocked inline 'script'"],
    [{ 'violated-directive': "script-src 'self'", 'blocked-uri': '' }, "Blocked inline 'script'"],
    [{ 'violated-directive': "script-src 'unsafe-eval'", 'blocked-uri': '' }, "Blocked 'eval' in a script"],
    [{ 'effective-directive': 'img-src', 'blocked-uri': 'data' }, "Blocked 'image' from 'data:'"],
    [{ 'effective-directive': 'img-src', 'blocked-uri': 'data:image/png;base64,AAAA' }, "Blocked 'image' from 'data:'"],
    [{ 'effective-directive': 'img-src', 'blocked-uri': 'https://shop.example/a.png' }, "Blocked 'image' from 'self'"],
    [{ 'effective-directive': 'img-src', 'blocked-uri': '' }, "Blocked 'image' from 'self'"],
    [
      { 'effective-directive': 'connect-src', 'blocked-uri': 'wss://a.example:8443/x' },
      "Blocked 'connection' from 'a.example:8443'",
    ],
    [
      { 'effective-directive': 'trusted-types', 'blocked-uri': 'trusted-types-policy' },
      "Blocked 'trusted-types' from 'trusted-types-policy'",
    ],
    [
      { 'effective-directive': 'worker-src', 'blocked-uri': 'blob:https://a.example/1-2' },
      "Blocked 'worker' from 'a.example'",
    ],
  ])('%j is "%s"', (fields, title) => {
    expect(titleOf(csp(fields))).toBe(title)
  })

  test('groups by directive and host, not by page, path and policy', () => {
    const one = csp({
      'effective-directive': 'img-src',
      'blocked-uri': 'https://cdn.example/a.png',
      disposition: 'report',
    })
    const same = csp({
      'document-uri': 'https://shop.example/other',
      'effective-directive': 'img-src',
      'blocked-uri': 'https://cdn.example/b.png?session=1',
    })
    const other = csp({ 'effective-directive': 'img-src', 'blocked-uri': 'https://cdn2.example/a.png' })
    expect(hashOf(one)).toBe(hashOf(same))
    expect(hashOf(one)).not.toBe(hashOf(other))
    // The same distinction recognises repeats before an event is created.
    expect('group' in one && 'group' in same && one.group === same.group).toBe(true)
    expect('group' in other && 'group' in one && other.group === one.group).toBe(false)
    expect(eventOf(one).level).toBe('warning')
    expect(eventOf(same).level).toBe('error')
  })

  test('removes query, fragment and user name of all URLs', () => {
    const event = eventOf(
      csp({
        'effective-directive': 'img-src',
        'blocked-uri': 'https://u:p@cdn.example/b.png?secret=1#frag',
        referrer: 'https://shop.example/login?secret=2',
        'source-file': 'https://shop.example/app.js?secret=3',
      }),
    )
    expect(JSON.stringify(event)).not.toMatch(/secret|frag|user=ada|u:p/)
  })

  test('ignores extensions, about: and nameless blobs', () => {
    for (const uri of [
      'chrome-extension://abc/x.js',
      'chrome-extension',
      'moz-extension',
      'safari-web-extension://x',
      'about',
      'about:blank',
      'blob',
      'blob:null/1',
    ])
      expect(csp({ 'effective-directive': 'script-src', 'blocked-uri': uri })).toEqual({
        outcome: 'filtered',
        reason: 'csp_noise',
      })
    expect(
      csp({
        'effective-directive': 'img-src',
        'blocked-uri': 'https://a.example',
        'source-file': 'moz-extension://x/y.js',
      }),
    ).toMatchObject({ outcome: 'filtered' })
  })
})

test('reads a list of the Reporting API with other reports in it', () => {
  const violation = {
    type: 'csp-violation',
    age: 5_000,
    url: 'https://shop.example/cart?x=1',
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36',
    body: {
      documentURL: 'https://shop.example/cart?x=1',
      blockedURL: 'https://evil.example/x.js',
      effectiveDirective: 'script-src-elem',
      disposition: 'enforce',
      statusCode: 200,
      lineNumber: 3,
      sample: '',
    },
  }
  const reports = reportsIn([
    violation,
    { type: 'deprecation', body: {} },
    { type: 'network-error', body: {} },
    5,
    null,
  ])
  const read = reports.map((report) => readSecurityReport(report, source))
  expect(read.slice(1)).toEqual([
    { outcome: 'discarded', reason: 'unsupported_report' },
    { outcome: 'discarded', reason: 'unsupported_report' },
    { outcome: 'invalid', reason: 'not_an_object' },
    { outcome: 'invalid', reason: 'not_an_object' },
  ])
  const [first] = read
  if (first === undefined) throw new Error('nothing read')
  expect(first).toMatchObject({ ageMs: 5_000 })
  expect(eventOf(first)).toMatchObject({
    title: "Blocked 'script' from 'evil.example'",
    request: { url: 'https://shop.example/cart' },
    contexts: { browser: { name: 'Chrome' }, csp: { line_number: 3, disposition: 'enforce' } },
  })
})

test.each([
  ['expect-ct-report', "Expect-CT failed for 'shop.example'", 'expectct'],
  ['expect-staple-report', "Expect-Staple failed for 'shop.example'", 'expectstaple'],
])('%s', (key, title, type) => {
  const report = readSecurityReport(
    {
      [key]: {
        hostname: 'shop.example',
        port: 443,
        'date-time': '2026-11-20T04:00:00Z',
        'served-certificate-chain': ['a', 'b'],
      },
    },
    source,
  )
  expect(eventOf(report)).toMatchObject({ title, type, culprit: 'shop.example', level: 'error' })
  expect(fingerprint(eventOf(report)).parts[0]?.values).toEqual([
    { label: 'type', value: type },
    { label: 'hostname', value: 'shop.example' },
  ])
})

test('public key pinning', () => {
  const report = readSecurityReport({ hostname: 'shop.example', port: 443, 'known-pins': ['pin-sha256="x"'] }, source)
  expect(eventOf(report)).toMatchObject({ type: 'hpkp', title: "Public key pinning failed for 'shop.example'" })
})

test('anything else is invalid with a reason, and nothing throws', () => {
  expect(readSecurityReport({}, source)).toEqual({ outcome: 'invalid', reason: 'not_a_report' })
  expect(csp({})).toEqual({ outcome: 'invalid', reason: 'no_directive' })
  expect(csp({ 'effective-directive': '<script>' })).toEqual({ outcome: 'invalid', reason: 'no_directive' })
  expect(readSecurityReport({ 'expect-ct-report': { port: 1 } }, source)).toEqual({
    outcome: 'invalid',
    reason: 'no_hostname',
  })
  const value = fc.oneof(
    fc.string(),
    fc.webUrl(),
    fc.integer(),
    fc.constant(null),
    fc.array(fc.anything()),
    fc.object(),
  )
  const names = [
    'effective-directive',
    'violated-directive',
    'blocked-uri',
    'document-uri',
    'disposition',
    'source-file',
    'line-number',
    'hostname',
    'known-pins',
    'original-policy',
  ]
  const record = fc.dictionary(fc.constantFrom(...names), value)
  fc.assert(
    fc.property(record, fc.constantFrom('csp-report', 'expect-ct-report', 'body'), (fields, key) => {
      const report = readSecurityReport(
        { type: 'csp-violation', [key]: { ...fields, 'effective-directive': 'img-src' } },
        source,
      )
      if (!('outcome' in report)) expect(eventOf(report).title).not.toBe('')
      expect(() => readSecurityReport(fields, source)).not.toThrow()
    }),
    { numRuns: 300 },
  )
})
