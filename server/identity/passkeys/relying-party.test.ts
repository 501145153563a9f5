import { expect, test } from 'vitest'
import { offersPasskeys, relyingParty } from './relying-party.ts'

test.each([
  ['https://faultline.example.com', 'faultline.example.com', 'https://faultline.example.com', true],
  ['https://example.com:8443/crashes', 'example.com', 'https://example.com:8443', true],
  ['http://localhost:8000', 'localhost', 'http://localhost:8000', true],
  ['http://127.0.0.1:8000', 'localhost', 'http://localhost:8000', true],
  ['http://[::1]:8000', 'localhost', 'http://localhost:8000', true],
  ['https://192.0.2.7', '192.0.2.7', 'https://192.0.2.7', false],
  ['https://[2001:db8::7]', '[2001:db8::7]', 'https://[2001:db8::7]', false],
])('%s: passkeys of %s, used at %s', (publicUrl, id, origin, offered) => {
  expect(relyingParty({ publicUrl })).toEqual({ id, origins: [origin] })
  expect(offersPasskeys({ publicUrl })).toBe(offered)
})
