import type { StoredSpan } from './stored-span.ts'

/** A part as it was received. */
export type GivenPart = {
  readonly projectId: string
  readonly receivedMs: number
  readonly spans: readonly StoredSpan[]
}

/** A span of the whole trace, with times by corrected clocks. */
export type PlacedSpan = StoredSpan & {
  readonly projectId: string
  /** Null for a root, also where the parent was not received or the parents form a circle. */
  readonly parent: string | null
}

export type Assembled = {
  /** By start, each id once. */
  readonly spans: readonly PlacedSpan[]
  /** The first span of the trace; null without spans. */
  readonly root: PlacedSpan | null
  readonly startMs: number
  readonly endMs: number
  /** By how much the clock of a project was corrected, in ms; only where it was. */
  readonly shifts: ReadonlyMap<string, number>
}

/** Spans of one clock: of one project, connected by parents. */
type Domain = {
  readonly root: Loose
  readonly spans: Loose[]
  /** The span of another domain that called it. */
  readonly caller: Loose | null
  readonly callees: Domain[]
  receivedMs: number
  endMs: number
  shiftMs: number
}
type Loose = {
  readonly span: StoredSpan
  readonly projectId: string
  readonly receivedMs: number
  domain: Domain | null
}

/** A trace cannot be received before it ends, except by so much between two exact clocks. */
const AHEAD_MS = 5_000
/** Spans that waited longer on a device, or whose clock is behind. */
const LATE_MS = 10 * 60_000
/** Two clocks differ by more than what a network and two exact clocks explain. */
const APART_MS = 60_000

/**
 * Puts the parts of a trace together, whatever the projects, clocks and order they came from: each span once, below the
 * span that called it, and at the time at which it can have been. A project whose clock is impossible is moved as a whole:
 * a call lies within its caller, nothing starts before its caller, nothing ends after its receipt. Pure, never throws.
 */
export function assembleTrace(parts: readonly GivenPart[]): Assembled {
  const all = uniqueSpans(parts)
  const parents = parentsOf(all)
  const domains = domainsOf(all, parents)
  for (const domain of domains) domain.shiftMs = domain.caller === null ? shiftOfFirst(domain) : shiftOfCallee(domain)
  const spans = [...all.values()]
    .map(({ span, projectId, domain }): PlacedSpan => {
      const shiftMs = domain?.shiftMs ?? 0
      const times = { start_ms: span.start_ms + shiftMs, end_ms: span.end_ms + shiftMs }
      return { ...span, ...times, projectId, parent: parents.get(span.span_id) ?? null }
    })
    .sort(byStart)
  const startMs = spans[0]?.start_ms ?? 0
  return {
    spans,
    root: rootOf(spans),
    startMs,
    endMs: spans.reduce((latest, span) => Math.max(latest, span.end_ms), startMs),
    shifts: shiftsOf(domains),
  }
}

const byStart = (a: PlacedSpan, b: PlacedSpan): number =>
  a.start_ms - b.start_ms ||
  Number(b.is_segment) - Number(a.is_segment) ||
  b.end_ms - a.end_ms ||
  (a.span_id < b.span_id ? -1 : 1)

/** A span may arrive twice: in a transaction, and again as a segment. The order of the parts does not matter. */
function uniqueSpans(parts: readonly GivenPart[]): Map<string, Loose> {
  const all = new Map<string, Loose>()
  for (const { projectId, receivedMs, spans } of parts) {
    for (const span of spans) {
      const before = all.get(span.span_id)
      const loose = { span, projectId, receivedMs, domain: null }
      if (before === undefined || isBetter(loose, before)) all.set(span.span_id, loose)
    }
  }
  return all
}

const isBetter = (a: Loose, b: Loose): boolean =>
  a.span.is_segment === b.span.is_segment
    ? a.receivedMs < b.receivedMs || (a.receivedMs === b.receivedMs && a.projectId < b.projectId)
    : a.span.is_segment

/** The parent of each span that has a known one. A circle is cut above its earliest span. */
function parentsOf(all: ReadonlyMap<string, Loose>): Map<string, string> {
  const parents = new Map<string, string>()
  for (const [id, { span }] of all) {
    const parent = span.parent_span_id
    if (parent !== null && parent !== id && all.has(parent)) parents.set(id, parent)
  }
  const checked = new Set<string>()
  for (const from of all.keys()) {
    const way: string[] = []
    const onWay = new Set<string>()
    let at: string | undefined = from
    while (at !== undefined && !checked.has(at) && !onWay.has(at)) {
      way.push(at)
      onWay.add(at)
      at = parents.get(at)
    }
    if (at !== undefined && onWay.has(at)) {
      const circle = way.slice(way.indexOf(at))
      const startOf = (id: string): number => all.get(id)?.span.start_ms ?? 0
      parents.delete(circle.reduce((first, id) => (startOf(id) < startOf(first) ? id : first)))
    }
    for (const id of way) checked.add(id)
  }
  return parents
}

/** Domains, each after the domain that called it. */
function domainsOf(all: ReadonlyMap<string, Loose>, parents: ReadonlyMap<string, string>): Domain[] {
  const children = new Map<string, Loose[]>()
  const due: { loose: Loose; parent: Loose | null }[] = []
  for (const [id, loose] of all) {
    const parent = parents.get(id)
    if (parent === undefined) due.push({ loose, parent: null })
    else {
      const list = children.get(parent)
      if (list === undefined) children.set(parent, [loose])
      else list.push(loose)
    }
  }
  const domains: Domain[] = []
  for (const { loose, parent } of due) {
    const { span, projectId, receivedMs } = loose
    let domain = parent?.projectId === projectId ? (parent.domain ?? null) : null
    if (domain === null) {
      domain = { root: loose, spans: [], caller: parent, callees: [], receivedMs, endMs: span.end_ms, shiftMs: 0 }
      domains.push(domain)
      parent?.domain?.callees.push(domain)
    }
    loose.domain = domain
    domain.spans.push(loose)
    domain.receivedMs = Math.max(domain.receivedMs, receivedMs)
    domain.endMs = Math.max(domain.endMs, span.end_ms)
    for (const child of children.get(span.span_id) ?? []) due.push({ loose: child, parent: loose })
  }
  return domains
}

const lagOf = ({ receivedMs, endMs }: Domain): number => receivedMs - endMs

/** The first domain of a trace has the time of its receipt, and the clocks of those that it calls. */
function shiftOfFirst(domain: Domain): number {
  const lag = lagOf(domain)
  if (lag < -AHEAD_MS) return lag
  if (lag < LATE_MS) return 0
  // Late: it waited to be sent, or its clock is behind. Services that it called know which.
  const exact = domain.callees.find(
    (callee) => isCall(callee) && lagOf(callee) > -AHEAD_MS && lagOf(callee) < LATE_MS && callee.caller !== null,
  )
  if (exact === undefined || exact.caller === null) return 0
  const wanted = placeWithin(exact.root.span, exact.caller.span, 0)
  const apart = exact.root.span.start_ms - wanted
  return Math.abs(apart) > APART_MS ? apart : 0
}

/** So that a call lies within its caller, and work that it leaves behind does not start before. */
function shiftOfCallee(domain: Domain): number {
  const { caller, root } = domain
  if (caller === null) return 0
  const parentShiftMs = caller.domain?.shiftMs ?? 0
  const startMs = caller.span.start_ms + parentShiftMs
  const endMs = caller.span.end_ms + parentShiftMs
  const { start_ms: ownStartMs, end_ms: ownEndMs } = root.span
  const fits =
    ownStartMs >= startMs &&
    (!isCall(domain) || (ownStartMs <= endMs && (ownEndMs <= endMs || ownEndMs - ownStartMs > endMs - startMs)))
  if (!fits) return placeWithin(root.span, caller.span, parentShiftMs) - ownStartMs
  const lag = lagOf(domain)
  return lag < -AHEAD_MS ? Math.max(lag, startMs - ownStartMs) : 0
}

/** Where a call starts, if it lies in the middle of its caller; a longer one starts with it. */
function placeWithin(span: StoredSpan, caller: StoredSpan, callerShiftMs: number): number {
  const spareMs = caller.end_ms - caller.start_ms - (span.end_ms - span.start_ms)
  return caller.start_ms + callerShiftMs + Math.max(0, spareMs / 2)
}

/** A call that its caller waits for; a job of a queue may start later. */
const isCall = ({ root, caller }: Domain): boolean =>
  SERVER.test(root.span.op) || (caller !== null && CLIENT.test(caller.span.op) && !JOB.test(root.span.op))
const SERVER = /^(?:http\.server|rpc|grpc|graphql)/
const CLIENT = /^(?:http\.client|rpc|grpc)/
const JOB = /^(?:queue|task|job|messaging|celery)/

/** The first span that was called by none, rather than one whose caller was not received; segments first. */
function rootOf(spans: readonly PlacedSpan[]): PlacedSpan | null {
  const roots = spans.filter(({ parent }) => parent === null)
  const rank = ({ parent_span_id: parent, is_segment: isSegment }: PlacedSpan): number =>
    (parent === null ? 0 : 2) + (isSegment ? 0 : 1)
  return roots.reduce<PlacedSpan | null>((best, one) => (best === null || rank(one) < rank(best) ? one : best), null)
}

/** The largest correction of each project. */
function shiftsOf(domains: readonly Domain[]): Map<string, number> {
  const shifts = new Map<string, number>()
  for (const { root, shiftMs } of domains)
    if (Math.abs(shiftMs) >= 1 && Math.abs(shiftMs) > Math.abs(shifts.get(root.projectId) ?? 0))
      shifts.set(root.projectId, shiftMs)
  return shifts
}
