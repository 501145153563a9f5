import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { parameterise } from './v2-words.ts'

/** Words of version 2: what is a status, an id or a token, and what is not. */

describe('status', () => {
  test('a sentence about an id is one, for a thousand ids', () => {
    const said = (id: number): string => parameterise(`User ${id} not found`)
    expect(new Set(Array.from({ length: 1_000 }, (_, id) => said(id)))).toEqual(new Set(['User <number> not found']))
  })

  test.each([
    '404 Not Found',
    'HTTP 404 not found',
    'upstream: 503 Service Unavailable',
    'request failed: 404 not found',
    'Request failed (502 bad gateway)',
    '500 Server Error: x',
    '200 OK',
    'got 404',
    'got a 503 from upstream',
    'got 500, trying again',
    'server returned 502 while saving',
    'responded with 429',
    'error 404',
    'got 422 Unprocessable Entity',
  ])('stays: %s', (text) => {
    expect(parameterise(text)).toBe(text)
  })

  test.each([
    ['User 404 not found', 'User <number> not found'],
    ['shelf 503 Not Found', 'shelf <number> Not Found'],
    ['120 ok, 3 bad', '<number> ok, <number> bad'],
    ['200 ok, 3 bad', '<number> ok, <number> bad'],
    ['120 OK', '<number> OK'],
    ['received 412 rows', 'received <number> rows'],
    ['got 450 items', 'got <number> items'],
    ['query returned 500 records', 'query returned <number> records'],
    ['failed 412 times', 'failed <number> times'],
    ['got 404 errors', 'got <number> errors'],
    ['got 450.5 points', 'got <number> points'],
  ])('is none: %s', (text, words) => {
    expect(parameterise(text)).toBe(words)
  })
})

describe('tokens', () => {
  test('hexadecimal ids behind a word are replaced whole, whatever they begin with', () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => ((index * 2_654_435_761) % 2 ** 32).toString(16))
    for (const id of ids.map((one, index) => one.slice(0, 5 + (index % 4))))
      expect(parameterise(`request req-${id} failed`), id).not.toMatch(/>[0-9a-z]|[0-9a-z]</)
  })

  test.each([
    ['req-8842f3a2b', 'req-<hex>'],
    ['req-1f3a2b', 'req-<hex>'],
    ['req-f3a2b', 'req-<hex>'],
    ['req-9xk2w', 'req-<token>'],
    ['V1StGXR8_Z5jdHi6B-myT', '<token>'],
    ['cart-V1StGXR8_Z5jdHi6B-myT', 'cart-<token>'],
    ['kXbVtqZrLw_YnMcPdFe-A', '<token>'],
  ])('%s is %s', (token, words) => {
    expect(parameterise(`x ${token} y`)).toBe(`x ${words} y`)
  })

  test.each([
    'worker3',
    'base64url',
    'IPv6',
    'x86_64',
    'handleOAuth2Callback2',
    'getUserById2FromCache',
    'useInfiniteScrollV2Rx',
    'MAX_RETRY_COUNT_2_EXC',
    'Some_Model_Name_V2_Ab',
    'created_at-updated_at',
    'XMLHttpRequestUpload2',
    'kCFStreamErrorDomain4',
    'web-facade-beaded',
  ])('%s is a name', (name) => {
    expect(parameterise(`x ${name} y`)).toBe(`x ${name} y`)
  })

  test.each([
    ['5h30m', '<duration>'],
    ['1e5', '<number>'],
    ['12px', '<number>px'],
    ['us-east-1a', 'us-east-<number>a'],
    ['3DS2', '<number>DS2'],
    ['2nd', '<number>nd'],
  ])('%s is %s as before', (text, words) => {
    expect(parameterise(`x ${text} y`)).toBe(`x ${words} y`)
  })

  test('the longest texts of any of these take milliseconds', () => {
    const units = [
      'a1',
      'A1b-',
      'req-1f3a',
      'aB1_',
      'a-',
      '1a',
      'aaa-',
      'got 404 ',
      '404 not ',
      'kXbVtqZrLw_YnMcPdFe-A',
    ]
    for (const unit of units) {
      const text = unit.repeat(4_000)
      const startMs = cpuMs()
      for (let round = 0; round < 10; round += 1) parameterise(text)
      expect((cpuMs() - startMs) / 10, unit).toBeLessThan(100)
    }
  })
})
