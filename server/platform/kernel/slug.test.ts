import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toSlug } from './slug.ts'

test.each([
  ['Acme', 'acme'],
  ['Shöp & Söhne', 'shop-sohne'],
  ['  Café – 2  ', 'cafe-2'],
  ['Straße', 'strasse'],
  ['商店', ''],
  ['--', ''],
  ['a'.repeat(49) + ' b', 'a'.repeat(49)],
])('%j becomes %j', (name, slug) => {
  expect(toSlug(name)).toBe(slug)
})

test('the result is empty or a valid slug, and a slug does not change', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
      const slug = toSlug(name)
      expect(slug).toMatch(/^(?:[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?)?$/)
      expect(toSlug(slug)).toBe(slug)
    }),
  )
})
