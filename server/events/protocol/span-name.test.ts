import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { displayName, pathOfUrl, UNLABELED, withoutParameters } from './span-origin.ts'

const url = (name: string, path: string | null = null) => displayName({ name, source: 'url', path })

describe('names of pages and requests', () => {
  test.each([
    ['Pageload', '/cart', '/cart'],
    ['Navigation', '/orders/123', '/orders/*'],
    ['Pageload', null, 'Pageload'],
    ['GET', '/a', 'GET /a'],
    ['POST', '/users/42/pay', 'POST /users/*/pay'],
    ['GET', null, 'GET'],
  ])('%s at %s is %s', (name, path, shown) => {
    expect(url(name, path)).toBe(shown)
    expect(displayName({ name, source: null, path })).toBe(shown)
  })

  test('a custom name stays, even when it is generic', () => {
    expect(displayName({ name: 'Pageload', source: 'custom', path: '/x' })).toBe('Pageload')
    expect(displayName({ name: '/orders/123', source: 'route', path: '/orders/123' })).toBe('/orders/123')
    expect(displayName({ name: '/orders/123', source: 'custom', path: null })).toBe('/orders/123')
  })

  test('a path without source loses its parameters, another name does not', () => {
    for (const source of [null, 'unknown']) {
      expect(displayName({ name: 'GET /orders/123', source, path: null })).toBe('GET /orders/*')
      expect(displayName({ name: 'send 123 emails', source, path: null })).toBe('send 123 emails')
    }
  })

  test('an empty name becomes <unlabeled transaction>', () => {
    expect(url('')).toBe(UNLABELED)
    expect(displayName({ name: '', source: 'custom', path: '/x' })).toBe(UNLABELED)
    expect(url('?q=1')).toBe(UNLABELED)
  })
})

describe('parameters', () => {
  test.each([
    ['/orders/123', '/orders/*'],
    ['/users/0f8fad5b-d9cb-469f-a165-70867728950e/edit', '/users/*/edit'],
    ['/users/0F8FAD5BD9CB469FA16570867728950E', '/users/*'],
    ['/commit/da39a3ee5e6b4b0d3255bfef95601890afd80709', '/commit/*'],
    ['/commit/da39a3e', '/commit/*'],
    ['/archive/2026-11-20/14', '/archive/*/*'],
    ['/tx/0xdeadBEEF', '/tx/*'],
    ['/invite/ada%40example.com', '/invite/*'],
    ['/s/eyJhbGciOiJIUzI1NiJ9abc', '/s/*'],
    ['/file-20261120.pdf', '/*'],
    ['/cart?user=7#top', '/cart'],
    ['GET https://shop.example.com/p/77?x=1', 'GET /p/*'],
    ['https://shop.example.com', '/'],
    ['/api/v2/items', '/api/v2/items'],
    ['/docs/1.2.3-beta', '/docs/1.2.3-beta'],
    ['/decade/facade/added', '/decade/facade/added'],
    ['/', '/'],
    ['/orders/', '/orders/'],
    ['checkout', 'checkout'],
  ])('%s → %s', (name, shown) => {
    expect(withoutParameters(name)).toBe(shown)
  })

  test('removing them again changes nothing', () => {
    fc.assert(
      fc.property(fc.webPath(), (path) => {
        expect(withoutParameters(withoutParameters(path))).toBe(withoutParameters(path))
      }),
    )
  })

  test('any text gives a short name of one line, quickly', () => {
    const started = cpuMs()
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), (name) => {
        const shown = url(name)
        expect(shown).not.toBe('')
        expect(shown.length).toBeLessThanOrEqual(200)
        expect(shown).not.toMatch(/[\n\r\t]/)
        expect(shown.isWellFormed()).toBe(true)
        expect(shown).not.toContain('\0')
      }),
    )
    for (const hostile of [
      'a'.repeat(2_048),
      '0'.repeat(2_048),
      '/'.repeat(2_048),
      '1-'.repeat(1_024),
      'a%'.repeat(1_024),
    ])
      expect(url(`/${hostile}`).length).toBeLessThanOrEqual(200)
    expect(cpuMs() - started).toBeLessThan(5_000)
  })
})

test('the path of a URL', () => {
  expect(pathOfUrl('http://localhost:8088/cart?v=A')).toBe('/cart')
  expect(pathOfUrl('https://example.com')).toBe('/')
  expect(pathOfUrl('https://example.com?x=/y')).toBe('/')
  expect(pathOfUrl('/cart')).toBeNull()
  expect(pathOfUrl(null)).toBeNull()
})
