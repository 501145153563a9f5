import { expect, test } from 'vitest'
import { toNetwork } from './attempts.ts'

test.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['::ffff:192.0.2.78', '192.0.2.0/24'],
  ['2001:db8:1:2ff:3::4', '2001:db8:1:200::/56'],
  ['2001:db8:1:200::9', '2001:db8:1:200::/56'],
  ['::1', '::/56'],
  ['', 'unknown'],
  ['not an address', 'unknown'],
])('%j counts as %j', (ip, network) => {
  expect(toNetwork(ip)).toBe(network)
})
