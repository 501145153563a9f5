import type { PlacedSpan } from './assemble-trace.ts'

/** A piece of the time for which the caller of a trace waited, spent in one span and in none below it. */
type PathPiece = { readonly span: PlacedSpan; readonly fromMs: number; readonly toMs: number }

/** A span that the caller waits for may end so much after it, by clocks that differ. */
const SLACK_MS = 5

/**
 * The critical path of a trace: for each moment of its first span, the span that the end had to wait for. The pieces
 * follow each other and together last as long as the first span. Work that outlives its caller is not waited for. Pure.
 */
export function criticalPath(spans: readonly PlacedSpan[], root: PlacedSpan): PathPiece[] {
  const children = Map.groupBy(spans, ({ parent }) => parent)
  const pieces: PathPiece[] = []
  const add = (span: PlacedSpan, fromMs: number, toMs: number): void => {
    if (toMs > fromMs) pieces.push({ span, fromMs, toMs })
  }
  /** Spans whose time is read from its end: which children are left, and the moment that is reached. */
  const open: { span: PlacedSpan; left: PlacedSpan[]; fromMs: number; atMs: number }[] = []
  const enter = (span: PlacedSpan, fromMs: number, toMs: number): void => {
    const left = (children.get(span.span_id) ?? []).toSorted(
      (a, b) => a.end_ms - b.end_ms || a.start_ms - b.start_ms || (a.span_id < b.span_id ? -1 : 1),
    )
    open.push({ span, left, fromMs, atMs: toMs })
  }
  enter(root, root.start_ms, root.end_ms)
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const child = top.left.pop()
    if (child === undefined || top.atMs <= top.fromMs) {
      add(top.span, top.fromMs, top.atMs)
      open.pop()
      continue
    }
    // It outlives its caller, or starts after what already explains the time: it was not waited for.
    if (child.end_ms > top.span.end_ms + SLACK_MS || child.start_ms >= top.atMs) continue
    const toMs = Math.min(child.end_ms, top.atMs)
    const fromMs = Math.max(child.start_ms, top.fromMs)
    if (toMs <= fromMs) continue
    add(top.span, toMs, top.atMs)
    top.atMs = fromMs
    enter(child, fromMs, toMs)
  }
  return pieces.reverse()
}
