import type { TraceSpan } from '../../../api/trace-queries.ts'

/** A row of the waterfall. */
export type Row = {
  readonly span: TraceSpan
  /** 0 for spans without a known parent. */
  readonly depth: number
  /** Place and length of the bar, as shares of the trace. */
  readonly start: number
  readonly length: number
  /** Its parent is not among the spans: another service sent it, or it was not kept. */
  readonly isOrphan: boolean
}

/** A bar of a short span stays visible. */
const MIN_LENGTH = 0.002

/**
 * The rows of a waterfall: each span below its parent, spans of one parent by start. A span whose parents form a circle
 * is a root.
 */
export function waterfallRows(spans: readonly TraceSpan[], durationMs: number): Row[] {
  const known = new Set(spans.map(({ span_id: id }) => id))
  const children = new Map<string | null, TraceSpan[]>()
  for (const span of spans) {
    const parent = span.parent_span_id
    const key = parent !== null && known.has(parent) && parent !== span.span_id ? parent : null
    children.set(key, [...(children.get(key) ?? []), span])
  }
  const rows: Row[] = []
  const placed = new Set<string>()
  const totalMs = Math.max(durationMs, Number.MIN_VALUE)
  const place = (root: TraceSpan): void => {
    const due: { span: TraceSpan; depth: number }[] = [{ span: root, depth: 0 }]
    for (let next = due.pop(); next !== undefined; next = due.pop()) {
      const { span, depth } = next
      if (placed.has(span.span_id)) continue
      placed.add(span.span_id)
      const start = Math.min(1 - MIN_LENGTH, span.start_ms / totalMs)
      rows.push({
        span,
        depth,
        start,
        length: Math.min(1 - start, Math.max(MIN_LENGTH, span.duration_ms / totalMs)),
        isOrphan: depth === 0 && span.parent_span_id !== null,
      })
      const below = children.get(span.span_id) ?? []
      due.push(...below.toReversed().map((child) => ({ span: child, depth: depth + 1 })))
    }
  }
  for (const root of children.get(null) ?? []) place(root)
  for (const span of spans) if (!placed.has(span.span_id)) place(span)
  return rows
}

/** Times below the waterfall's head: the shares of the trace at which it has a line. */
export const TICKS = [0, 0.25, 0.5, 0.75, 1] as const
