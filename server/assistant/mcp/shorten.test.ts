import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shorten } from './call-tool.ts'

test('what fits is unchanged', () => {
  const value = { items: [1, 'two', { three: null }] }
  expect(shorten(value)).toEqual({ text: JSON.stringify(value), value, sentence: null })
})

test('of a long list its ends stay, of a long text its beginning', () => {
  const value = { items: Array.from({ length: 200 }, (_, n) => `${n} ${'x'.repeat(3_000)}`) }
  const { text, sentence } = shorten(value)
  expect(text).toContain('"0 xxx')
  expect(text).toContain('"199 xxx')
  expect(text).toContain('left out')
  expect(sentence).toBe('The answer had 602 kB: its lists were cut to 20 entries and its texts to 1000 characters.')
})

test('whatever comes out fits and is JSON of the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 4, max: 2_000 }), (value, max) => {
      const { text, value: short } = shorten(value, max)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(Math.max(max, 4))
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(short)))
    }),
  )
})
