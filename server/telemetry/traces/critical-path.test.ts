import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assembleTrace } from './assemble-trace.ts'
import { criticalPath } from './critical-path.ts'
import { aSpan, anySpans } from './stored-span.fixture.ts'

const pathOf = (...spans: readonly ReturnType<typeof aSpan>[]): string[] => {
  const trace = assembleTrace([{ projectId: 'p', receivedMs: 10_000, spans }])
  if (trace.root === null) return []
  return criticalPath(trace.spans, trace.root).map(({ span, fromMs, toMs }) => `${span.span_id} ${fromMs}-${toMs}`)
}

test('the time of a caller is spent in the spans below, and in itself where none runs', () => {
  expect(
    pathOf(aSpan('a', null, 0, 100), aSpan('b', 'a', 10, 40), aSpan('c', 'a', 50, 90), aSpan('d', 'c', 60, 80)),
  ).toEqual(['a 0-10', 'b 10-40', 'a 40-50', 'c 50-60', 'd 60-80', 'c 80-90', 'a 90-100'])
})

test('of spans beside each other, the one that ends last is waited for', () => {
  expect(pathOf(aSpan('a', null, 0, 100), aSpan('b', 'a', 10, 50), aSpan('c', 'a', 10, 100))).toEqual([
    'a 0-10',
    'c 10-100',
  ])
})

test('work that outlives its caller is not waited for; a few milliseconds are two clocks', () => {
  expect(pathOf(aSpan('a', null, 0, 100), aSpan('job', 'a', 50, 400))).toEqual(['a 0-100'])
  expect(pathOf(aSpan('a', null, 0, 100), aSpan('b', 'a', 50, 103))).toEqual(['a 0-50', 'b 50-100'])
})

test('a chain of 10,000 spans needs no deep stack', () => {
  const chain = Array.from({ length: 10_000 }, (_, n) => aSpan(`s${n}`, n === 0 ? null : `s${n - 1}`, n, 30_000 - n))
  expect(pathOf(...chain)).toHaveLength(19_999)
})

test('with any spans: pieces follow each other without a gap, as long as the first span, each within its span', () => {
  fc.assert(
    fc.property(anySpans, (spans) => {
      const { root, spans: placed } = assembleTrace([{ projectId: 'p', receivedMs: 10_000, spans }])
      if (root === null) return
      const pieces = criticalPath(placed, root)
      let at = root.start_ms
      for (const { span, fromMs, toMs } of pieces) {
        expect(fromMs).toBe(at)
        expect(toMs).toBeGreaterThan(fromMs)
        expect(fromMs).toBeGreaterThanOrEqual(span.start_ms)
        expect(toMs).toBeLessThanOrEqual(span.end_ms)
        at = toMs
      }
      expect(at).toBe(root.end_ms)
    }),
  )
})
