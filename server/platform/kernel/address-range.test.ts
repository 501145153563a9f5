import { expect, test } from 'vitest'
import { isLoopbackAddress, parseAddressRange } from './address-range.ts'

test.each([
  ['203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', '203.0.113.8', false],
  ['203.0.113.7', '::ffff:203.0.113.7', true],
  ['10.0.0.0/8', '10.255.1.2', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['10.1.2.3/8', '10.9.9.9', true],
  ['2001:db8::/32', '2001:db8:1::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['2001:DB8::1', '2001:db8:0:0:0:0:0:1', true],
  ['10.0.0.0/8', '::1', false],
  ['10.0.0.0/8', 'nonsense', false],
  ['10.0.0.0/8', '', false],
  ['fe80::1', 'fe80::1%eth0', true],
])('%s contains %s: %s', (range, address, expected) => {
  expect(parseAddressRange(range)?.(address)).toBe(expected)
})

test.each([
  '',
  'x',
  '10.0.0',
  '010.0.0.1',
  '10.0.0.0/0',
  '::/0',
  '10.0.0.0/33',
  '::1/129',
  '10.0.0.0/',
  '1.2.3.4/-1',
  '1.2.3.4/8/8',
])('%s is no range', (text) => {
  expect(parseAddressRange(text)).toBeNull()
})

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['192.0.2.1', false],
  ['localhost', false],
])('%s is loopback: %s', (address, expected) => {
  expect(isLoopbackAddress(address)).toBe(expected)
})
