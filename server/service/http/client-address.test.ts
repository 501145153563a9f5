import { expect, test } from 'vitest'
import { clientAddressReader } from './request-guard.ts'

test('without trusted proxies the peer is the client and headers are ignored', () => {
  const addressOf = clientAddressReader([])
  expect(addressOf('::ffff:203.0.113.5', '1.2.3.4')).toBe('203.0.113.5')
  expect(addressOf('2001:db8::1', undefined)).toBe('2001:db8::1')
  expect(addressOf(undefined, '1.2.3.4')).toBe('')
})

test.each([
  ['10.0.0.1', '203.0.113.5', '203.0.113.5'],
  ['10.0.0.1', '6.6.6.6, 203.0.113.5', '203.0.113.5'],
  ['10.0.0.1', '203.0.113.5, 10.0.0.2', '203.0.113.5'],
  ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['10.0.0.1', '203.0.113.5:41000, 10.0.0.2:443', '203.0.113.5'],
  ['10.0.0.1', '[2001:db8::1]:41000', '2001:db8::1'],
  ['10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
  ['10.0.0.1', 'garbage', '10.0.0.1'],
  ['10.0.0.1', '[garbage]:1', '10.0.0.1'],
  ['10.0.0.1', '203.0.113.5:41000:2', '10.0.0.1'],
  ['10.0.0.1', '203.0.113.5, garbage', '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['198.51.100.1', '203.0.113.5', '198.51.100.1'],
  ['::1', '203.0.113.5', '203.0.113.5'],
])('behind trusted proxies, peer %s and header %j mean %s', (peer, header, expected) => {
  expect(clientAddressReader(['10.0.0.0/8', '::1'])(peer, header)).toBe(expected)
})
