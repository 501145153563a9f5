import { expect, test } from 'vitest'
import { termText } from '#shared/query-terms.ts'
import { eventOnly } from './event-only.ts'
import { sharedTerm } from './term-keys.ts'

test('terms with a parameter of their own leave their place in the query blank', () => {
  expect(eventOnly('release:2.4.0 environment:[a, "b c"] level:Fatal user.id:7')).toEqual({
    release: ['2.4.0'],
    environment: ['a', 'b c'],
    user: '7',
    level: ['fatal'],
  })
  const text = 'pay release:2.4.0 release:2.4.1 store:tall level:fatal -level:debug'
  const { q, ...only } = eventOnly(text)
  expect(only).toEqual({ release: ['2.4.0', '2.4.1'], level: ['fatal'] })
  expect(q).toBe(text.replace('release:2.4.0 release:2.4.1', ' '.repeat(27)).replace(' level:fatal', ' '.repeat(12)))
  expect(eventOnly('  ')).toEqual({})
})

test.each([
  'release:2.4.*',
  '-release:1 (a OR b)',
  'release:1 OR level:fatal',
  'level:fatal AND NOT release:1',
  'level:[fatal, loud]',
  'user:kim@example.com "two words"',
  'user.id:[7, 8]',
  'has:tenant title:gone env:staging device:"Pixel 7a" https://x.example',
  'user:"open',
])('%s is a query as it is', (text) => {
  expect(eventOnly(text)).toEqual({ q: text })
})

test('a written term is parsed to its value', () => {
  for (const value of ['7', 'Pixel 7a', 'a:b', 'shop@1.0.0+7', 'say "hi"', '*'])
    expect(eventOnly(termText('user.id', [value]))).toEqual({ user: value })
  expect(eventOnly(termText('release', ['']))).toEqual({ release: [''] })
})

test('a shared value is a term of its key, of a tag where the language has the key', () => {
  expect([
    sharedTerm('store', 'tall one'),
    sharedTerm('level', 'gold'),
    sharedTerm('Handled', 'no'),
    sharedTerm('release', '1.0'),
  ]).toEqual(['store:"tall one"', 'tag.level:gold', 'tag.Handled:no', 'release:1.0'])
})
