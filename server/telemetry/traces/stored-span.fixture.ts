import fc from 'fast-check'
import type { StoredSpan } from './stored-span.ts'

export const aSpan = (
  id: string,
  parent: string | null,
  startMs: number,
  endMs: number,
  more: Partial<StoredSpan> = {},
): StoredSpan => ({
  span_id: id,
  parent_span_id: parent,
  op: 'function',
  description: id,
  status: 'ok',
  is_segment: parent === null,
  start_ms: startMs,
  end_ms: endMs,
  data: {},
  ...more,
})

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g')

/** Spans whose parents may be missing or form circles, and whose times need not fit. */
export const anySpans = fc
  .array(
    fc.record({
      id,
      parent: fc.option(id),
      start: fc.integer({ min: 0, max: 100 }),
      length: fc.integer({ min: 0, max: 100 }),
      isSegment: fc.boolean(),
      op: fc.constantFrom('http.client', 'http.server', 'queue.process', 'db'),
    }),
    { maxLength: 12 },
  )
  .map((given) =>
    given.map((one) =>
      aSpan(one.id, one.parent, one.start, one.start + one.length, { is_segment: one.isSegment, op: one.op }),
    ),
  )
