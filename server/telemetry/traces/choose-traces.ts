import { MAX_SPANS } from '../../events/protocol/span.ts'

/** Traces of a project that are kept per day; errors may use all that slow ones leave. */
export const MAX_TRACES_PER_DAY = 2_000
const MAX_SLOW_PER_DAY = 800
/** Number of the slowest traces that are kept for each transaction and hour. */
export const SLOWEST_PER_HOUR = 3

export type Because = 'error' | 'slow'

/** A part that is not decided yet. */
export type DuePart = {
  readonly projectId: string
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
  readonly projectId: string
  readonly traceId: string
  readonly name: string
  readonly op: string
  readonly durationMs: number
  readonly hour: number
}

export type KeptTrace = {
  readonly because: Because
  /** The project in whose limit it counts. */
  readonly projectId: string
  /** Number of spans by project. */
  readonly spans: ReadonlyMap<string, number>
}

export type DayCounts = Readonly<Record<Because, number>>

/** Data that is known about one organisation. */
export type Known = {
  /** Kept traces among those of the due parts and the slow ones. */
  readonly kept: ReadonlyMap<string, KeptTrace>
  /** Among the due and the slow traces, those with an error, and its project. */
  readonly withError: ReadonlyMap<string, string>
  /** Segments of the slow traces of the hours of the due parts. */
  readonly slow: readonly SlowSegment[]
  /** Traces kept today, by project. */
  readonly today: ReadonlyMap<string, DayCounts>
}

type PartKey = { readonly projectId: string; readonly traceId: string; readonly part: number }

export type Choice = {
  readonly keep: readonly {
    readonly traceId: string
    readonly because: Because
    /** The project in whose limit it counts. */
    readonly projectId: string
    readonly parts: readonly PartKey[]
  }[]
  /** Parts to delete. */
  readonly drop: readonly PartKey[]
  /** Slow traces that slower ones replaced. */
  readonly evict: readonly string[]
  /** Change of the day's counts, by project. */
  readonly added: ReadonlyMap<string, DayCounts>
}

/**
 * Decides which traces of one organisation are kept, each as a whole across projects: those that hold an error in any
 * project, then those with one of the slowest segments of its project, name and hour. Of each trace at most 1,000 spans
 * per project. The order of the parts does not matter. Pure.
 */
export function chooseTraces(due: readonly DuePart[], known: Known): Choice {
  const traces = Map.groupBy(due, ({ traceId }) => traceId)
  const counts = countsOf(known.today)
  const verdicts = new Map<string, { because: Because; projectId: string }>()
  for (const traceId of [...traces.keys()].sort()) {
    const before = known.kept.get(traceId)
    if (before !== undefined) verdicts.set(traceId, before)
    const errorIn = known.withError.get(traceId)
    if (errorIn === undefined || before?.because === 'error') continue
    const projectId = before?.projectId ?? errorIn
    if (before?.because === 'slow') counts.add(projectId, 'slow', -1)
    else if (counts.total(projectId) >= MAX_TRACES_PER_DAY) continue
    verdicts.set(traceId, { because: 'error', projectId })
    counts.add(projectId, 'error', 1)
  }
  const slowest = rank(due, known)
  const evict = [...new Set(known.slow.map(({ traceId }) => traceId))].filter(
    (traceId) => !slowest.has(traceId) && !verdicts.has(traceId) && !known.withError.has(traceId),
  )
  for (const traceId of evict) {
    const projectId = known.kept.get(traceId)?.projectId ?? known.slow.find((one) => one.traceId === traceId)?.projectId
    if (projectId !== undefined) counts.add(projectId, 'slow', -1)
  }
  for (const [traceId, projectId] of slowest) {
    if (!traces.has(traceId) || verdicts.has(traceId)) continue
    if (counts.of(projectId).slow >= MAX_SLOW_PER_DAY || counts.total(projectId) >= MAX_TRACES_PER_DAY) continue
    verdicts.set(traceId, { because: 'slow', projectId })
    counts.add(projectId, 'slow', 1)
  }
  const keep: { traceId: string; because: Because; projectId: string; parts: PartKey[] }[] = []
  const drop: PartKey[] = []
  for (const [traceId, parts] of traces) {
    const verdict = verdicts.get(traceId)
    const spans = new Map(known.kept.get(traceId)?.spans)
    const fitting: PartKey[] = []
    for (const { projectId, part, spanCount } of parts.toSorted(segmentsFirst)) {
      const total = (spans.get(projectId) ?? 0) + spanCount
      if (verdict === undefined || total > MAX_SPANS) drop.push({ projectId, traceId, part })
      else {
        fitting.push({ projectId, traceId, part })
        spans.set(projectId, total)
      }
    }
    if (verdict !== undefined && fitting.length > 0)
      keep.push({ traceId, because: verdict.because, projectId: verdict.projectId, parts: fitting })
  }
  return { keep, drop, evict, added: counts.added() }
}

const segmentsFirst = (a: DuePart, b: DuePart): number =>
  Number(b.segment !== null) - Number(a.segment !== null) || a.part - b.part || (a.projectId < b.projectId ? -1 : 1)

/** Counts of the day that change while traces are chosen. */
function countsOf(today: Known['today']) {
  const added = new Map<string, { error: number; slow: number }>()
  const of = (projectId: string): DayCounts => {
    const before = today.get(projectId)
    const more = added.get(projectId)
    return { error: (before?.error ?? 0) + (more?.error ?? 0), slow: (before?.slow ?? 0) + (more?.slow ?? 0) }
  }
  return {
    of,
    total: (projectId: string): number => of(projectId).error + of(projectId).slow,
    add(projectId: string, because: Because, by: number): void {
      const more = added.get(projectId) ?? { error: 0, slow: 0 }
      more[because] += by
      added.set(projectId, more)
    },
    added: (): Choice['added'] => added,
  }
}

/** Traces with one of the slowest segments of its project, name, op and hour, slowest first, each with that project. */
function rank(due: readonly DuePart[], known: Known): Map<string, string> {
  const candidates: SlowSegment[] = [...known.slow]
  for (const { projectId, traceId, segment, hour } of due)
    if (segment !== null && !known.withError.has(traceId) && known.kept.get(traceId)?.because !== 'error')
      candidates.push({ projectId, traceId, ...segment, hour })
  const groups = Map.groupBy(candidates, ({ projectId, name, op, hour }) => `${projectId}\n${hour}\n${op}\n${name}`)
  const chosen = [...groups.values()].flatMap((group) => {
    const longest = new Map<string, SlowSegment>()
    for (const one of group.toSorted(slowestFirst)) if (!longest.has(one.traceId)) longest.set(one.traceId, one)
    return [...longest.values()].slice(0, SLOWEST_PER_HOUR)
  })
  const projects = new Map<string, string>()
  for (const { traceId, projectId } of chosen.sort(slowestFirst))
    if (!projects.has(traceId)) projects.set(traceId, projectId)
  return projects
}

const slowestFirst = (a: SlowSegment, b: SlowSegment): number =>
  b.durationMs - a.durationMs ||
  (a.traceId < b.traceId ? -1 : a.traceId > b.traceId ? 1 : a.projectId < b.projectId ? -1 : 1)
