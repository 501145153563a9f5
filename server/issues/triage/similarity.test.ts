import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Compared, MIN_SCORE, compareIssues } from './list-similar.ts'

const issue = (title: string, culprit = '', type: string | null = null): Compared => ({
  title,
  culprit,
  error_type: type,
})

describe('similarity', () => {
  test('same type and culprit, another message', () => {
    const found = compareIssues(
      issue('TypeError: x is undefined', 'pay in cart.ts', 'TypeError'),
      issue('TypeError: cannot read total', 'pay in cart.ts', 'TypeError'),
    )
    expect(found).toEqual({ score: 0.6, shared: ['type', 'culprit'] })
  })

  test('messages that differ only in numbers and ids', () => {
    const found = compareIssues(
      issue('IOException: order 123456 not found', 'load', 'IOException'),
      issue('IOException: order 9f3a77be01 not found', 'save', 'IOException'),
    )
    expect(found.shared).toEqual(['type', 'message'])
    expect(found.score).toBeCloseTo(0.7)
  })

  test('the type alone does not make issues similar', () => {
    const found = compareIssues(
      issue('TypeError: x is undefined', 'pay', 'TypeError'),
      issue('TypeError: failed to fetch', 'load', 'TypeError'),
    )
    expect(found.score).toBeLessThan(MIN_SCORE)
  })

  test('parts that both lack do not count', () => {
    expect(compareIssues(issue('Payment refused by bank'), issue('Payment refused by bank'))).toEqual({
      score: 1,
      shared: ['message'],
    })
    expect(compareIssues(issue(''), issue(''))).toEqual({ score: 0, shared: [] })
  })

  test('is symmetric, at most 1, and 1 of an issue with itself', () => {
    const anIssue = fc.record({
      title: fc.oneof(fc.string(), fc.constantFrom('TypeError: a b', 'a b c', '結帳失敗')),
      culprit: fc.constantFrom('', 'pay', 'load'),
      error_type: fc.constantFrom(null, 'TypeError', 'constructor'),
    })
    fc.assert(
      fc.property(anIssue, anIssue, (a, b) => {
        const found = compareIssues(a, b)
        expect(found).toEqual(compareIssues(b, a))
        expect(found.score).toBeGreaterThanOrEqual(0)
        expect(found.score).toBeLessThanOrEqual(1)
        expect([0, 1]).toContain(compareIssues(a, a).score)
      }),
    )
  })
})
