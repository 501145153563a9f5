import { describe, expect, test } from 'vitest'
import { parseAddressRange, type AddressRange } from '#server/platform/kernel/address-range.ts'
import { judgeAddress, type AddressRules } from './judge-address.ts'

const STRICT: AddressRules = { allowed: [], loopbackOpen: false }
const rangeOf = (text: string): AddressRange => parseAddressRange(text) ?? expect.unreachable(text)
const allowing = (...ranges: string[]): AddressRules => ({ allowed: ranges.map(rangeOf), loopbackOpen: false })
/** Everything that EGRESS_ALLOW_CIDRS can open. */
const OPEN = allowing('0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1')

/** First and last address of a range, and their neighbours outside it that no other range holds. */
const NEVER = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['224.0.0.0', '239.255.255.255', '223.255.255.255', null],
  ['255.255.255.255', '255.255.255.255', null, null],
  ['100.100.100.200', '100.100.100.200', null, null],
  ['192.0.0.192', '192.0.0.192', null, null],
  ['::', '::', null, null],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['fd00:ec2::', 'fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['fd00:ec2::254', 'fd00:ec2::254', null, null],
  ['fd20:ce::254', 'fd20:ce::254', null, null],
  ['fd00:c1::a9fe:a9fe', 'fd00:c1::a9fe:a9fe', null, null],
] as const
const DENIED = [
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['240.0.0.0', '255.255.255.254', null, null],
  ['::1', '::1', null, null],
  ['::2', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['4000::', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::', '2001:db9::'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff::', '2003::'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff::', '3fff:1000::'],
] as const

const neighbours = (rows: readonly (readonly (string | null)[])[]): string[] =>
  rows.flatMap((row) => row.slice(2)).filter((address) => address !== null)

describe('a public address is allowed', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '2606:4700::1111',
    '2a00:1450::',
    ...neighbours([...NEVER, ...DENIED]),
  ])('%s', (address) => {
    expect(judgeAddress(address, STRICT)).toBeNull()
  })
})

describe('no setting opens', () => {
  test.each(NEVER)('%s to %s', (first, last) => {
    for (const address of [first, last]) {
      expect(judgeAddress(address, STRICT), address).not.toBeNull()
      expect(judgeAddress(address, OPEN), address).not.toBeNull()
      expect(judgeAddress(address, { ...OPEN, loopbackOpen: true }), address).not.toBeNull()
    }
  })
})

describe('only a setting opens', () => {
  test.each(DENIED)('%s to %s', (first, last) => {
    for (const address of [first, last]) {
      expect(judgeAddress(address, STRICT), address).not.toBeNull()
      expect(judgeAddress(address, OPEN), address).toBeNull()
    }
  })
})

test('a listed range opens its own addresses and no others', () => {
  const rules = allowing('10.1.0.0/16', 'fd12::/16', '192.168.7.7')
  for (const address of ['10.1.0.0', '10.1.255.255', 'fd12::1', '192.168.7.7', '::ffff:10.1.2.3', '64:ff9b::a01:203'])
    expect(judgeAddress(address, rules), address).toBeNull()
  for (const address of ['10.0.255.255', '10.2.0.0', 'fd13::1', '192.168.7.8', '127.0.0.1', '::1', '::ffff:10.2.0.1'])
    expect(judgeAddress(address, rules), address).not.toBeNull()
})

test('loopback opens in relaxed mode, and nothing else does', () => {
  const relaxed: AddressRules = { allowed: [], loopbackOpen: true }
  for (const address of ['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'])
    expect(judgeAddress(address, relaxed), address).toBeNull()
  for (const address of ['0.0.0.0', '::', '10.0.0.1', '169.254.169.254', '::7f00:1', 'fd00::1'])
    expect(judgeAddress(address, relaxed), address).not.toBeNull()
})

describe('IPv4 inside IPv6', () => {
  const bad = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '0.0.0.0', '168.63.129.16', '192.168.1.1', '255.255.255.255']
  const good = ['93.184.216.34', '8.8.8.8', '198.52.100.7']
  const hex = (ip: string): [string, string] => {
    const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number)
    return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)]
  }
  const half = (bytes: string): string => bytes

  test('mapped and well-known NAT64 addresses are judged by it', () => {
    for (const [high, low, ip] of [...bad, ...good].map((each) => [...hex(each), each] as const))
      for (const address of [`::ffff:${high}:${low}`, `::ffff:${ip}`, `64:ff9b::${high}:${low}`, `64:ff9b::${ip}`])
        expect(judgeAddress(address, STRICT) === null, address).toBe(good.includes(ip))
  })

  test('local NAT64 addresses are judged by every address that may be inside', () => {
    for (const ip of [...bad, ...good]) {
      const [high, low] = hex(ip)
      // Prefixes of 96 and 48 bits.
      expect(judgeAddress(`64:ff9b:1::${high}:${low}`, STRICT) === null, ip).toBe(good.includes(ip))
      const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number)
      const groups = [(a << 8) | b, c, d << 8, 0, 0].map((group) => half(group.toString(16))).join(':')
      expect(judgeAddress(`64:ff9b:1:${groups}`, STRICT) === null, ip).toBe(good.includes(ip))
    }
    // 64 bits, with a public address where 48 bits would put it.
    expect(judgeAddress('64:ff9b:1:808:a:0:100:0', STRICT)).not.toBeNull()
    expect(judgeAddress('64:ff9b:1::', STRICT)).not.toBeNull()
  })

  test.each([
    '::127.0.0.1',
    '::7f00:1',
    '::93.184.216.34',
    '2002:5db8:d822::',
    '2001:0:5db8:d822::1',
    '::ffff:0:127.0.0.1',
  ])('other embeddings are refused: %s', (address) => {
    expect(judgeAddress(address, STRICT)).not.toBeNull()
  })
})

test.each([
  '',
  'localhost',
  'example.com',
  '127.1',
  '0x7f.1',
  '010.0.0.1',
  '2130706433',
  'fe80::1%eth0',
  '2606:4700::1%1',
  '8.8.8.8 ',
  '[::1]',
  '8.8.8.8/32',
  '1::2::3',
])('what is not exactly one address is refused: %j', (text) => {
  expect(judgeAddress(text, OPEN)).toBe('not an IP address')
})

test('every /8 of IPv4 and every /8 of IPv6 is judged without an error', () => {
  const verdicts = Array.from({ length: 256 }, (_, byte) => [
    judgeAddress(`${byte}.1.2.3`, STRICT) === null,
    judgeAddress(`${byte.toString(16)}01::1`, STRICT) === null,
  ])
  const publicV4 = verdicts.flatMap(([v4], byte) => (v4 === true ? [byte] : []))
  const publicV6 = verdicts.flatMap(([, v6], byte) => (v6 === true ? [byte] : []))
  const expected = Array.from({ length: 223 }, (_, index) => index + 1).filter((byte) => byte !== 10 && byte !== 127)
  expect(publicV4).toEqual(expected)
  // 2000::/3, first bytes 0x20 to 0x3f; 2001::/23 holds 2001::1.
  expect(publicV6).toEqual(Array.from({ length: 32 }, (_, index) => index + 0x20).filter((byte) => byte !== 0x20))
})
