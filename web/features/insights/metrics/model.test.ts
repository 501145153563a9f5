import { describe, expect, test } from 'vitest'
import { findingSentence } from './finding-text.ts'
import {
  coverageText,
  chooseJudgedRate,
  fewText,
  limitText,
  buildMonthLine,
  newestText,
  shareOfLimit,
} from './model.ts'

const BANDS = { watch: 0.004, poor: 0.0047 }

describe('the sentence of a finding', () => {
  const textOf = (finding: Parameters<typeof findingSentence>[0]) => findingSentence(finding, '7d').text

  test('names the release since which a rate is another one, without its package', () => {
    const since = '2026-11-19T14:00:00.000Z'
    const rose = { kind: 'rose', since, before: 0.0034, after: 0.0085, release: 'com.acme.shop@4.12.0+41200' } as const
    expect(findingSentence(rose, '7d')).toEqual({
      icon: 'warn',
      text: '0.85\u202f% since 4.12.0, up from 0.34\u202f%.',
    })
    expect(textOf({ ...rose, kind: 'fell', release: null })).toMatch(/since 19 Nov( 2026)?, \d\d:00, down from/)
  })

  test('names the issue that is most of a rise, with its link', () =>
    expect(findingSentence({ kind: 'issue', issue_id: 'i', short_id: 'SHA-1F4', share: 0.61 }, '7d')).toEqual({
      icon: 'st-regressed',
      text: '61\u202f% of the increase comes from one issue,',
      issue: { id: 'i', shortId: 'SHA-1F4' },
    }))

  test.each([
    [{ kind: 'steady', value: 0.0034 }, 'Steady at 0.34\u202f%.'],
    [{ kind: 'changed', share: 0.18 }, '18\u202f% more than in the previous 7 days.'],
    [{ kind: 'changed', share: -0.18 }, '18\u202f% fewer than in the previous 7 days.'],
    [{ kind: 'changed', share: 0.001 }, 'As many as in the previous 7 days.'],
    [{ kind: 'lost', dropped: 0, rate_limited: 1_200 }, '0 dropped, 1,200 rate limited.'],
    [{ kind: 'affected', users: 3_904, share: 0.0095 }, '3,904 users hit by a crash, 0.95\u202f% of the active ones.'],
    [{ kind: 'affected', users: 1, share: 0.1429 }, '1 user hit by a crash, 14.29\u202f% of the active ones.'],
    [
      { kind: 'passes_limit', limit: 0.0047, at: '2026-11-27T00:00:00.000Z', days: 1 },
      'At this rate, the store limit is exceeded in 1 day.',
    ],
  ] as const)('%j', (finding, text) => expect(textOf(finding)).toBe(text))

  test('a peak says how many times the usual it is', () =>
    expect(textOf({ kind: 'peak', at: '2026-11-19T14:00:00.000Z', value: 680, times: 2.8 })).toMatch(
      /^Peak at 19 Nov.*: 680, ×2\.8 the usual\.$/,
    ))

  test('a steady rate is marked as fine only where it is', () => {
    const steady = (word: 'good' | 'watch' | 'poor' | null) =>
      findingSentence({ kind: 'steady', value: 0.0194 }, '24h', { word, bands: { watch: 0.005, poor: 0.0109 } })
    expect(steady('good')).toEqual({ icon: 'check', text: 'Steady at 1.94\u202f%.' })
    expect(steady('poor')).toEqual({
      icon: 'warn',
      text: 'Steady at 1.94\u202f%, over the limit of 1.09\u202f%.',
    })
    expect([steady('watch').icon, steady(null).icon]).toEqual(['info', 'info'])
  })

  test('a steady rate does not hide that the newest release is on hold', () =>
    expect(findingSentence({ kind: 'steady', value: 0.0053 }, '7d', undefined, 'shop@4.12.0+41200')).toEqual({
      icon: 'warn',
      text: 'Steady at 0.53\u202f%, but the newest release 4.12.0 is on hold.',
    }))

  test('nothing was found', () => expect(textOf(null)).toBe('Not enough data for a finding.'))
})

test('the 28-day rate beside its limit', () => {
  const forecast = { passes_limit_at: '2026-11-27T00:00:00.000Z', days: 8, slope_per_day: 0.0001 }
  expect(limitText({ rate: 0.0041, forecast }, 0.0047)).toBe('28-day rate 0.41\u202f%, limit 0.47\u202f% in 8 days')
  expect(limitText({ rate: 0.0041, forecast: null }, 0.0047)).toBe('28-day rate 0.41\u202f%, limit 0.47\u202f%')
  expect(limitText({ rate: 0.005, forecast: null }, 0.0047)).toBe(
    '28-day rate 0.50\u202f%, over the limit of 0.47\u202f%',
  )
  expect(limitText({ rate: null, forecast: null }, 0.0047)).toBe('Limit 0.47\u202f%')
  expect([0.00235, 0.0094, null].map((total) => shareOfLimit({ total, bands: BANDS }))).toEqual([0.5, 1, 0])
})

test('over more than a day the rate of daily users is judged, where there are any sessions', () => {
  const guard = { anr: { rate: 0.001, state: 'good' } } as const
  const series = { range: '30d', total: 0.0113, word: null } as const
  expect(chooseJudgedRate(series, guard)).toEqual({ word: 'good', rate: 0.001 })
  expect(chooseJudgedRate(series, null)).toEqual({ word: null, rate: null })
  expect(chooseJudgedRate({ ...series, total: null }, guard)).toEqual({ word: null, rate: null })
  expect(chooseJudgedRate({ range: '24h', total: 0.005, word: 'poor' }, guard)).toEqual({ word: 'poor', rate: 0.005 })
})

test('the newest whole interval is said, not the one that is being counted', () => {
  const points = [
    { t: '2026-11-20T10:00:00.000Z', value: 0.002 },
    { t: '2026-11-20T11:00:00.000Z', value: 0.004 },
    { t: '2026-11-20T12:00:00.000Z', value: 0.9, incomplete: true as const },
  ]
  const series = { points, bands: BANDS, interval_seconds: 3_600, total: 0.003 }
  expect(newestText(series)).toBe('Last 1\u202fh 0.40\u202f%, limit 0.47\u202f%')
  expect(newestText({ ...series, points: [] })).toBeNull()
})

describe('the 28-day line', () => {
  const dayOf = (index: number) => new Date(Date.parse('2026-11-01T00:00:00Z') + index * 86_400_000).toISOString()
  const days = (rates: readonly (number | null)[]) =>
    rates.map((rate_of_window, index) => ({ day: dayOf(index).slice(0, 10), rate_of_window, users: 100, affected: 1 }))
  const forecast = { passes_limit_at: dayOf(5), days: 3, slope_per_day: 0.0002 }

  test('leads from the newest day to the limit on the day of the forecast', () => {
    const line = buildMonthLine({ rate: 0.0041, days: days([null, 0.004, 0.0041]), forecast }, 0.0047)
    expect(line?.values).toEqual([null, 0.004, 0.0041, null, null, null])
    expect(line?.projection?.slice(0, 3)).toEqual([null, null, 0.0041])
    expect(line?.projection?.at(-1)).toBeCloseTo(0.0047, 10)
    expect(line?.days.at(-1)).toBe(dayOf(5))
  })

  test('is drawn in part when the limit is further than a month', () => {
    const far = { ...forecast, days: 60, slope_per_day: 0.00001 }
    const line = buildMonthLine({ rate: 0.0041, days: days([0.004, 0.0041]), forecast: far }, 0.0047)
    expect(line?.days).toHaveLength(2 + 28)
    expect(line?.projection?.at(-1)).toBeCloseTo(0.0041 + 28 * 0.00001, 10)
  })

  test('has no projection without a forecast, and no line of one day', () => {
    expect(buildMonthLine({ rate: 0.0041, days: days([0.004, 0.0041]), forecast: null }, 0.0047)?.projection).toBeNull()
    expect(buildMonthLine({ rate: 0.004, days: days([null, 0.004]), forecast }, 0.0047)).toBeNull()
  })
})

test('a table of devices says which sessions it leaves out', () => {
  const other = { names: 412, sessions: 300, crashed: 1, beyond_limit: 0 }
  expect(coverageText({ coverage: 0.72, other, sessions: 1_000 })).toBe(
    'The device is known for 72\u202f% of sessions; the others are not in this table. 412 more with 30\u202f% of sessions.',
  )
  expect(coverageText({ coverage: 1, other: null, sessions: 1_000 })).toBeNull()
  expect(coverageText({ coverage: null, other: null, sessions: 0 })).toBeNull()
})

test('a rate without a word says why, and a word of few says from what', () => {
  const of = (range: '24h' | '7d', word: 'poor' | null, anr: Parameters<typeof fewText>[1]) =>
    fewText({ range, total: 0.05, word }, anr, 0.0047)
  expect(of('24h', null, null)).toBe('Limit 0.47\u202f%, too few users to rate')
  expect(of('24h', 'poor', null)).toBeNull()
  expect(of('7d', null, null)).toMatch(/of daily users/)
  expect(of('7d', null, { anr: { rate: null, state: null, user_days: 812 } })).toBe(
    'Limit 0.47\u202f%, too few users to rate',
  )
  expect(of('7d', null, { anr: { rate: null, state: 'poor', user_days: 812 } })).toBe(
    'Over 0.47\u202f%, from 812 user-days',
  )
  expect(of('7d', null, { anr: { rate: 0.01, state: 'poor', user_days: 5_000 } })).toBeNull()
})
