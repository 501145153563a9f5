import { describe, expect, test } from 'vitest'
import {
  crashFreeChange,
  comparisonText,
  gradeCrashFree,
  adoptionLayers,
  releaseMarkers,
  splitVersion,
  refreshMs,
  shortNames,
  tableNames,
  crashFreeValues,
} from './model.ts'

describe('names', () => {
  test.each([
    ['com.acme.shop@4.12.0+41200', 'com.acme.shop', '4.12.0', '41200'],
    ['4.12.0', null, '4.12.0', null],
    ['9f2c1d0', null, '9f2c1d0', null],
    ['@', null, '@', null],
    ['a@b@1', 'a@b', '1', null],
  ])('%s', (text, name, version, build) => {
    expect(splitVersion(text)).toEqual({ package: name, version, build })
  })

  test('are short, unless two would be the same', () => {
    expect([...shortNames(['shop@1.0', 'admin@1.0', 'shop@2.0']).values()]).toEqual(['shop@1.0', 'admin@1.0', '2.0'])
  })
})

describe('adoption', () => {
  const adoption = {
    times: ['2026-11-20T00:00:00.000Z', '2026-11-20T06:00:00.000Z', '2026-11-20T12:00:00.000Z'],
    totals: [10, 0, 20],
    releases: [
      { release_id: null, version: '2', sessions: [0, 0, 15] },
      { release_id: null, version: '1', sessions: [10, 0, 4] },
    ],
    others: [0, 0, 1],
  }

  test('layers are from the oldest to the newest and fill each bucket; buckets without data are gaps', () => {
    const layers = adoptionLayers(adoption, 'others')
    expect(layers.map((layer) => [layer.label, layer.tone])).toEqual([
      ['others', 'others'],
      ['1', 'layer-1'],
      ['2', 'newest'],
    ])
    for (const index of [0, 2])
      expect(layers.reduce((sum, layer) => sum + (layer.shares[index] ?? 0), 0)).toBeCloseTo(1)
    expect(layers.every((layer) => layer.shares[1] === null)).toBe(true)
    expect(adoptionLayers({ ...adoption, others: [0, 0, 0] }, 'others')).toHaveLength(2)
  })

  test('markers are only inside the chart', () => {
    const line = (version: string, since: string) => ({ release_id: version, version, since, hours: [] })
    const lines = [
      line('3', '2026-11-20T15:00:00.000Z'),
      line('2', '2026-11-20T14:30:00.000Z'),
      line('1', '2026-11-20T09:00:00.000Z'),
      line('0', '2026-10-01T00:00:00.000Z'),
    ]
    expect(releaseMarkers(lines, adoption.times, 21_600).map((marker) => marker.label)).toEqual(['3', '2', '1'])
  })
})

describe('crash-free lines', () => {
  test('start at the first hour with enough sessions and keep gaps', () => {
    const hours = [0, 1, 2].map((hour) => ({ hour, sessions: hour === 1 ? 99 : 100, crash_free_sessions: 0.99 }))
    const values = crashFreeValues(hours)
    expect(values).toHaveLength(49)
    expect(values.slice(0, 5)).toEqual([null, 0.99, null, 0.99, null])
  })

  test.each([
    [0.995, 'good'],
    [0.9949, 'warn'],
    [0.9899, 'bad'],
  ])('%d is %s', (value, grade) => {
    expect(gradeCrashFree(value)).toBe(grade)
  })
})

test('rows name the package where there are several', () => {
  expect([...tableNames(['shop@1.0.0+7', 'shop@1.1.0']).values()]).toEqual(['1.0.0', '1.1.0'])
  expect([...tableNames(['shop@1.0.0+7', 'admin@1.0.0', '1.0.0']).values()]).toEqual([
    'shop@1.0.0',
    'admin@1.0.0',
    '1.0.0',
  ])
})

test('a change needs both figures', () => {
  const row = { crash_free_sessions: 0.99, previous: { version: '1', crash_free_sessions: 0.995 } }
  expect(crashFreeChange(row as never)).toBeCloseTo(-0.005)
  expect(crashFreeChange({ ...row, previous: null } as never)).toBeNull()
  const comparison = { release: { crash_free_sessions: 0.97 }, previous: { crash_free_sessions: 0.99 } }
  expect(crashFreeChange({ ...row, comparison } as never)).toBeCloseTo(-0.02)
  expect(crashFreeChange({ ...row, crash_free_sessions: null } as never)).toBeNull()
})

test('a recent release is refetched every minute', () => {
  const now = Date.parse('2026-11-20T12:00:00.000Z')
  const row = (hours: number | null) => ({
    released_at: null,
    first_seen: hours === null ? null : new Date(now - hours * 3_600_000).toISOString(),
  })
  expect(refreshMs([row(300), row(47)], now)).toBe(60_000)
  expect(refreshMs([row(49), row(null)], now)).toBe(300_000)
  expect(refreshMs([], now)).toBe(300_000)
})

describe('the newest release against the one before', () => {
  const atAge = (version: string, crash_free_sessions: number | null) => ({
    version,
    sessions: 2_000,
    crashed: 8,
    adoption: 0.2,
    users: null,
    crash_free_sessions,
    crash_free_users: null,
  })
  const compared = (now: number | null) => ({
    comparison: { age_hours: 8, release: atAge('shop@4.12.0', now), previous: atAge('shop@4.11.3', 0.9967) },
  })

  test('says both names, the rate, the change and the age', () =>
    expect(comparisonText([{ comparison: null }, compared(0.9918)])).toBe(
      '4.12.0 at 99.18\u202f%, \u22120.49\u202fpt compared with 4.11.3 at the same age, 8 h.',
    ))

  test('is left out where a rate is unknown', () =>
    expect([comparisonText([]), comparisonText([compared(null)])]).toEqual([null, null]))
})
