import { expect, test } from 'vitest'
import { durationText, percentText, scoreText, windowText } from './measure-texts.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'

test('numbers as a person says them', () => {
  expect([0.4, 12.3, 999, 1_000, 5_312.4, 120_000].map(durationText)).toEqual([
    '0.4 ms',
    '12 ms',
    '999 ms',
    '1 s',
    '5.31 s',
    '120 s',
  ])
  expect([0.47, 2, 33.333].map(percentText)).toEqual(['0.47 %', '2 %', '33.33 %'])
  expect(scoreText(5 / 6)).toBe('0.83')
  expect([1, 15, 60, 120, 1_440, 2_880, 90].map(windowText)).toEqual([
    '1 minute',
    '15 minutes',
    '60 minutes',
    '2 hours',
    '24 hours',
    '2 days',
    '90 minutes',
  ])
  expect([countedWord(1, 'start'), countedWord(1_204, 'start')]).toEqual(['1 start', '1,204 starts'])
})
