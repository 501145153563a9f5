import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findNeighbour, splitMessage } from './model.ts'

test.each([
  ['The app froze. I lost my basket.', 'The app froze', 'I lost my basket.'],
  ['  Nothing\nhappens  ', 'Nothing happens', ''],
  ['Version 4.1 is slow! Why?', 'Version 4.1 is slow!', 'Why?'],
  ['שלום עולם. תודה', 'שלום עולם', 'תודה'],
])('%j is titled %j', (message, title, rest) => {
  expect(splitMessage(message)).toEqual({ title, rest })
})

test('a title is short and well-formed, whatever the message', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (message) => {
      const { title } = splitMessage(message)
      expect(title.length).toBeLessThanOrEqual(91)
      expect(title.isWellFormed()).toBe(true)
    }),
  )
})

test('the next message follows one that leaves the list', () => {
  expect(findNeighbour(['a', 'b', 'c'], 'b')).toBe('c')
  expect(findNeighbour(['a', 'b', 'c'], 'c')).toBe('b')
  expect(findNeighbour(['a'], 'a')).toBeUndefined()
  expect(findNeighbour(['a', 'b'], 'x')).toBe('a')
})
