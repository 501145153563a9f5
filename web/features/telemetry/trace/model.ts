import type { Trace, TraceSpan } from '../../../api/trace-queries.ts'

type TraceError = Trace['errors'][number]
type TraceLog = Trace['logs'][number]

/** A span in its trace. */
export type Node = {
  readonly span: TraceSpan
  readonly depth: number
  readonly parent: Node | null
  readonly children: Node[]
  /** Its parent was not received. */
  readonly isOrphan: boolean
  readonly isCritical: boolean
  /** It failed, or an error names it. */
  readonly hasError: boolean
  readonly errors: readonly TraceError[]
  readonly logs: readonly TraceLog[]
  /** How long its work waited in a queue after its caller had ended, ms. */
  readonly queuedMs: number
}

export type Row =
  | { readonly kind: 'span'; readonly key: string; readonly node: Node; readonly isOpen: boolean }
  | { readonly kind: 'fold'; readonly key: string; readonly fold: Fold; readonly depth: number }
  | { readonly kind: 'error'; readonly key: string; readonly error: TraceError; readonly depth: number }
  | { readonly kind: 'log'; readonly key: string; readonly log: TraceLog; readonly depth: number }
  | {
      readonly kind: 'silent'
      readonly key: string
      readonly project: Trace['silent_projects'][number]
      readonly depth: number
    }

/** Equal spans below one parent, shown as one row. */
export type Fold = {
  readonly nodes: readonly [Node, ...Node[]]
  readonly startMs: number
  readonly endMs: number
  /** The sum of their lengths. */
  readonly totalMs: number
  readonly isCritical: boolean
}

export type Tree = {
  readonly roots: readonly Node[]
  readonly silent: Trace['silent_projects']
  readonly nodes: ReadonlyMap<string, Node>
  /** Errors and log lines that name no span of the trace. */
  readonly loose: { readonly errors: readonly TraceError[]; readonly logs: readonly TraceLog[] }
}

/** Builds the tree of a trace. A span whose parents form a circle is a root. */
export function buildTree(trace: Pick<Trace, 'spans' | 'critical_path' | 'errors' | 'logs' | 'silent_projects'>): Tree {
  const known = new Set(trace.spans.map((span) => span.span_id))
  const children = Map.groupBy(trace.spans, ({ span_id: id, parent_span_id: parent }) =>
    parent !== null && known.has(parent) && parent !== id ? parent : null,
  )
  const critical = new Set(trace.critical_path.map((piece) => piece.span_id))
  const errors = Map.groupBy(trace.errors, (error) => error.span_id ?? '')
  const logs = Map.groupBy(trace.logs, (log) => log.span_id ?? '')
  const nodes = new Map<string, Node>()
  const roots: Node[] = []
  const place = (root: TraceSpan): void => {
    const due: { span: TraceSpan; parent: Node | null }[] = [{ span: root, parent: null }]
    for (let next = due.pop(); next !== undefined; next = due.pop()) {
      const { span, parent } = next
      const id = span.span_id
      if (nodes.has(id)) continue
      const own = errors.get(id) ?? []
      const gapMs = parent === null ? 0 : span.start_ms - parent.span.start_ms - parent.span.duration_ms
      const node: Node = {
        span,
        depth: parent === null ? 0 : parent.depth + 1,
        parent,
        children: [],
        isOrphan: parent === null && span.parent_span_id !== null,
        isCritical: critical.has(id),
        hasError: span.status === 'error' || own.length > 0,
        errors: own,
        logs: logs.get(id) ?? [],
        queuedMs: Math.max(0, gapMs),
      }
      nodes.set(id, node)
      if (parent === null) roots.push(node)
      else parent.children.push(node)
      due.push(...(children.get(id) ?? []).toReversed().map((child) => ({ span: child, parent: node })))
    }
  }
  for (const root of children.get(null) ?? []) place(root)
  for (const span of trace.spans) if (!nodes.has(span.span_id)) place(span)
  const isLoose = ({ span_id: id }: { readonly span_id: string | null }): boolean => id === null || !nodes.has(id)
  return {
    roots,
    silent: trace.silent_projects,
    nodes,
    loose: { errors: trace.errors.filter(isLoose), logs: trace.logs.filter(isLoose) },
  }
}

/** From this number of equal spans on they are one row. */
const FOLDED_FROM = 3

/** Whether a span may disappear in a fold: it has nothing of its own to show. */
const isPlain = ({ children, hasError, logs }: Node): boolean => children.length === 0 && !hasError && logs.length === 0

const likeness = ({ span }: Node): string => `${span.project_id}\n${span.op}\n${span.description}`

export type Shown = {
  /** Spans whose children are hidden. */
  readonly closed: ReadonlySet<string>
  /** Keys of folds that are opened. */
  readonly unfolded: ReadonlySet<string>
  readonly errors: boolean
  readonly logs: boolean
  /** Only rows with this text, and their callers. */
  readonly find: string
}

/**
 * The rows of the waterfall: each span below its caller, by start; equal spans without anything of their own are one row;
 * errors and log lines stand at their moment; projects that sent no spans come last. An error is never hidden in a fold.
 * Pure.
 */
export function waterfallRows(tree: Tree, shown: Shown): Row[] {
  const rows: Row[] = []
  const needle = shown.find.trim().toLowerCase()
  const wanted = needle === '' ? null : foundIn(tree, needle)
  const due: (Row & { node?: Node })[] = []
  const push = (parts: readonly Row[]): void => {
    due.push(...parts.toReversed())
  }
  push(rowsOf(tree.roots, [...tree.loose.errors], [...tree.loose.logs], 0, shown, wanted))
  for (let row = due.pop(); row !== undefined; row = due.pop()) {
    rows.push(row)
    if (row.kind !== 'span' || !row.isOpen) continue
    const { node } = row
    push(rowsOf(node.children, node.errors, node.logs, node.depth + 1, shown, wanted))
  }
  if (wanted === null)
    for (const project of tree.silent)
      rows.push({ kind: 'silent', key: `silent ${project.project_id}`, project, depth: 0 })
  return rows
}

/** The rows directly below a span, in the order of their times. */
function rowsOf(
  nodes: readonly Node[],
  errors: readonly TraceError[],
  logs: readonly TraceLog[],
  depth: number,
  shown: Shown,
  wanted: ReadonlySet<string> | null,
): Row[] {
  const visible = wanted === null ? nodes : nodes.filter(({ span }) => wanted.has(span.span_id))
  const timed: { atMs: number; row: Row }[] = []
  const folds = Map.groupBy(visible, (node) => (isPlain(node) ? likeness(node) : node.span.span_id))
  for (const [first, ...others] of folds.values()) {
    if (first === undefined) continue
    const key = `fold ${first.span.span_id}`
    if (others.length + 1 >= FOLDED_FROM) {
      timed.push({ atMs: first.span.start_ms, row: { kind: 'fold', key, fold: foldOf([first, ...others]), depth } })
      if (!shown.unfolded.has(key)) continue
    }
    for (const node of [first, ...others])
      timed.push({
        atMs: node.span.start_ms,
        row: {
          kind: 'span',
          key: node.span.span_id,
          node,
          isOpen: wanted !== null || !shown.closed.has(node.span.span_id),
        },
      })
  }
  if (shown.errors)
    for (const error of errors)
      timed.push({ atMs: error.at_ms, row: { kind: 'error', key: error.event_id, error, depth } })
  if (shown.logs && wanted === null)
    for (const log of logs) timed.push({ atMs: log.at_ms, row: { kind: 'log', key: log.id, log, depth } })
  return timed.sort((a, b) => a.atMs - b.atMs).map(({ row }) => row)
}

const foldOf = (nodes: readonly [Node, ...Node[]]): Fold => ({
  nodes,
  startMs: Math.min(...nodes.map(({ span }) => span.start_ms)),
  endMs: Math.max(...nodes.map(({ span }) => span.start_ms + span.duration_ms)),
  totalMs: nodes.reduce((sum, { span }) => sum + span.duration_ms, 0),
  isCritical: nodes.some((node) => node.isCritical),
})

/** Spans with a text in operation, description or attributes, and all of their callers. */
function foundIn({ nodes }: Tree, needle: string): Set<string> {
  const found = new Set<string>()
  for (const node of nodes.values()) {
    const { op, description, data } = node.span
    const texts = [op, description, ...Object.entries(data).map(([key, value]) => `${key} ${String(value)}`)]
    if (!texts.some((text) => text.toLowerCase().includes(needle))) continue
    for (let at: Node | null = node; at !== null && !found.has(at.span.span_id); at = at.parent)
      found.add(at.span.span_id)
  }
  return found
}

/** Above this number of spans, deep parts are closed at first. */
const CLOSED_FROM = 300
const OPEN_DEPTH = 2

/** Spans that are closed at first: in a large trace all deep ones that lead to no error and are not on the critical path. */
export function closedAtFirst({ nodes }: Tree): Set<string> {
  const closed = new Set<string>()
  if (nodes.size <= CLOSED_FROM) return closed
  const needed = new Set<Node>()
  for (const node of nodes.values())
    if (node.hasError || node.isCritical)
      for (let at = node.parent; at !== null && !needed.has(at); at = at.parent) needed.add(at)
  for (const node of nodes.values())
    if (node.depth >= OPEN_DEPTH && node.children.length > 0 && !needed.has(node)) closed.add(node.span.span_id)
  return closed
}

/** A share of the critical path: equal spans together. */
export type Share = { readonly span: TraceSpan; readonly ms: number; readonly share: number }

const SHARES = 3

/** The spans on the critical path that took the most time by themselves, and the rest. */
export function pathShares(
  trace: Pick<Trace, 'critical_path' | 'wait_ms'>,
  { nodes }: Tree,
): { top: Share[]; restMs: number } {
  const sums = new Map<string, { span: TraceSpan; ms: number }>()
  for (const piece of trace.critical_path) {
    const node = nodes.get(piece.span_id)
    if (node === undefined) continue
    const sum = sums.get(likeness(node)) ?? { span: node.span, ms: 0 }
    sum.ms += piece.duration_ms
    sums.set(likeness(node), sum)
  }
  const top = [...sums.values()]
    .sort((a, b) => b.ms - a.ms)
    .slice(0, SHARES)
    .map(({ span, ms }) => ({ span, ms, share: trace.wait_ms === 0 ? 0 : ms / trace.wait_ms }))
  return { top, restMs: Math.max(0, trace.wait_ms - top.reduce((sum, { ms }) => sum + ms, 0)) }
}

/** Time of a span that none of its children accounts for. */
export function ownTimeMs({ span, children }: Node): number {
  const endMs = span.start_ms + span.duration_ms
  let coveredTo = span.start_ms
  let own = 0
  for (const child of children.toSorted((a, b) => a.span.start_ms - b.span.start_ms)) {
    const fromMs = Math.min(endMs, Math.max(span.start_ms, child.span.start_ms))
    own += Math.max(0, fromMs - coveredTo)
    coveredTo = Math.max(coveredTo, Math.min(endMs, child.span.start_ms + child.span.duration_ms))
  }
  return own + Math.max(0, endMs - coveredTo)
}

/** Round times of an axis, at most about six. */
export function axisTicks(fromMs: number, toMs: number): number[] {
  const length = toMs - fromMs
  if (!(length > 0)) return [fromMs]
  const rough = length / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5].find((one) => one * power >= rough) ?? 10)
  const ticks: number[] = []
  for (let at = Math.ceil(fromMs / step) * step; at <= toMs; at += step) ticks.push(at)
  return ticks
}
