import { expect, test } from 'vitest'
import { chooseMarkers } from './markers.ts'

const trend = {
  start: '2026-11-01T00:00:00.000Z',
  interval_seconds: 86_400,
  counts: Array.from({ length: 10 }, () => 1),
}
const on = (day: string, version: string) => ({ version, at: `2026-11-${day}T00:00:00.000Z` })

test('the newest releases in the time shown that are not too close to each other', () => {
  const lines = chooseMarkers(
    null,
    [
      on('02', 'shop@1.0.0+7'),
      { version: '1.1.0', at: '2026-11-05T22:00:00.000Z' },
      on('06', '1.1.1'),
      on('20', '2.0.0'),
    ],
    trend,
  )
  expect(lines).toEqual([
    { at: 0.5, label: '1.1.1' },
    { at: 0.1, label: '1.0.0' },
  ])
})

test('releases with the issue come before others', () => {
  const lines = chooseMarkers(null, [on('05', '1.1.0'), { version: '1.1.1', at: '2026-11-05T02:00:00.000Z' }], trend, {
    seen: ['1.1.0', null],
    fixed: null,
    note: '',
  })
  expect(lines).toEqual([{ at: 0.4, label: '1.1.0' }])
})

test('the fix comes first, then releases with the issue, then others', () => {
  const lines = chooseMarkers(null, [on('03', '1.0.0'), on('05', '1.1.0'), on('08', '1.2.0')], trend, {
    seen: ['1.2.0', '1.0.0'],
    fixed: '1.1.0',
    note: 'fixed',
  })
  expect(lines).toEqual([
    { at: 0.4, label: '1.1.0', tone: 'ok', note: 'fixed' },
    { at: 0.7, label: '1.2.0' },
    { at: 0.2, label: '1.0.0' },
  ])
})

test('the release of the regression always has a marker', () => {
  const regression = { at: 0.49, label: '1.1.0' }
  expect(chooseMarkers(regression, [on('06', '1.1.1'), on('09', '1.2.0')], trend)).toEqual([
    regression,
    { at: 0.8, label: '1.2.0' },
  ])
})
