import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseElements, parseMatch, printElements, printMatch } from './rule-text.ts'

describe('conditions', () => {
  test('are parsed', () => {
    expect(parseMatch('type:Pay* -module:"com.acme *"  tag.shop:eu')).toEqual({
      match: [
        { key: 'type', glob: 'Pay*', not: false },
        { key: 'module', glob: 'com.acme *', not: true },
        { key: 'tag.shop', glob: 'eu', not: false },
      ],
    })
  })

  test.each([
    ['', 'at least one'],
    ['PaymentError', 'PaymentError is not a condition'],
    ['type:', 'type: is not a condition'],
    ['type:a value', 'value is not a condition'],
    ['type:"a', 'quotation mark'],
  ])('%s: %s', (text, word) => {
    const read = parseMatch(text)
    expect('problem' in read ? read.problem : '').toContain(word)
  })

  test('are the same after writing and parsing', () => {
    const matcher = fc.record({
      key: fc.constantFrom('type', 'module', 'tag.a-b', 'path'),
      glob: fc
        .string({ minLength: 1, maxLength: 30 })
        .filter((text) => text.trim() === text && !/[\n\r\u2028\u2029]/.test(text)),
      not: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(matcher, { minLength: 1, maxLength: 5 }), (match) => {
        expect(parseMatch(printMatch(match))).toEqual({ match })
      }),
    )
  })
})

test('elements are the same after writing and parsing', () => {
  expect(parseElements('{{ default }}, payments , "a, b"')).toEqual(['{{ default }}', 'payments', 'a, b'])
  for (const elements of [['a'], ['a, b', '{{ type }}'], ['say "hi"', 'x']])
    expect(parseElements(printElements(elements))).toEqual(elements)
})
