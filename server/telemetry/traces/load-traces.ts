import type { Connection } from '../../platform/storage/database.ts'
import { eachWithPauses } from '../../platform/kernel/thread-task.ts'
import { assembleTrace, type Assembled, type GivenPart } from './assemble-trace.ts'
import { selectParts } from './read.queries.ts'
import { decodeSpans } from './stored-span.ts'

/** Spans of a trace that are shown. */
const MAX_SHOWN = 10_000
/** Spans that are read for it, so that the segments of twenty full projects are among them. */
const MAX_READ = 20_000

export type LoadedTrace = Assembled & {
  /** When its first and its newest part arrived, and the UTC day of the first. */
  readonly received: Date
  readonly newest: Date
  readonly receivedDay: string
  /** 0 not decided yet, 1 the trace holds an error, 2 it is among the slowest. */
  readonly keep: number
  /** The projects of its parts. */
  readonly projectIds: readonly string[]
  /** Spans that arrived and are not among its spans. */
  readonly leftOut: number
}

/** Reads traces, at most 10,000 spans of each, segments first. Traces without a part are absent. */
export async function loadTraces(
  db: Connection,
  projectIds: readonly string[],
  traceIds: readonly string[],
): Promise<Map<string, LoadedTrace>> {
  const rows = await selectParts(db, projectIds, traceIds, MAX_READ)
  const loaded = new Map<string, LoadedTrace>()
  for (const [traceId, parts] of Map.groupBy(rows, (row) => row.traceId)) {
    const [first] = parts
    if (first === undefined) continue
    const given: GivenPart[] = []
    await eachWithPauses(parts, ({ projectId, receivedAt, spans }) =>
      given.push({ projectId, receivedMs: receivedAt.getTime(), spans: decodeSpans(spans) }),
    )
    const trace = cut(assembleTrace(given))
    const read = given.reduce((sum, { spans }) => sum + spans.length, 0)
    const received = parts.reduce((earliest, one) => (one.receivedAt < earliest.receivedAt ? one : earliest))
    loaded.set(traceId, {
      ...trace,
      received: received.receivedAt,
      newest: parts.reduce((latest, one) => (one.receivedAt > latest ? one.receivedAt : latest), received.receivedAt),
      receivedDay: received.receivedDay,
      projectIds: parts.map(({ projectId }) => projectId),
      keep: parts.find(({ keep }) => keep !== 0)?.keep ?? 0,
      leftOut: first.leftOut + (first.total - read) + Math.max(0, trace.all - trace.spans.length),
    })
  }
  return loaded
}

/** The last part that was read may pass the limit: segments and what comes first stay. */
function cut(trace: Assembled): Assembled & { readonly all: number } {
  const all = trace.spans.length
  if (all <= MAX_SHOWN) return { ...trace, all }
  const kept = new Set(
    trace.spans
      .toSorted((a, b) => Number(b.is_segment) - Number(a.is_segment))
      .slice(0, MAX_SHOWN)
      .map(({ span_id: id }) => id),
  )
  const spans = trace.spans
    .filter(({ span_id: id }) => kept.has(id))
    .map((span) => (span.parent === null || kept.has(span.parent) ? span : { ...span, parent: null }))
  return { ...trace, spans, all }
}
