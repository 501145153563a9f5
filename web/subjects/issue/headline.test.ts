import { describe, expect, test } from 'vitest'
import { cutText, textHeadline, splitTitle } from './headline.ts'

test.each([
  ['short', 'short'],
  ['', ''],
  ['\n\n  second line\nthird', 'second line …'],
  ['x'.repeat(1_000_000), `${'x'.repeat(240)}…`],
])('the headline of a text is its first line, cut', (text, headline) => expect(textHeadline(text)).toBe(headline))

test('a character is never cut in half', () => {
  expect(cutText('ab😀cd', 3)).toBe('ab…')
  expect(cutText('ab😀cd', 4)).toBe('ab😀…')
  expect(cutText('abc', 3)).toBe('abc')
})

describe('the parts of a title', () => {
  const issue = { title: 'PaymentError: declined', type: 'PaymentError', value: 'declined' }
  test.each([
    [issue, { name: 'PaymentError', rest: 'declined' }],
    [
      { ...issue, title: 'Cards: declined' },
      { name: 'Cards: declined', rest: null },
    ],
    [
      { title: 'disk full', type: null, value: null },
      { name: 'disk full', rest: null },
    ],
    [
      { title: 'SIGSEGV / tick', type: 'SIGSEGV', value: 'Segfault' },
      { name: 'SIGSEGV', rest: 'Segfault' },
    ],
    [
      { title: `${'T'.repeat(199)}…`, type: 'T'.repeat(300), value: null },
      { name: `${'T'.repeat(240)}…`, rest: '' },
    ],
  ])('%o', (given, expected) => {
    expect(splitTitle(given)).toEqual(expected)
  })
})
