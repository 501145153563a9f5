import { expect, test } from 'vitest'
import { chooseCards, judge, type Facts, type Requests } from './model.ts'

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

function facts(of: Requests | null): Facts {
  const card = { value: null, word: null, finding: null, limit: { value: 0.01, share: null } }
  return {
    overview: {
      cards: { crash_rate: card, anr_rate: card, event_count: { value: 3 } },
      releases: [],
      intake: { accepted: 3 },
      issues: { open: 1 },
    },
    requests: of,
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

test('a server has the figures of its requests, a site without traces those of its events', () => {
  const { overview } = facts(null)
  expect(chooseCards(overview, 'web', requests({}, {}))).toEqual(['failed', 'p95', 'events', 'issues'])
  expect(chooseCards(overview, 'web', null)).toEqual(['events', 'users', 'issues', 'received'])
})
