import { expect, test } from 'vitest'
import { chooseCards, judge, type Facts, type Limits, type Requests } from './model.ts'

const requests = (fields: Partial<Requests>, previous: Partial<Requests['previous']>): Requests => {
  const one = {
    count: 400,
    total_ms: 40_000,
    throughput: 1,
    p50_ms: 90,
    p75_ms: 120,
    p95_ms: 200,
    failures: 0,
    failure_rate: 0,
  }
  return { ...one, ...fields, previous: { ...one, ...previous } }
}

function facts(of: Requests | null, limits: Limits | null = null): Facts {
  const card = { value: null, word: null, finding: null, limit: { value: 0.01, share: null } }
  return {
    overview: {
      cards: { crash_rate: card, anr_rate: card, event_count: { value: 3 } },
      releases: [],
      intake: { accepted: 3 },
      issues: { open: 1 },
    },
    requests: of,
    limits,
    fresh: [],
    back: [],
    alerts: [],
    releases: [],
    monitors: [],
  }
}

test.each([
  ['as before', {}, {}, 'fine'],
  ['half as slow again', { p95_ms: 300 }, {}, 'slow'],
  ['too few to say', { p95_ms: 300, count: 19 }, {}, 'fine'],
  ['too few before', { p95_ms: 300 }, { count: 19 }, 'fine'],
  ['a point more fails', { failure_rate: 0.03, p95_ms: 300 }, { failure_rate: 0.001 }, 'failures'],
])('a server whose requests are %s', (_, now, before, kind) => {
  const verdict = judge(facts(requests(now, before)))
  expect(verdict.reason.kind).toBe(kind)
  expect(verdict.word).toBe(kind === 'fine' ? 'good' : 'watch')
})

test('limits of the project decide the verdict of a server, also where nothing got worse', () => {
  const limit = (word: 'good' | 'watch' | 'poor') => ({ watch: 0.8, poor: 1, word })
  const of = (p95: 'good' | 'watch' | 'poor', rate: 'good' | 'watch' | 'poor', p95Ms = 200) => {
    const { word, reason, others } = judge(
      facts(requests({ p95_ms: p95Ms }, {}), { p95_ms: limit(p95), failure_rate: limit(rate) }),
    )
    return [word, reason.kind, others]
  }
  expect(of('good', 'good')).toEqual(['good', 'fine', 0])
  expect(of('watch', 'good')).toEqual(['watch', 'p95Limit', 0])
  expect(of('watch', 'poor')).toEqual(['poor', 'failureLimit', 1])
  // Its limit is the reason, not that it was faster before.
  expect(of('poor', 'good', 400)).toEqual(['poor', 'p95Limit', 0])
  expect(of('good', 'good', 400)).toEqual(['watch', 'slow', 0])
})

test('a server has the figures of its requests, a site without traces those of its events', () => {
  const { overview } = facts(null)
  expect(chooseCards(overview, 'web', requests({}, {}))).toEqual(['failed', 'p95', 'events', 'issues'])
  expect(chooseCards(overview, 'web', null)).toEqual(['events', 'users', 'issues', 'received'])
})
