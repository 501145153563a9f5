import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { parseGuarded, writeJson } from './json-guard.ts'
import { losesDigits, hasLongNumbers, nearestNumber } from './json.ts'

const parse = (text: string) => parseGuarded(Buffer.from(text))

/** Numbers as JSON may write them; exponents of three digits only upwards, because 1e-400 alone is not seen. */
const written = fc.stringMatching(/^-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE](?:\+?\d{1,3}|-\d{1,2}))?$/)
const space = fc.constantFrom('', '', ' ', '\n  ')
const document = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    written,
    fc.double({ noNaN: true, noDefaultInfinity: true, min: 1e-290 }).map(String),
    written.map((one) => JSON.stringify(one)),
    written.map((one) => JSON.stringify(`at ", ${one}, \\`)),
    fc.constantFrom('null', 'true', '"timestamp"'),
    fc
      .array(fc.tuple(space, tie('value')), { maxLength: 5 })
      .map((list) => `[${list.map((one) => one.join('')).join(',')}]`),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom('id', 'at', 'timestamp', '9007199254740993'), space, space, tie('value')), {
        maxLength: 4,
        selector: ([key]) => key,
      })
      .map((all) => `{${all.map(([key, a, b, value]) => `"${key}"${a}:${b}${value}`).join(',')}}`),
  ),
})).value

/** The document by another way: the source of every number, which the parser of the language gives. */
const expected = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context) =>
    typeof value === 'number' && context?.source !== undefined && losesDigits(context.source) ? context.source : value,
  )

describe('a number that a JavaScript number does not hold', () => {
  test.each([
    ['9007199254740991', false],
    ['-9007199254740991', false],
    ['9007199254740992', true],
    ['9007199254740993', true],
    ['-9007199254740993', true],
    // Exact, but written with zeros at the end.
    ['1152921504606846976', true],
    ['18446744073709551615', true],
    ['1'.repeat(400), true],
    ['999.9999999999999999999', true],
    ['3.14159265358979323846', true],
    ['90071992547409.93', true],
    ['12345678901234567890.0', true],
    ['123456789012345678e3', true],
    ['1e400', true],
    ['-1E+400', true],
    ['1e-400', true],
    ['0', false],
    ['-0', false],
    ['0.00000000000000000000', false],
    ['1.00000000000000000000', false],
    ['100000000000000000e-17', false],
    ['1.5e300', false],
    ['5e-324', false],
    ['0.1', false],
    // As programs write doubles with 17 digits.
    ['0.10000000000000001', false],
    ['0.30000000000000004', false],
    ['1732094845.1234567', false],
    ['1e21', false],
    ['123456789012345678901', true],
  ])('%s: %s', (source, isLong) => {
    expect(losesDigits(source)).toBe(isLong)
  })

  test('is text where it stands, and nothing else is', () => {
    fc.assert(
      fc.property(document, (one) => {
        const text = `[${one}]`
        expect(parse(text).value).toEqual(expected(text))
      }),
      { numRuns: 3_000 },
    )
  })

  test('is written again as it was sent, unless the document has the same text too', () => {
    const { value, longNumbers } = parse(
      '{"a":[-9007199254740993,{"b":999.9999999999999999999}],"c":"18446744073709551615","d":18446744073709551615,"e":1e400}',
    )
    expect(writeJson(value, longNumbers)).toBe(
      '{"a":[-9007199254740993,{"b":999.9999999999999999999}],"c":"18446744073709551615","d":"18446744073709551615","e":1e400}',
    )
    const held = parse('{"a":1.50,"b":"x"}')
    expect(writeJson(held.value, held.longNumbers)).toBe('{"a":1.5,"b":"x"}')
  })

  test('makes no wrong text valid', () => {
    for (const text of [
      '{18446744073709551615:1}',
      '[018446744073709551615]',
      '[18446744073709551615.]',
      '[+18446744073709551615]',
      '[18446744073709551615-1]',
      '["a"18446744073709551615]',
    ])
      expect(() => parse(text), text).toThrow(expect.objectContaining({ word: 'not_json' }))
  })

  test('does not hide repeated keys', () => {
    expect(parse('{"id":18446744073709551615,"id":18446744073709551615}').isExact).toBe(false)
    expect(parse('{"id":18446744073709551615,"x":{"id":1}}').isExact).toBe(true)
  })

  test('is found wherever it begins', () => {
    for (let before = 0; before < 40; before++)
      for (const number of ['9007199254740993', '-18446744073709551615', '999.9999999999999999999']) {
        expect(parse(`["${'x'.repeat(before)}",${number}]`).value).toEqual(['x'.repeat(before), number])
        expect(parse(`${' '.repeat(before)}${number}`).value).toBe(number)
      }
  })
})

test('digits in strings, times and doubles cost no second look', () => {
  for (const text of [
    '{"id":"18446744073709551615"}',
    '{"message":"order 18446744073709551615 failed"}',
    '{"start_timestamp":1732094845.1234567,"timestamp": 1732094846.7654321}',
    '{"value":0.30000000000000004,"trace":"11112222333344445555666677778888"}',
  ])
    expect(hasLongNumbers(text), text).toBe(false)
})

test('calculations take the nearest number', () => {
  expect(nearestNumber('12.3400000000000000001')).toBe(12.34)
  expect(nearestNumber('18446744073709551615')).toBe(2 ** 64)
  for (const same of ['12', '1234567890123456', '0x1234567890abcdef', '9007199254740993 files', 5, null])
    expect(nearestNumber(same)).toBe(same)
})

test('a payload of long numbers takes time in proportion to its size', () => {
  const costMs = (text: string): number => {
    const before = cpuMs()
    parse(text)
    return cpuMs() - before
  }
  const numbers = (count: number): string =>
    `[${Array.from({ length: count }, (_, at) => `1844674407370955${at}`).join()}]`
  const small = Math.max(1, ...[1, 2, 3].map(() => costMs(numbers(10_000))))
  expect(costMs(numbers(90_000))).toBeLessThan(40 * small)
  expect(costMs(`[${'1'.repeat(1_000_000)}]`)).toBeLessThan(1_000)
  expect(costMs(`["${'1 '.repeat(500_000)}",1${'0'.repeat(20)}]`)).toBeLessThan(1_000)
})
