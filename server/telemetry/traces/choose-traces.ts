import { MAX_SPANS } from '../../events/protocol/span.ts'

/** Traces of a project that are kept per day; errors may use all that slow ones leave. */
export const MAX_TRACES_PER_DAY = 2_000
const MAX_SLOW_PER_DAY = 800
/** Number of the slowest traces that are kept for each transaction and hour. */
export const SLOWEST_PER_HOUR = 3

export type Because = 'error' | 'slow'

/** A part that is not decided yet. */
export type DuePart = {
  readonly traceId: string
  readonly part: number
  /** Null without a segment. */
  readonly segment: { readonly name: string; readonly op: string; readonly durationMs: number } | null
  readonly spanCount: number
  /** Start of the hour of receipt, ms. */
  readonly hour: number
}

/** A segment of a trace that is kept because it is slow. */
export type SlowSegment = {
  readonly traceId: string
  readonly name: string
  readonly op: string
  readonly durationMs: number
  readonly hour: number
}

/** Data that is known about one project. */
export type Known = {
  /** Kept traces among those of the due parts, with their numbers of spans. */
  readonly kept: ReadonlyMap<string, { readonly because: Because; readonly spans: number }>
  /** Traces with an error, among the due and the slow traces. */
  readonly withError: ReadonlySet<string>
  /** The slow traces of the hours of the due parts. */
  readonly slow: readonly SlowSegment[]
  /** Traces kept today. */
  readonly today: Readonly<Record<Because, number>>
}

export type Choice = {
  readonly keep: readonly { readonly traceId: string; readonly because: Because; readonly parts: readonly number[] }[]
  /** Parts to delete. */
  readonly drop: readonly { readonly traceId: string; readonly part: number }[]
  /** Slow traces that slower ones replaced. */
  readonly evict: readonly string[]
  /** Change of the day's counts. */
  readonly added: Readonly<Record<Because, number>>
}

/**
 * Decides which traces of one project are kept: those that hold an error, then those with one of the slowest segments of
 * its name and hour. Of each trace at most 1,000 spans. Pure.
 */
export function chooseTraces(due: readonly DuePart[], known: Known): Choice {
  const traces = Map.groupBy(due, ({ traceId }) => traceId)
  const verdicts = new Map<string, Because>()
  const added = { error: 0, slow: 0 }
  for (const traceId of traces.keys()) {
    const before = known.kept.get(traceId)?.because
    if (before !== undefined) verdicts.set(traceId, before)
    if (!known.withError.has(traceId) || before === 'error') continue
    if (before === 'slow') added.slow--
    else if (total(known, added) >= MAX_TRACES_PER_DAY) continue
    verdicts.set(traceId, 'error')
    added.error++
  }
  const slowest = rank(due, known)
  const evict = [...new Set(known.slow.map(({ traceId }) => traceId))].filter(
    (traceId) => !slowest.has(traceId) && !verdicts.has(traceId) && !known.withError.has(traceId),
  )
  added.slow -= evict.length
  for (const traceId of slowest) {
    if (!traces.has(traceId) || verdicts.has(traceId)) continue
    if (known.today.slow + added.slow >= MAX_SLOW_PER_DAY || total(known, added) >= MAX_TRACES_PER_DAY) break
    verdicts.set(traceId, 'slow')
    added.slow++
  }
  const keep: { traceId: string; because: Because; parts: number[] }[] = []
  const drop: { traceId: string; part: number }[] = []
  for (const [traceId, parts] of traces) {
    const because = verdicts.get(traceId)
    let spans = known.kept.get(traceId)?.spans ?? 0
    const fitting: number[] = []
    for (const { part, spanCount } of parts.toSorted(
      (a, b) => Number(b.segment !== null) - Number(a.segment !== null),
    )) {
      if (because === undefined || spans + spanCount > MAX_SPANS) drop.push({ traceId, part })
      else {
        fitting.push(part)
        spans += spanCount
      }
    }
    if (because !== undefined && fitting.length > 0) keep.push({ traceId, because, parts: fitting })
  }
  return { keep, drop, evict, added }
}

const total = ({ today }: Known, added: Readonly<Record<Because, number>>): number =>
  today.error + today.slow + added.error + added.slow

/** Traces with one of the slowest segments of its name, op and hour, slowest first. */
function rank(due: readonly DuePart[], known: Known): Set<string> {
  const candidates: SlowSegment[] = [...known.slow]
  for (const { traceId, segment, hour } of due)
    if (segment !== null && !known.withError.has(traceId) && known.kept.get(traceId)?.because !== 'error')
      candidates.push({ traceId, ...segment, hour })
  const groups = Map.groupBy(candidates, ({ name, op, hour }) => `${hour}\n${op}\n${name}`)
  const chosen = [...groups.values()].flatMap((group) => {
    const longest = new Map<string, SlowSegment>()
    for (const one of group.toSorted(slowestFirst)) if (!longest.has(one.traceId)) longest.set(one.traceId, one)
    return [...longest.values()].slice(0, SLOWEST_PER_HOUR)
  })
  return new Set(chosen.sort(slowestFirst).map(({ traceId }) => traceId))
}

const slowestFirst = (a: SlowSegment, b: SlowSegment): number =>
  b.durationMs - a.durationMs || (a.traceId < b.traceId ? -1 : a.traceId > b.traceId ? 1 : 0)
