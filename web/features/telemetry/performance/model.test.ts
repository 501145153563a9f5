import { describe, expect, test } from 'vitest'
import { durationFinding, durationSentence } from './finding.ts'
import {
  histogramBins,
  changeTone,
  coarseFailures,
  formatVital,
  relativeGrowth,
  isOpenBin,
  judgedText,
  leftOutText,
  rangeEnd,
  rangeTone,
} from './model.ts'

const START = Date.parse('2026-11-13T00:00:00Z')
const points = (values: readonly (number | null)[], count = 100) =>
  values.map((p95_ms, hour) => ({ t: new Date(START + hour * 3_600_000).toISOString(), p95_ms, count }))
const flat = (length: number, value: number) => Array.from({ length }, () => value)
const release = (version: string, hour: number) => ({ version, at: new Date(START + hour * 3_600_000).toISOString() })

describe('the finding of durations', () => {
  const step = points([...flat(20, 4_300), ...flat(6, 4_930)])

  test('names the release with the step', () => {
    const found = durationFinding(step, [release('shop@4.12.0', 20), release('shop@4.11.0', -3)], 4_500, 4_300)
    expect(found).toEqual({ kind: 'since', release: 'shop@4.12.0', before: 4_300, after: 4_930 })
    expect(durationSentence(found, '7d')).toBe('P95 is 4.93\u202fs since 4.12.0, up from 4.30\u202fs.')
  })

  test.each([
    ['few values', points([...flat(20, 4_300), ...flat(6, 9_000)], 10)],
    ['few buckets', points([...flat(24, 4_300), ...flat(2, 9_000)])],
    ['a small step', points([...flat(20, 4_300), ...flat(6, 4_500)])],
    ['one slow bucket', points([...flat(20, 4_300), 90_000, ...flat(5, 4_300)])],
  ])('%s: only the change against the range before', (_, series) =>
    expect(durationFinding(series, [release('shop@4.12.0', 20)], 4_500, 4_300)).toMatchObject({ kind: 'change' }),
  )

  test('is said against the range before', () => {
    expect(durationSentence({ kind: 'change', value: 4_930, growth: 0.121 }, '24h')).toBe(
      'P95 is 4.93\u202fs, 12\u202f% slower than in the previous 24 hours.',
    )
    expect(durationSentence({ kind: 'change', value: 940, growth: -0.3 }, '30d')).toBe(
      'P95 is 940\u202fms, 30\u202f% faster than in the previous 30 days.',
    )
    expect(durationSentence(durationFinding([], [], 940, 941), '1h')).toBe(
      'P95 is 940\u202fms, as in the previous hour.',
    )
    expect(durationSentence(durationFinding([], [], 940, null), '1h')).toBe('P95 is 940\u202fms.')
    expect(durationSentence(durationFinding(step, [], null, 5), '1h')).toBe('')
  })
})

test('the open bin is as wide as the others, and bins from the limit on are bad', () => {
  const spread = [
    { from_ms: 4_800, to_ms: 5_000, count: 3 },
    { from_ms: 5_000, to_ms: 5_200, count: 2 },
    { from_ms: 5_200, to_ms: null, count: 1 },
  ]
  expect(histogramBins(spread, 5_000)).toEqual([
    { from: 4_800, to: 5_000, count: 3, tone: 'p50' },
    { from: 5_000, to: 5_200, count: 2, tone: 'bad' },
    { from: 5_200, to: 5_400, count: 1, tone: 'bad' },
  ])
  expect(histogramBins(spread, 5_000).map((bin) => isOpenBin(spread, bin))).toEqual([false, false, true])
  expect(histogramBins([], 5_000)).toEqual([])
})

test('left-out starts are said by reason', () => {
  const left_out = { too_long: 212, prewarmed: 4_010, invalid: 0 }
  expect(leftOutText({ count: 318_204, left_out })).toBe('318,204 starts. Left out: 212 over 180 s, 4,010 prewarmed.')
  expect(leftOutText({ count: 3, left_out: { too_long: 0, prewarmed: 0, invalid: 0 } })).toBe('3 starts.')
})

test('the axis of range plots ends at a round time after the slowest', () => {
  const end = (p95_ms: number | null) => rangeEnd([{ render: { p95_ms } }])
  expect([end(null), end(860), end(3_180), end(5_420), end(41_000)]).toEqual([250, 1_000, 4_000, 6_000, 50_000])
})

test('words, tones and vitals', () => {
  expect(judgedText('watch', { watch: 3, poor: 5 }, (ms) => `${ms} s`)).toBe('Watch, poor from 5 s')
  expect([rangeTone(null), rangeTone(2_999), rangeTone(3_000), rangeTone(5_000)]).toEqual([
    'plain',
    'plain',
    'warn',
    'bad',
  ])
  expect([formatVital('cls', 0.1234), formatVital('lcp', 2_400), formatVital('cls', null)]).toEqual([
    '0.123',
    '2.40\u202fs',
    'no data',
  ])
  expect([relativeGrowth(2, 1), relativeGrowth(2, 0), relativeGrowth(null, 1)]).toEqual([1, null, null])
  expect([changeTone(0.05), changeTone(0.04), changeTone(-0.2)]).toEqual(['worse', 'same', 'better'])
})

test('failures are a rate of the longer interval, counted from the newest', () => {
  const of = (count: number, failures: number) => ({ count, failure_rate: count === 0 ? null : failures / count })
  expect(coarseFailures([of(8, 8), of(10, 0), of(10, 1), of(2, 2)], 3)).toEqual([1, 3 / 22, 3 / 22, 3 / 22])
  expect(coarseFailures([of(0, 0), of(4, 1)], 1)).toEqual([null, 0.25])
})
