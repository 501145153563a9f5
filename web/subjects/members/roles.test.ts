import { expect, test } from 'vitest'
import { addressesIn, ROLES_BY_RANK, whyNotRole } from './roles.ts'

test.each([
  ['ada@example.com', ['ada@example.com']],
  ['ada@example.com, bob@example.com;eve@example.com', ['ada@example.com', 'bob@example.com', 'eve@example.com']],
  ['Ada Lovelace <ada@example.com>\n"Bob" <bob@example.com>', ['ada@example.com', 'bob@example.com']],
  ['ada@example.com ADA@example.com', ['ADA@example.com']],
  ['  \n', []],
  ['Ada', ['Ada']],
  ['ada@example.com, nonsense; eve@', ['ada@example.com', 'nonsense', 'eve@']],
  ['ada@example.com nonsense', ['ada@example.com', 'nonsense']],
])('the addresses of a pasted text: %j', (text, addresses) => {
  expect(addressesIn(text)).toEqual(addresses)
})

test('an admin gives roles up to admin and does not touch owners', () => {
  expect(ROLES_BY_RANK).toEqual(['owner', 'admin', 'member', 'viewer'])
  expect(whyNotRole('admin', 'member', 'admin')).toBeUndefined()
  expect(whyNotRole('admin', 'member', 'owner')).toMatch(/above your own/)
  expect(whyNotRole('admin', 'owner', 'viewer')).toMatch(/Only an owner/)
  expect(whyNotRole('owner', 'owner', 'viewer')).toBeUndefined()
})
