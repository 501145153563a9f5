import fc from 'fast-check'
import { expect, test } from 'vitest'
import { listChips, findDecades, fromHeight, toHeight, pastedTraceId, toggledValue } from './traces-model.ts'

test('each chip is a filter, and its address is the one without it', () => {
  const search = { name: ['POST /pay', 'GET /'], min: '3000', q: 'gold' }
  const chips = listChips({ ...search, result: ['error'] })
  expect(chips.map(({ label, value }) => `${label} ${value}`)).toEqual([
    'Status error',
    'Transaction POST /pay',
    'Transaction GET /',
    'Duration ≥ 3\u202fs',
    'Text gold',
  ])
  expect(chips[1]?.without.name).toEqual(['GET /'])
  expect(toggledValue({ tag: ['a:b'] }, 'tag', 'a:b').tag).toBeUndefined()
})

test('a pasted trace id is found in every spelling, and nothing else is one', () => {
  const id = '7c1e4f0a9d2b4c6e8f1a3b5c7d9e0f12'
  for (const text of [id, ` ${id.toUpperCase()}\n`, '7c1e4f0a-9d2b-4c6e-8f1a-3b5c7d9e0f12'])
    expect(pastedTraceId(text)).toBe(id)
  for (const text of ['', 'checkout', id.slice(1), `${id}0`, `x${id.slice(1)}`]) expect(pastedTraceId(text)).toBeNull()
})

test('every duration lies on the axis, and its height says it again', () => {
  const ms = fc.double({ min: 1, max: 1e8, noNaN: true })
  fc.assert(
    fc.property(fc.array(ms, { minLength: 1, maxLength: 9 }), (durations) => {
      const axis = findDecades(
        durations.map((duration_ms) => ({ trace_id: '', started_at: '', duration_ms, status: 'ok', matches: true })),
      )
      expect(axis.to).toBeGreaterThan(axis.from)
      for (const one of durations) expect(fromHeight(toHeight(one, axis), axis) / one).toBeCloseTo(1, 6)
    }),
  )
})
