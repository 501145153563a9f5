import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { compileGlob, MAX_GLOB_CHARACTERS } from './glob.ts'

test.each([
  ['1.2.*', '1.2.3', true],
  ['1.2.*', '1.2.', true],
  ['1.2.*', '1.20.0', false],
  ['shop@*-local', 'shop@4.1-local', true],
  ['shop@*-local', 'shop@-local', true],
  ['shop@*-local', 'shop@4.1-locals', false],
  ['*ads sdk*', 'Timeout in Ads SDK 4', true],
  ['exact', 'EXACT', true],
  ['exact', 'exactly', false],
  ['*', '', true],
  ['', '', true],
  ['', 'a', false],
  ['a*a', 'a', false],
  ['a*b*a', 'axbya', true],
  ['**a**', 'bab', true],
  ['?', 'a', false],
  ['*ärger*', 'Großer Ärger', true],
  ['a.c', 'abc', false],
])('%s on %s: %s', (glob, text, expected) => {
  expect(compileGlob(glob)(text)).toBe(expected)
})

test('matches the same texts as a regular expression', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'A'), maxLength: 12 })
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
  fc.assert(
    fc.property(glob, word, (pattern, text) => {
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 'i').test(text)
      expect(compileGlob(pattern)(text)).toBe(expected)
    }),
    { numRuns: 2_000 },
  )
})

test('the worst pattern on the longest text takes milliseconds', () => {
  const match = compileGlob('a*'.repeat(MAX_GLOB_CHARACTERS / 2) + 'b')
  const started = cpuMs()
  expect(match('a'.repeat(1_000_000))).toBe(false)
  expect(cpuMs() - started).toBeLessThan(200)
})
