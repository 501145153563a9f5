import { expect, test } from 'vitest'
import { intakeTexts } from './texts.ts'
import { sumIntakeFigures } from '../../../api/intake-figures.ts'
import { parseLimit, toIntakeSeries, sumBySeries } from './model.ts'

test('client reports are not counted, losses are separate', () => {
  const figures = sumIntakeFigures({
    totals: [
      { outcome: 'accepted', reason: '', category: 'error', quantity: 5 },
      { outcome: 'accepted', reason: '', category: 'internal', quantity: 7 },
      { outcome: 'rate_limited', reason: 'key', category: 'error', quantity: 2 },
      { outcome: 'rate_limited', reason: 'storm', category: 'error', quantity: 3 },
    ],
    client_losses: [{ kind: 'discarded', reason: 'sample_rate', category: 'error', quantity: 11 }],
  })
  expect(figures).toMatchObject({ accepted: 5, rate_limited: 5, invalid: 0, all: 10, lost: 11 })
})

test('each item is in one series of the chart', () => {
  const outcomes = (
    ['accepted', 'filtered', 'rate_limited', 'invalid', 'duplicate', 'discarded', 'dropped'] as const
  ).map((outcome, index) => ({ outcome, category: 'error', quantity: 10 ** index }))
  const series = toIntakeSeries([
    { t: '2026-11-20T12:00:00Z', outcomes },
    { t: '2026-11-20T13:00:00Z', outcomes: [] },
  ])
  expect(series.map(({ values }) => values[0])).toEqual([1, 110_010, 100, 1_001_000])
  expect(series.every(({ values }) => values[1] === 0)).toBe(true)
})

test('the figures are the sums of the series: every bar, and every item that arrived', () => {
  const outcomes = (
    ['accepted', 'filtered', 'rate_limited', 'invalid', 'duplicate', 'discarded', 'dropped'] as const
  ).map((outcome, index) => ({ outcome, category: 'error', quantity: 10 ** index }))
  const points = [
    { t: '2026-11-20T12:00:00Z', outcomes },
    { t: '2026-11-20T13:00:00Z', outcomes: outcomes.map((one) => ({ ...one, quantity: 2 * one.quantity })) },
  ]
  const totals = outcomes.map((one) => ({ ...one, reason: '', quantity: 3 * one.quantity }))
  const figures = sumIntakeFigures({ totals, client_losses: [] })
  const sums = sumBySeries(figures)
  expect(sums.map(({ quantity }) => quantity)).toEqual(
    toIntakeSeries(points).map(({ values }) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0)),
  )
  expect(sums.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(figures.all)
})

test('limits are parsed from typed text', () => {
  expect(
    ['', ' ', '3000', '3,000', '3 000', '0', '-1', '1.5', 'x', '1e3', '9'.repeat(20)].map((text) =>
      parseLimit(text, 1, 1e6),
    ),
  ).toEqual([null, null, 3_000, 3_000, 3_000, ...Array<undefined>(6).fill(undefined)])
})

test('every reason has a text, known or not', () => {
  expect(intakeTexts.reasonText('rate_limited', 'storm')).toMatch(/^Flood sampling/)
  expect(intakeTexts.reasonText('invalid', 'bad_sid')).toBe('A session with an invalid ID.')
  expect(intakeTexts.reasonText('invalid', 'never_heard_of')).toBe('Never heard of.')
  expect(intakeTexts.reasonText('accepted', '')).toBe('Stored.')
  expect(intakeTexts.lossText('discarded', '')).toBe('No reason given.')
  expect(intakeTexts.lossText('filtered', 'localhost')).toContain('localhost')
})
