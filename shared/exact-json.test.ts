import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactJson } from './exact-json.ts'

/** Numbers as JSON may write them. */
const written = fc.stringMatching(/^-?(?:0|[1-9]\d{0,25})(?:\.\d{1,25})?(?:[eE][+-]?\d{1,4})?$/)
const text = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    written,
    fc.string().map((one) => JSON.stringify(one)),
    written.map((one) => JSON.stringify(`at ${one}`)),
    fc.constantFrom('null', 'true', 'false'),
    fc.array(tie('value'), { maxLength: 5 }).map((list) => `[${list.join(',')}]`),
    fc
      .uniqueArray(tie('value'), { maxLength: 5 })
      .map((list) => `{${list.map((one, index) => `"k${index}":${one}`).join(',')}}`),
  ),
})).value

test('numbers are written again to the last digit', () => {
  fc.assert(
    fc.property(text, (json) => {
      expect(JSON.stringify(exactJson(json, JSON.parse(json)))).toBe(json)
    }),
    { numRuns: 1_000 },
  )
})

test('where no number can differ the parsed value is returned unchanged', () => {
  const value = { at: 1_732_094_845.123, id: 7 }
  expect(exactJson(JSON.stringify(value), value)).toBe(value)
})

test.each(['12345678901234567890', '{"far":1e400,"one":1.0,"minus":-0,"n":[0.10,42],"word":"1.0"}', '"1.0"', 'null'])(
  'the text alone is enough: %s',
  (text) => {
    expect(JSON.stringify(exactJson(text))).toBe(text)
  },
)
