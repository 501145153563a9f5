import { expect, test } from 'vitest'
import { looksWhole } from './filters.tsx'

test.each([
  ['checkout', true],
  ['is:unresolved level:[error, fatal]', true],
  ['"on pay" (a OR b)', true],
  ['tag:"a ( b"', true],
  ['', true],
  ['level:', false],
  ['events:>', false],
  ['"on pa', false],
  ['(a OR b', false],
  ['level:[error', false],
  ['a OR ', false],
  ['a NOT', false],
  ['https://x', true],
])('%s: whole enough to be asked for %s', (text, isWhole) => {
  expect(looksWhole(text)).toBe(isWhole)
})
