import type { ScrubRules } from '../../events/protocol/scrub.ts'
import { textAttribute, unwrapAttribute, type Span } from '../../events/protocol/span.ts'
import type { CountedSpans, Operations, TimePart } from './fact.ts'
import { operationKind, operationOp } from './operation-name.ts'
import type { SpanNames } from './span-names.ts'

/** The operations of a transaction's spans, and where its time goes. Pure, never throws. */

/** The name for the time of a transaction that no span covers. */
export const OWN_CODE = 'Own code'
const PART_NAMES = { queries: 'Database', queues: 'Queues', caches: 'Cache', resources: 'Resources' } as const
/** Parts of the time of one transaction. Further ones are counted under {@link REST}. */
const MAX_PARTS = 20
export const REST = 'Everything else'
const MAX_DEPTH = 1_000
/** Longer is no measurement; this also keeps sums finite. */
const MAX_MS = 1e12

type Context = { readonly scrubbing: ScrubRules; readonly names: SpanNames }

/**
 * Adds up the spans of a transaction.
 * @param spans as sent, the segment among them
 * @param segment null where it is not known; then nothing is said about the time
 * @param origin of the transaction, scrubbed
 */
export function countSpans(
  spans: readonly Span[],
  segment: Span | null,
  origin: { readonly transaction: string; readonly environment: string },
  { scrubbing, names }: Context,
): CountedSpans {
  const operations = new Map<string, Grown<Operations>>()
  // First: children end, and often arrive, before their segment, and may be more parts than are kept.
  const parts = new Map<string, number[]>(segment === null ? [] : [[OWN_CODE, []]])
  const own = segment === null ? [] : selfTimes(spans)
  for (const [index, span] of spans.entries()) {
    const ms = span.endMs - span.startMs
    if (ms > MAX_MS) continue
    let part = OWN_CODE
    if (span !== segment) {
      const sent = operationOp(span)
      const kind = operationKind(sent)
      const { op, name } = names.nameOf(sent, kind, span, scrubbing)
      if (kind !== null) addOperation(operations, { op, name }, span, ms)
      part = kind === null ? op : kind === 'outgoing' ? name : PART_NAMES[kind]
    }
    if (segment === null) continue
    const known = parts.get(part) ?? (parts.size < MAX_PARTS ? undefined : parts.get(REST))
    if (known === undefined) parts.set(parts.size < MAX_PARTS ? part : REST, [own[index] ?? 0])
    else known.push(own[index] ?? 0)
  }
  return {
    ...origin,
    operations: [...operations.values()],
    parts: [...parts].map(([name, ms]): TimePart => ({ name, ms })),
  }
}

type Grown<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] }

function addOperation(
  operations: Map<string, Grown<Operations>>,
  { op, name }: { readonly op: string; readonly name: string },
  { status, attributes }: Span,
  ms: number,
): void {
  const key = `${op}\n${name}`
  let one = operations.get(key)
  if (one === undefined) {
    one = { op, name, ms: [], failures: 0, hits: [] }
    operations.set(key, one)
  }
  one.ms.push(ms)
  if (status === 'error') one.failures++
  const hit = unwrapAttribute(attributes, 'cache.hit')
  if (typeof hit === 'boolean') one.hits.push(hit)
}

/** Spans of one trace by their segment; null for those whose segment is not among them. */
export function bySegment(spans: readonly Span[]): Map<Span | null, Span[]> {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const owners = new Map<Span, Span | null>()
  for (const span of spans) {
    const path: Span[] = []
    let at: Span | undefined = span
    while (at !== undefined && !at.isSegment && !owners.has(at) && path.length < MAX_DEPTH) {
      path.push(at)
      const segmentId: string | null = textAttribute(at.attributes, 'sentry.segment.id')
      const named: Span | undefined = segmentId === null ? undefined : byId.get(segmentId)
      at = named?.isSegment === true ? named : byId.get(at.parentSpanId ?? '')
    }
    const owner = at === undefined ? null : at.isSegment ? at : (owners.get(at) ?? null)
    for (const one of path) owners.set(one, owner)
    if (span.isSegment) owners.set(span, span)
  }
  const groups = new Map<Span | null, Span[]>()
  for (const span of spans) {
    const owner = owners.get(span) ?? null
    const group = groups.get(owner)
    if (group === undefined) groups.set(owner, [span])
    else group.push(span)
  }
  return groups
}

type Timed = Pick<Span, 'spanId' | 'parentSpanId' | 'startMs' | 'endMs'>

/** The time of each span that none of its children covers, in ms. */
export function selfTimes(spans: readonly Timed[]): number[] {
  const children = new Map<string, Timed[]>()
  for (const span of spans) {
    if (span.parentSpanId === null) continue
    const siblings = children.get(span.parentSpanId)
    if (siblings === undefined) children.set(span.parentSpanId, [span])
    else siblings.push(span)
  }
  for (const siblings of children.values()) siblings.sort((a, b) => a.startMs - b.startMs)
  return spans.map((span) => {
    const inside = children.get(span.spanId)
    // Spans with the same id share no children: reading them again for each would be quadratic.
    children.delete(span.spanId)
    const length = span.endMs - span.startMs
    if (inside === undefined) return length
    let covered = 0
    let until = span.startMs
    for (const child of inside) {
      const from = Math.max(child.startMs, until)
      const to = Math.min(child.endMs, span.endMs)
      if (to > from) covered += to - from
      until = Math.max(until, to)
    }
    return Math.max(0, length - covered)
  })
}
