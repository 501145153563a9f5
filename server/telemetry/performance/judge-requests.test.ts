import { expect, test } from 'vitest'
import { judgeRequests, NO_LIMITS } from './judge-requests.ts'

const LIMITS = { p95Ms: 1_000, failureRate: 0.01 }
const wordsOf = (p95: number | null, failures: number, count: number) => {
  const { p95_ms: ofP95, failure_rate: ofRate } = judgeRequests({ p95, failures, count }, LIMITS)
  return [ofP95?.word, ofRate?.word]
}

test.each<[string, number | null, number, number, (string | null)[]]>([
  ['below four fifths', 799, 7, 1_000, ['good', 'good']],
  ['from four fifths on', 800, 8, 1_000, ['watch', 'watch']],
  ['at the limit', 1_000, 10, 1_000, ['poor', 'poor']],
  ['of few requests', 1_200, 1, 40, ['poor', null]],
  ['of few requests, clearly', 1_200, 6, 40, ['poor', 'poor']],
  ['of too few for a percentile', 1_200, 0, 19, [null, null]],
  ['without requests', null, 0, 0, [null, null]],
])('words %s', (_when, p95, failures, count, words) => {
  expect(wordsOf(p95, failures, count)).toEqual(words)
})

test('a project without limits has no words', () => {
  expect(judgeRequests({ p95: 9_000, failures: 50, count: 100 }, NO_LIMITS)).toEqual({
    p95_ms: null,
    failure_rate: null,
  })
})
