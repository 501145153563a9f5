import { expect, test } from 'vitest'
import type { Performance } from '../../../api/performance-queries.ts'
import { pageKind } from './page-kind.ts'
import { worstVital } from './web-page.tsx'

const vital = (count = 0, poor = 0, work = 0) => ({
  p75: null,
  previous_p75: null,
  count,
  poor,
  needs_work: work,
  good: count - poor - work,
})
const vitals = { lcp: vital(), inp: vital(), cls: vital(), fcp: vital(), ttfb: vital() }
const measured = (part: object): Performance =>
  // Only what decides.
  ({
    web_vitals: vitals,
    screens: [],
    cold_start: { count: 0 },
    warm_start: { count: 0 },
    frames: { total: 0 },
    requests: { count: 0 },
    ...part,
  }) as unknown as Performance

test.each([
  ['android', { requests: { count: 5 } }, 'mobile'],
  ['web', { requests: { count: 5 } }, 'server'],
  ['web', { requests: { count: 5 }, web_vitals: { ...vitals, cls: vital(1) } }, 'web'],
  ['web', { requests: { count: 5 }, screens: [{ op: 'pageload' }] }, 'web'],
  ['web', { frames: { total: 9 }, requests: { count: 5 } }, 'mobile'],
  ['web', {}, 'web'],
] as const)('a project for %s with %j has the page of %s', (platform, part, kind) => {
  expect(pageKind(platform, measured(part))).toBe(kind)
})

test('the worst vital has the largest share of poor values, of those with enough values', () => {
  expect(worstVital(vitals)).toBeNull()
  expect(worstVital({ ...vitals, lcp: vital(100, 10), inp: vital(50, 10), cls: vital(3, 3) })).toBe('inp')
  expect(worstVital({ ...vitals, lcp: vital(100, 0, 20), fcp: vital(100, 0, 30) })).toBe('fcp')
})
