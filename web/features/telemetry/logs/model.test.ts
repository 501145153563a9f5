import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LogLine } from '../../../api/log-queries.ts'
import { addLines, addPair, attributeValue, batchSize, parseTyped, rowText, showControls, takeNew } from './model.ts'

const lineAt = (n: number): LogLine => ({
  id: `019a0000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  project_id: '019a0000-0000-7000-8000-000000000000',
  occurred_at: new Date(1_764_000_000_000 + n).toISOString(),
  received_at: new Date(1_764_000_000_000 + n).toISOString(),
  level: 'info',
  severity_number: 9,
  body: `line ${n}`,
  trace_id: null,
  span_id: null,
  release: null,
  environment: 'production',
  attributes: {},
  notes: [],
})
const lines = (...places: number[]) => places.map(lineAt)

test('escape codes and other control characters are shown as signs, markup as it is', () => {
  expect(showControls('\u001b[31mred\u001b[0m \u0007')).toBe('␛[31mred␛[0m ␇')
  expect(rowText('a\nb\tc <b>x</b>')).toBe('a ⏎ b c <b>x</b>')
  expect(rowText('x'.repeat(8_000))).toHaveLength(601)
})

describe('a typed text', () => {
  test('names attributes, a trace and words', () => {
    expect(parseTyped('payment user.id=7 -host=a slow', {})).toEqual({
      q: 'payment slow',
      with: ['user.id=7'],
      without: ['host=a'],
    })
    expect(parseTyped('A'.repeat(32), {}).trace).toBe('a'.repeat(32))
    expect(parseTyped('name="two words" 1 + 1 = 2', {})).toMatchObject({ with: ['name=two words'], q: '1 + 1 = 2' })
  })

  test('keeps the filters before it, except the words', () => {
    expect(parseTyped('', { q: 'old', with: ['a=1'] })).toEqual({ q: undefined, with: ['a=1'] })
  })

  test('never throws, and words fit the API', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 500 }), (typed) => {
        const { q } = parseTyped(typed, {})
        expect(q === undefined || (q.length > 0 && q.length <= 200)).toBe(true)
      }),
    )
  })
})

test('a wanted value replaces another, and an unwanted one is no longer wanted', () => {
  expect(addPair({ with: ['a=1', 'b=1'] }, 'with', 'a', '2')).toEqual({ with: ['b=1', 'a=2'], without: undefined })
  expect(addPair({ with: ['a=1'] }, 'without', 'a', '1')).toEqual({ with: undefined, without: ['a=1'] })
  expect(addPair({ without: ['a=1'] }, 'with', 'a', '1')).toEqual({ with: ['a=1'], without: undefined })
})

test('values are texts as the API compares them', () => {
  expect(attributeValue({ value: 58, type: 'integer' })).toEqual({ text: '58', isFilter: true })
  expect(attributeValue({ value: ['a', 'b'], type: 'array' })).toEqual({ text: '["a","b"]', isFilter: false })
})

describe('a live list', () => {
  test('has each line once, newest first, and at most a thousand', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(2_000), { maxLength: 300 }), { maxLength: 6 }), (pages) => {
        const shown = pages.reduce((before, page) => addLines(before, lines(...new Set(page))), [] as LogLine[])
        const times = shown.map(({ occurred_at: at }) => at)
        expect(times).toEqual([...new Set(times)].toSorted().toReversed())
        expect(shown.length).toBeLessThanOrEqual(1_000)
      }),
    )
  })

  test('counts the new lines that do not fit into an answer', () => {
    const known = lines(1, 2, 3)
    const from = lineAt(2).occurred_at
    expect(takeNew(known, { items: lines(5, 4, 3), total: 1_667 }, from, 1_000)).toMatchObject({
      left: 1_663,
      perSecond: 1_665,
    })
    // The next answer counts the same lines again.
    expect(takeNew(known, { items: lines(3, 2), total: 1_664 }, from, 1_000, 1_662)).toMatchObject({ left: 0 })
    expect(takeNew(known, { items: lines(3, 2), total: 2 }, from, 1_000)).toEqual({ fresh: [], left: 0, perSecond: 0 })
  })

  test('shows many lines in batches', () => {
    expect(batchSize(40, 40)).toBe(40)
    expect(batchSize(100, 400)).toBe(25)
    expect(batchSize(1, 400)).toBe(1)
  })
})
