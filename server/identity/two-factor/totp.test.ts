import { expect, test } from 'vitest'
import { newTotpSecret, otpauthUrl, readTotpCode, stepOfCode } from './totp.ts'

/** RFC 6238, appendix B: the codes of SHA-1, of which apps show the last six digits. */
const VECTORS = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
] as const
const SECRET = Buffer.from('12345678901234567890')

test.each(VECTORS)('at %i s the code is the one of RFC 6238', async (seconds, digits) => {
  expect(await stepOfCode(SECRET, digits.slice(-6), new Date(seconds * 1000))).toBe(Math.floor(seconds / 30))
})

test('a code is accepted in its step, one before and one after, and names its own step', async () => {
  const code = '050471'
  const step = Math.floor(1_111_111_111 / 30)
  const found = []
  for (let offset = -2; offset <= 2; offset++)
    found.push(await stepOfCode(SECRET, code, new Date((step + offset) * 30_000 + 1)))
  expect(found).toEqual([null, step, step, step, null])
})

test('another secret, and a code with a wrong digit, belong to no step', async () => {
  const now = new Date(1_111_111_111_000)
  expect(await stepOfCode(newTotpSecret(), '050471', now)).toBeNull()
  expect(await stepOfCode(SECRET, '050472', now)).toBeNull()
})

test('the address for apps names product, e-mail address and secret', async () => {
  const url = new URL(await otpauthUrl(SECRET, 'ada+1@example.com'))
  expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).toEqual([
    'otpauth:',
    'totp',
    '/Faultline:ada+1@example.com',
  ])
  expect(Object.fromEntries(url.searchParams)).toEqual({
    issuer: 'Faultline',
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})

test('a secret has 20 bytes and is another one each time', () => {
  const secrets = Array.from({ length: 50 }, () => newTotpSecret())
  expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(50)
  expect(secrets.every((secret) => secret.length === 20)).toBe(true)
})

test.each([
  ['123456', '123456'],
  ['123 456', '123456'],
  [' 123456\n', '123456'],
  ['12345', null],
  ['1234567', null],
  ['12345a', null],
  ['١٢٣٤٥٦', null],
  ['', null],
])('%j is the code %j', (text, code) => {
  expect(readTotpCode(text)).toBe(code)
})
