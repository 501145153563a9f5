import { expect, test } from 'vitest'
import { confidentialPattern, withoutEcho } from './mask-echo.ts'
import { newSecret } from './signing-secret.ts'

const SECRET = newSecret()
const confidential = confidentialPattern(
  [SECRET],
  [
    { name: 'Authorization', value: 'Bearer tok.en+1/2' },
    { name: 'X-Odd', value: 'a"b\\c$(d)' },
    { name: 'X-Short', value: 'ok' },
  ],
)
const masked = (text: string, maxBytes = 1_000): string =>
  withoutEcho(Buffer.from(text), maxBytes, confidential).toString()

test.each([
  ['a secret', SECRET, '••••••••'],
  ['a secret without its prefix', SECRET.slice(6), '••••••••'],
  ['a value', 'ü Bearer tok.en+1/2 ü', 'ü •••••••• ü'],
  ['what follows the scheme', 'token=tok.en+1/2;', 'token=••••••••;'],
  ['in JSON', JSON.stringify({ odd: 'a"b\\c$(d)' }), '{"odd":"••••••••"}'],
  ['in a URL', `/?a=${encodeURIComponent('tok.en+1/2')}`, '/?a=••••••••'],
  ['twice', 'tok.en+1/2tok.en+1/2', '••••••••••••••••'],
  ['nothing that only looks alike', 'tokXen+1/2', 'tokXen+1/2'],
  ['no short value', 'ok', 'ok'],
])('%s is masked', (_name, text, expected) => {
  expect(masked(text)).toBe(expected)
})

test('the cut leaves no part of a value', () => {
  for (let maxBytes = 1; maxBytes < 40; maxBytes++) {
    const text = masked(`0123456789${SECRET}`, maxBytes)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes + 2)
    expect(text).not.toContain('whsec')
  }
  expect(masked(`0123456789${SECRET}`, 10)).toBe('0123456789')
})

test('without anything confidential the beginning is kept', () => {
  expect(confidentialPattern([], [{ name: 'X-Short', value: 'ok' }])).toBeNull()
  expect(withoutEcho(Buffer.from('0123'), 3, null).toString()).toBe('012')
})
