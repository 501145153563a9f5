import { expect, test } from 'vitest'
import { eventOnly, onlyTerm } from './event-only.ts'

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
})

test('a written term is parsed to its value', () => {
  for (const value of ['7', 'Pixel 7a', 'a:b', 'shop@1.0.0+7', ''])
    expect(eventOnly(onlyTerm('user', value))).toEqual({ user: value })
})
