import { expect, test } from 'vitest'
import { termText } from '#shared/query-terms.ts'
import { eventOnly } from './event-only.ts'

test('terms, tags and words', () => {
  expect(
    eventOnly('release:2.4.0 release:2.4.1 environment:production user:7 level:Fatal store:tall pay failed'),
  ).toEqual({
    release: ['2.4.0', '2.4.1'],
    environment: ['production'],
    user: '7',
    level: ['fatal'],
    tag: ['store:tall'],
    q: 'pay failed',
  })
  expect(eventOnly('device:"Pixel 7a" "two words"')).toEqual({ tag: ['device:Pixel 7a'], q: 'two words' })
  expect(eventOnly('  ')).toEqual({})
  expect(eventOnly('level:loud')).toEqual({ tag: ['level:loud'] })
  expect(eventOnly('user:"open')).toEqual({ user: 'open' })
  expect(eventOnly('release:[2.4.0, "2 4"] store:tall https://x.example')).toEqual({
    release: ['2.4.0', '2 4'],
    tag: ['store:tall'],
    q: 'https://x.example',
  })
  expect(eventOnly('-release:1 (a OR b)')).toEqual({ q: '-release:1 ( a OR b )' })
})

test('a written term is parsed to its value', () => {
  for (const value of ['7', 'Pixel 7a', 'a:b', 'shop@1.0.0+7', 'say "hi"', ''])
    expect(eventOnly(termText('user', [value]))).toEqual({ user: value })
})
