import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { TextTable } from './text-table.ts'

test('each text has one number, and the number its text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
      const table = new TextTable()
      const numbers = texts.map((text) => table.add(text))
      expect(numbers.map((number) => table.bytes(number).toString())).toEqual(texts)
      expect(texts.map((text) => table.add(text))).toEqual(numbers)
      expect(table.add('')).toBe(0)
    }),
    { numRuns: cases(100, 2_000) },
  )
})

test('a table grows with its texts, also with a very long one', () => {
  const table = new TextTable()
  const texts = Array.from({ length: 20_000 }, (_, n) => (n === 9_000 ? 'ü'.repeat(2_000_000) : `name ${n} `.repeat(9)))
  const numbers = texts.map((text) => table.add(text))
  expect(new Set(numbers).size).toBe(texts.length)
  expect(numbers.every((number, at) => table.bytes(number).toString() === texts[at])).toBe(true)
  expect(texts.every((text, at) => table.add(text) === numbers[at])).toBe(true)
})
