import { pathOfUrl, withoutParameters } from '../../events/protocol/span-origin.ts'
import { MIN_VALUES } from '../performance/coarsen.ts'
import type { StoredSpan } from './stored-span.ts'

/** Where the time of stored traces goes, and which queries, hosts, queues and caches it goes to. Pure. */

/** The spans of one stored request. */
export type StoredRequest = {
  readonly traceId: string
  readonly transaction: string
  readonly spans: readonly StoredSpan[]
}

export const OPERATIONS = ['queries', 'outgoing', 'queues', 'caches', 'resources'] as const
type OperationKind = (typeof OPERATIONS)[number]

/** The kind of an operation; null for code and everything else. */
export function operationKind({
  op,
  is_segment: isSegment,
}: Pick<StoredSpan, 'op' | 'is_segment'>): OperationKind | null {
  if (isSegment) return null
  if (op === 'cache' || op.startsWith('cache.')) return 'caches'
  if (op === 'db' || op.startsWith('db.') || op.startsWith('db_')) return 'queries'
  if (op === 'http.client' || op.startsWith('http.client.') || op === 'http') return 'outgoing'
  if (op === 'queue' || op.startsWith('queue.')) return 'queues'
  return op.startsWith('resource.') ? 'resources' : null
}

const MAX_NAME = 200
const UNKNOWN = '(unknown)'
/** Pages ask their own server without naming it. */
const SAME_ORIGIN = '(same origin)'

/** The name under which equal operations are added up: without literals, ids and parameters. */
export function operationName(
  kind: OperationKind,
  { description, data }: Pick<StoredSpan, 'description' | 'data'>,
): string {
  switch (kind) {
    case 'queries':
      return withoutLiterals(description) || UNKNOWN
    case 'outgoing':
      return hostOf(description, data) || UNKNOWN
    case 'queues':
      return (textOf(data, 'messaging.destination.name') ?? description).slice(0, MAX_NAME) || UNKNOWN
    case 'caches':
      return withoutParameters(description.replaceAll(':', '/')).replaceAll('/', ':').slice(0, MAX_NAME) || UNKNOWN
    default:
      return resourceOf(description) || UNKNOWN
  }
}

const textOf = (data: StoredSpan['data'], name: string): string | null => {
  const value = data[name]
  return typeof value === 'string' && value !== '' ? value : null
}

/** A statement without its values: `IN (1, 2)` and `IN (3)` are one query. */
export const withoutLiterals = (statement: string): string =>
  statement
    .replaceAll(/'(?:[^']|'')*'/g, '?')
    .replaceAll(/\$\d+|%s|(?<![\w.])[-+]?\d+(?:\.\d+)?\b/g, '?')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\(\s*\?(?:\s*,\s*\?)*\s*\)/g, '(?)')
    .trim()
    .slice(0, MAX_NAME)

/** The host of an outgoing request: from its address, else from its attributes. */
function hostOf(description: string, data: StoredSpan['data']): string {
  const address = [description, ...['url.full', 'http.url', 'url'].map((name) => textOf(data, name) ?? '')]
  for (const one of address) {
    const host = /https?:\/\/([^/?#\s@]+@)?([^/?#\s]+)/i.exec(one)?.[2]
    if (host !== undefined) return host.toLowerCase().slice(0, MAX_NAME)
  }
  const host = textOf(data, 'server.address') ?? textOf(data, 'net.host.name') ?? textOf(data, 'net.peer.name')
  if (host !== null) return host.toLowerCase().slice(0, MAX_NAME)
  return /^(?:[A-Z]+ )?\/(?!\/)/.test(description) ? SAME_ORIGIN : ''
}

/** A resource by its host and path, without query and hashes. */
function resourceOf(description: string): string {
  const host = /^https?:\/\/([^/?#]+)/i.exec(description)?.[1] ?? ''
  return `${host}${withoutParameters(pathOfUrl(description) ?? description)}`.slice(0, MAX_NAME)
}

export type Operation = {
  readonly name: string
  readonly op: string
  readonly count: number
  readonly traces: number
  /** Among the requests that have it. */
  readonly per_trace: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly total_ms: number
  readonly failures: number
  readonly hit_rate: number | null
  /** The transaction with most of its time. */
  readonly transaction: string
  readonly transactions: number
  /** The trace with its longest span. */
  readonly trace_id: string
}

const MAX_OPERATIONS = 20

/** The operations of each kind, by their time. */
export function rankOperations(requests: readonly StoredRequest[]): Record<OperationKind, Operation[]> {
  const found = new Map<string, { kind: OperationKind; name: string; uses: Use[] }>()
  for (const request of requests) {
    for (const span of request.spans) {
      const kind = operationKind(span)
      if (kind === null) continue
      const name = operationName(kind, span)
      const key = `${kind}\n${name}`
      const one = found.get(key) ?? { kind, name, uses: [] }
      one.uses.push({ span, request })
      found.set(key, one)
    }
  }
  const of = (kind: OperationKind): Operation[] =>
    [...found.values()]
      .filter((one) => one.kind === kind)
      .map(({ name, uses }) => operationOf(name, uses))
      .sort((a, b) => b.total_ms - a.total_ms || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_OPERATIONS)
  return {
    queries: of('queries'),
    outgoing: of('outgoing'),
    queues: of('queues'),
    caches: of('caches'),
    resources: of('resources'),
  }
}

type Use = { readonly span: StoredSpan; readonly request: StoredRequest }

const lengthOf = ({ span }: Use): number => span.end_ms - span.start_ms

function operationOf(name: string, uses: readonly Use[]): Operation {
  const lengths = uses.map(lengthOf).sort((a, b) => a - b)
  const callers = new Map<string, number>()
  for (const use of uses)
    callers.set(use.request.transaction, (callers.get(use.request.transaction) ?? 0) + lengthOf(use))
  const [top] = [...callers].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  const longest = uses.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a))
  const traces = new Set(uses.map(({ request }) => request.traceId)).size
  const hits = uses.flatMap(({ span }) => (typeof span.data['cache.hit'] === 'boolean' ? [span.data['cache.hit']] : []))
  return {
    name,
    op: longest.span.op,
    count: uses.length,
    traces,
    per_trace: uses.length / traces,
    p50_ms: percentileOf(lengths, 0.5),
    p95_ms: percentileOf(lengths, 0.95),
    total_ms: lengths.reduce((sum, one) => sum + one, 0),
    failures: uses.filter(({ span }) => span.status === 'error').length,
    hit_rate: hits.length === 0 ? null : hits.filter(Boolean).length / hits.length,
    transaction: top?.[0] ?? '',
    transactions: callers.size,
    trace_id: longest.request.traceId,
  }
}

/** Null for fewer values than a percentile needs. @param sorted ascending */
const percentileOf = (sorted: readonly number[], share: number): number | null =>
  sorted.length < MIN_VALUES ? null : (sorted[Math.ceil(share * sorted.length) - 1] ?? null)

/** Time of the spans of a kind without their children. */
export type TimePart = {
  readonly name: string
  readonly op: string
  readonly share: number
  /** Mean per request, also of those without such a span. */
  readonly ms_per_request: number
  readonly spans_per_request: number
}

const MAX_TIME_PARTS = 12
const OWN_CODE = 'Own code'
const REST = 'Everything else'

/** The own time of spans by what they do, largest first; the shares add up to 1. */
export function timeParts(requests: readonly StoredRequest[]): TimePart[] {
  const sums = new Map<string, { name: string; op: string; ms: number; spans: number }>()
  for (const { spans } of requests) {
    const own = selfTimes(spans)
    for (const [index, span] of spans.entries()) {
      const name = partName(span)
      const sum = sums.get(name) ?? { name, op: span.op, ms: 0, spans: 0 }
      sum.ms += own[index] ?? 0
      sum.spans++
      sums.set(name, sum)
    }
  }
  const all = [...sums.values()].sort((a, b) => b.ms - a.ms || (a.name < b.name ? -1 : 1))
  const rest = all.slice(MAX_TIME_PARTS)
  const shown = all.slice(0, MAX_TIME_PARTS)
  if (rest.length > 0)
    shown.push({
      name: REST,
      op: '',
      ms: rest.reduce((sum, one) => sum + one.ms, 0),
      spans: rest.reduce((sum, one) => sum + one.spans, 0),
    })
  const total = all.reduce((sum, { ms }) => sum + ms, 0)
  return shown.map(({ name, op, ms, spans }) => ({
    name,
    op,
    share: total === 0 ? 0 : ms / total,
    ms_per_request: ms / requests.length,
    spans_per_request: spans / requests.length,
  }))
}

const PART_NAMES = { queries: 'Database', queues: 'Queues', caches: 'Cache', resources: 'Resources' } as const

function partName(span: StoredSpan): string {
  if (span.is_segment) return OWN_CODE
  const kind = operationKind(span)
  if (kind === null) return span.op
  return kind === 'outgoing' ? operationName(kind, span) : PART_NAMES[kind]
}

/** The time of each span that none of its children covers, in ms. */
export function selfTimes(spans: readonly StoredSpan[]): number[] {
  const children = Map.groupBy(spans, ({ parent_span_id: parent }) => parent)
  return spans.map((span) => {
    let covered = 0
    let until = span.start_ms
    const inside = (children.get(span.span_id) ?? []).toSorted((a, b) => a.start_ms - b.start_ms)
    for (const child of inside) {
      const from = Math.max(child.start_ms, until)
      const to = Math.min(child.end_ms, span.end_ms)
      if (to > from) covered += to - from
      until = Math.max(until, to)
    }
    return Math.max(0, span.end_ms - span.start_ms - covered)
  })
}
