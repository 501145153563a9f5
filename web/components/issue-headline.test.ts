import { expect, test } from 'vitest'
import { beginningOf, headlineOf } from './issue-headline.ts'

test.each([
  ['short', 'short'],
  ['', ''],
  ['\n\n  second line\nthird', 'second line …'],
  ['x'.repeat(1_000_000), `${'x'.repeat(240)}…`],
])('the headline of a text is its first line, cut', (text, headline) => expect(headlineOf(text)).toBe(headline))

test('a character is never cut in half', () => {
  expect(beginningOf('ab😀cd', 3)).toBe('ab…')
  expect(beginningOf('ab😀cd', 4)).toBe('ab😀…')
  expect(beginningOf('abc', 3)).toBe('abc')
})
