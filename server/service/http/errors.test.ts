import { expect, test } from 'vitest'
import { z } from 'zod'
import { validationSentence } from './errors.ts'

test.each([
  [z.string(), undefined, 'field is missing.'],
  [z.string(), ['a', 'b'], 'field must be one string, not several.'],
  [z.string(), 5, 'field must be a string.'],
  [z.int(), 1.5, 'field must be a whole number.'],
  [z.number(), Number.NaN, 'field must be a number.'],
  [z.boolean(), 'yes', 'field must be true or false.'],
  [z.array(z.string()), 'a', 'field must be a list.'],
  [z.array(z.string()), ['a', 1], 'field.1 must be a string.'],
  [z.enum(['24h', '7d']), '8d', 'field must be one of 24h, 7d.'],
  [z.literal('web'), 'x', 'field must be "web".'],
  [z.string().min(1), '', 'field must have at least 1 character.'],
  [z.string().max(20), 'a'.repeat(21), 'field must have at most 20 characters.'],
  [z.array(z.string()).max(1), ['a', 'b'], 'field must have at most 1 item.'],
  [z.object({}), [], 'field must be an object.'],
  [z.number().positive(), 0, 'field must be more than 0.'],
  [z.number().lt(5), 5, 'field must be less than 5.'],
  [z.string().length(3), 'ab', 'field must have exactly 3 characters.'],
  [z.number().min(1), 0, 'field must be at least 1.'],
  [z.coerce.number().max(100), '1000', 'field must be at most 100.'],
  [z.string('field must be a name.'), undefined, 'field must be a name.'],
  [z.string().max(3, 'field is too long: 3 characters'), 'abcd', 'field is too long: 3 characters.'],
  [z.strictObject({}), { a: 1 }, 'Unknown field: field.a.'],
])('%# a validation error is one sentence', (schema, field, sentence) => {
  const parsed = z.object({ field: schema }).safeParse({ field }, { reportInput: true })
  expect(parsed.error && validationSentence(parsed.error)).toBe(sentence)
})

test('an unknown field is named before one that is missing', () => {
  const parsed = z.strictObject({ body: z.string() }).safeParse({ content: 'x' }, { reportInput: true })
  expect(parsed.error && validationSentence(parsed.error)).toBe('Unknown field: content.')
})

test('a body that is no object', () => {
  const parsed = z.object({}).safeParse([], { reportInput: true })
  expect(parsed.error && validationSentence(parsed.error)).toBe('Send a JSON object as the body.')
})
