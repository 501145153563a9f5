import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TraceSpan } from '../../../api/trace-queries.ts'
import { waterfallRows } from './model.ts'

const span = (id: string, parent: string | null, start = 0, duration = 10): TraceSpan => ({
  span_id: id,
  parent_span_id: parent,
  op: 'db',
  description: id,
  status: 'ok',
  is_segment: false,
  start_ms: start,
  duration_ms: duration,
  data: {},
})

test('spans stand below their parents, by start', () => {
  const rows = waterfallRows([span('a', null, 0, 100), span('b', 'a', 10), span('d', 'b', 12), span('c', 'a', 50)], 100)
  expect(rows.map(({ span: { span_id: id }, depth }) => `${' '.repeat(depth)}${id}`)).toEqual(['a', ' b', '  d', ' c'])
  expect(rows[3]).toMatchObject({ start: 0.5, length: 0.1 })
})

test('a span without its parent is a root and says so', () => {
  expect(waterfallRows([span('a', null), span('b', 'gone')], 10).map(({ isOrphan }) => isOrphan)).toEqual([false, true])
})

test('any spans, also circles and impossible times: each is shown once, inside the waterfall', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  const any = fc.uniqueArray(
    fc.record({
      id,
      parent: fc.option(id),
      start: fc.double({ min: 0, max: 1e9 }),
      ms: fc.double({ min: 0, max: 1e9 }),
    }),
    { selector: (one) => one.id },
  )
  fc.assert(
    fc.property(any, fc.double({ min: 0, max: 1e9, noNaN: true }), (given, total) => {
      const rows = waterfallRows(
        given.map((one) => span(one.id, one.parent, one.start || 0, one.ms || 0)),
        total,
      )
      expect(rows.map((row) => row.span.span_id).sort()).toEqual(given.map((one) => one.id).sort())
      for (const { start, length } of rows) {
        expect(start).toBeGreaterThanOrEqual(0)
        expect(length).toBeGreaterThan(0)
        expect(start + length).toBeLessThanOrEqual(1 + 1e-9)
      }
    }),
  )
})
