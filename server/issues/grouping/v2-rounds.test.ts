import fc from 'fast-check'
import { expect, test } from 'vitest'
import { roundOf } from './v2-rounds.ts'

const stepsOf = (list: readonly string[]): string[] | null => roundOf(list)?.map((at) => list[at] ?? '') ?? null

test('finds the same round wherever an endless recursion is cut', () => {
  const round = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(round, fc.nat(40), fc.nat(40), fc.integer({ min: 2, max: 5 }), (steps, from, extra, rounds) => {
      const period = steps.length
      const endless = (at: number, length: number): string[] =>
        Array.from({ length }, (_, step) => steps[(at + step) % period] ?? '')
      expect(stepsOf(endless(from, period * rounds + (extra % period)))).toEqual(stepsOf(endless(0, period * 2)))
    }),
  )
})

test('ignores the frames before and after the recursion', () => {
  expect(stepsOf(['main', 'b', 'a', 'b', 'a', 'b', 'trim'])).toEqual(['a', 'b'])
  expect(stepsOf(['a', 'a', 'b', 'a', 'a', 'b', 'a', 'a'])).toEqual(['a', 'a', 'b'])
})

test('finds none in a stack without recursion', () => {
  expect(stepsOf([])).toBeNull()
  expect(stepsOf(['a', 'b', 'c'])).toBeNull()
  expect(stepsOf(['a', 'b', 'a'])).toBeNull()
})
