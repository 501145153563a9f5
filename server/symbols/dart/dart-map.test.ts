import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BuiltIndex } from '../index-file/built-index.ts'
import {
  buildDartMapIndex,
  dartMapParts,
  looksLikeDartMap,
  namesInMessage,
  namesInType,
  readableMessage,
  readableType,
} from './dart-map.ts'

const indexOf = (...names: string[]): BuiltIndex => buildDartMapIndex(Buffer.from(JSON.stringify(names)))
const typeBy = ({ directory, parts }: BuiltIndex, type: string): string =>
  readableType(directory, (n) => parts[n] ?? Buffer.alloc(0), type)
const messageBy = ({ directory, parts }: BuiltIndex, message: string): string =>
  readableMessage(directory, (n) => parts[n] ?? Buffer.alloc(0), message)

const map = indexOf('PaymentError', 'aB', 'Cart', 'c', 'Item', '_d', 'main', 'main', 'Größe', 'ß1')

test.each([
  ['aB', 'PaymentError'],
  ['c<_d>', 'Cart<Item>'],
  ['Map<String, c?>', 'Map<String, Cart?>'],
  ['ß1', 'Größe'],
  ['StateError', 'StateError'],
  ['', ''],
])('the type %s is %s', (type, expected) => {
  expect(typeBy(map, type)).toBe(expected)
})

test.each([
  ["Instance of 'aB'", "Instance of 'PaymentError'"],
  ["type 'c' is not a subtype of type 'aB'", "type 'Cart' is not a subtype of type 'PaymentError'"],
  ["Class 'String' has no instance getter 'aB'.", "Class 'String' has no instance getter 'PaymentError'."],
  // A word of a sentence is no type.
  ['c is empty, and aB too', 'c is empty, and aB too'],
  ["the key 'c' is missing", "the key 'c' is missing"],
])('%s reads %s', (message, expected) => {
  expect(messageBy(map, message)).toBe(expected)
})

test('every name of a large map is found in its part, and no other', () => {
  const name = fc.stringMatching(/^[A-Za-z_$][\w$]{0,30}$/u)
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 3_000, size: 'max' }), name, (compiled, other) => {
      const index = indexOf(...compiled.flatMap((one, n) => [`Source${n}`, one]))
      for (const [n, one] of compiled.entries()) expect(typeBy(index, one)).toBe(`Source${n}`)
      if (!compiled.includes(other)) expect(typeBy(index, other)).toBe(other)
    }),
    { numRuns: 5 },
  )
})

test.each([
  ['{"a":"b"}', /not a list/],
  ['["a"', /not JSON/],
  ['["a","b","c"]', /odd number/],
  ['[1,2]', /not a list/],
])('%s is refused', (text, reason) => {
  expect(() => buildDartMapIndex(Buffer.from(text))).toThrow(reason)
})

test('an empty map, and names that cannot be stored, find nothing', () => {
  expect(typeBy(indexOf(), 'a')).toBe('a')
  expect(typeBy(indexOf('A\nB', 'a', 'C', 'b\t', 'D', ''), 'a')).toBe('a')
  expect(dartMapParts(Buffer.alloc(0), ['a'])).toEqual([])
})

test('the first byte distinguishes a map', () => {
  expect(looksLikeDartMap(Buffer.from(' \n["a"'))).toBe(true)
  expect(looksLikeDartMap(Buffer.from('\ufeff["a"'))).toBe(true)
  expect(looksLikeDartMap(Buffer.from('\u007fELF['))).toBe(false)
})

test('names are those of types', () => {
  expect(namesInType('c<_d>')).toEqual(['c', '_d'])
  expect(namesInMessage("Instance of 'c<_d>' and 'x'")).toEqual(['c', '_d'])
})
