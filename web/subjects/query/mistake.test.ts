import { expect, test } from 'vitest'
import { ApiError } from '../../api/call.ts'
import { queryExcerpt, parseQueryMistake, mistakeSentence } from './mistake.ts'

const refusal = (message: string, body = {}, status = 400) =>
  new ApiError(status, message, null, null, JSON.stringify(body))

test('a refusal of the query is a mistake, with its place and hints if they are as expected', () => {
  const position = { start: 3, end: 12 }
  const hint = { start: 3, end: 12, sentence: 'Did you mean unresolved?', replacement: 'unresolved' }
  expect(
    parseQueryMistake(refusal('q: is takes unresolved (character 4).', { position, hints: [hint, { start: 1 }] })),
  ).toEqual({
    sentence: 'q: is takes unresolved (character 4).',
    position,
    hints: [hint],
  })
  expect(parseQueryMistake(refusal('q must be at most 10,000 characters.', { position: 3 }))).toEqual({
    sentence: 'q must be at most 10,000 characters.',
    position: null,
    hints: [],
  })
})

test('places are those of the query in the field, which may be sent in parentheses', () => {
  const hint = { start: 3, end: 8, sentence: 'Did you mean level?', replacement: 'level' }
  const error = refusal('q: OR needs a term on both sides (character 12).', {
    position: { start: 11, end: 12 },
    hints: [hint],
  })
  expect(parseQueryMistake(error, 1)).toMatchObject({
    position: { start: 10, end: 11 },
    hints: [{ ...hint, start: 2, end: 7 }],
  })
})

test('any other error is none', () => {
  expect(parseQueryMistake(null)).toBe(null)
  expect(parseQueryMistake(new Error('q: no'))).toBe(null)
  expect(parseQueryMistake(refusal('range must be one of 1h.'))).toBe(null)
  expect(parseQueryMistake(refusal('q: no', {}, 503))).toBe(null)
})

test.each([
  ['q: the parenthesis is not closed (character 3).', 'a (', 'The parenthesis is not closed.'],
  ['q: level needs a value (character 6).', 'Level:', 'level needs a value.'],
  ['q must be at most 10,000 characters.', 'a', 'The query must be at most 10,000 characters.'],
])('%s', (sentence, query, shown) => {
  expect(mistakeSentence({ sentence, position: null, hints: [] }, query)).toBe(shown)
})

test('the excerpt is what is around the place', () => {
  expect(queryExcerpt('level:eror', { start: 6, end: 10 })).toEqual({ before: 'level:', marked: 'eror', after: '' })
  const { before, marked, after } = queryExcerpt(`${'a'.repeat(40)}(${'b'.repeat(40)}`, { start: 40, end: 41 })
  expect([before, marked, after]).toEqual([`…${'a'.repeat(24)}`, '(', `${'b'.repeat(24)}…`])
})
