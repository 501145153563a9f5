import { expect, test } from 'vitest'
import fc from 'fast-check'
import { cases } from '#test/kit/properties.ts'
import type { AnswerSource } from './ask.api.ts'
import { FigureCheck } from './cite-figures.ts'

const source = (n: number, title: string, ...rows: string[][]): AnswerSource => ({
  n,
  title,
  operation: 'listIssues',
  link: null,
  rows,
  as_of: '2026-11-20T12:00:00.000Z',
})
const SOURCES = [
  source(
    1,
    'Issues first seen in the last 7 days, since 13 November 2026',
    ['Issue', 'Title', 'Events'],
    ['SHOP-42 at 4.12.0', '88888', '1,204'],
  ),
  source(2, 'Crash-free sessions', ['What', 'Rate', 'p95', 'At'], ['All', '99.20 %', '850 ms', '2026-11-20 09:00 UTC']),
]

/** @param size of the fragments in which the answer arrives */
function checked(answer: string, size = answer.length): string {
  let text = ''
  const check = new FigureCheck(SOURCES, (part) => void (text += part))
  for (let at = 0; at < answer.length; at += size) check.take(answer.slice(at, at + size))
  check.end()
  return text
}

const ANSWERS: readonly (readonly [answer: string, checked: string])[] = [
  ['There were 1,204 [1] events.', 'There were 1,204 [1] events.'],
  ['There were 1204 events.', 'There were 1204 [1] events.'],
  ['There were 1,204.', 'There were 1,204 [1].'],
  ['There were 1,300 events.', 'There were 1,300 [?] events.'],
  ['There were 1,300 [1] events.', 'There were 1,300 [?] events.'],
  ['There were 1,204 [2] events.', 'There were 1,204 [1] events.'],
  ['There were 1,204 [9] events.', 'There were 1,204 [1] events.'],
  ['The rate is 99.2% [2].', 'The rate is 99.2% [2].'],
  ['The rate is 99.2 %, as before.', 'The rate is 99.2 % [2], as before.'],
  ['p95 is 850 ms [2], p75 is 12 ms.', 'p95 is 850 ms [2], p75 [?] is 12 ms [?].'],
  ['**1,204[1]** events', '**1,204 [1]** events'],
  ['In the last 7 days there were 7 crashes.', 'In the last 7 days there were 7 [?] crashes.'],
  ['Since 13 November 2026, that is.', 'Since 13 November 2026, that is.'],
  ['Release 4.12.0 and SHOP-42 at 09:00', 'Release 4.12.0 and SHOP-42 at 09:00'],
  ['Release 4.13.0 and SHOP-43', 'Release 4.13.0 [?] and SHOP-43 [?]'],
  // A number that an app wrote into a text is no figure.
  ['88888 users [1]', '88888 [?] users [1]'],
  ['1. First\n2. Second', '1. First\n2. Second'],
  ['See `SHOP-42 at 4.12.0` now', 'See `SHOP-42 at 4.12.0` now'],
  ['See `1,300 crashes` now', 'See `1,300 [?] crashes` now'],
  ['Nothing [2] to see [7].', 'Nothing [2] to see.'],
  ['```sql\nDROP TABLE x\n```', '```\nDROP TABLE x\n```'],
  ['~~~SQL\nx', '```\nx'],
  [
    '![x y](https://evil.example/?q) and [a](https://evil.example) and [b](/issues)',
    '[x y] (https://evil.example/?q) and [a] (https://evil.example) and [b](/issues)',
  ],
]

test.each(ANSWERS)('%j', (answer, expected) => {
  expect(checked(answer)).toBe(expected)
})

test('the fragments in which an answer arrives do not matter', () => {
  for (const [answer, expected] of ANSWERS)
    for (const size of [1, 2, 3, 7]) expect(checked(answer, size), `${answer} by ${size}`).toBe(expected)
})

test('whatever is written, no number that the sources do not hold is left without a mark', () => {
  const word = fc.oneof(
    fc.constantFrom('and', '`', '``', '[1]', '[?]', '**', '\n', '- ', '%', 'ms', '```sql', '![', ']('),
    fc.nat(100_000).map(String),
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (words, size) => {
      const text = checked(words.join(' '), size)
      for (const [, number = ''] of text.matchAll(/(?<![\d.,[-])(\d{4,6})(?!\d|\s*(?:%|ms)?\s*\[)/g))
        expect(['1204'], text).toContain(number)
      expect(text).not.toMatch(/```\w|!\[/)
    }),
    { numRuns: cases(300, 20_000) },
  )
})
