import { DDSketch } from '../sketch/ddsketch.ts'
import { MIN_VALUES } from '#shared/rate-words.ts'
import { ratio } from './figures.ts'
import { OWN_CODE, REST } from './measure-spans.ts'
import { operationKind, type OperationKind } from './operation-name.ts'
import type { MeasuredSpans } from './read.queries.ts'
import { OTHER } from './series.ts'

/** Which queries, hosts, queues, caches and resources take time, and where the time of a transaction goes. Pure. */

export type Operation = {
  readonly name: string
  readonly op: string
  readonly count: number
  /** Spans for each request of the transactions that have it; null where these are not known. */
  readonly per_request: number | null
  readonly p50_ms: number | null
  readonly p75_ms: number | null
  readonly p95_ms: number | null
  readonly total_ms: number
  readonly failures: number
  readonly hit_rate: number | null
  /** The transaction with most of its time; null where it is not known. */
  readonly transaction: string | null
  readonly transactions: number
}

const MAX_OPERATIONS = 20

/**
 * The operations of each kind, by their time.
 * @param requests of each transaction
 */
export function rankOperations(
  rows: readonly MeasuredSpans[],
  requests: ReadonlyMap<string, number>,
): Record<OperationKind, Operation[]> {
  const groups = Map.groupBy(rows, ({ op, span }) => `${op}\n${span}`)
  const of = (kind: OperationKind): Operation[] =>
    [...groups.values()]
      .filter(([first]) => first !== undefined && operationKind(first.op) === kind)
      .map((group) => ({ group, ms: totalOf(group.filter(isSpan)) }))
      .sort((a, b) => b.ms - a.ms || ((a.group[0]?.span ?? '') < (b.group[0]?.span ?? '') ? -1 : 1))
      .slice(0, MAX_OPERATIONS)
      .map(({ group }) => operationOf(group, requests))
  return {
    queries: of('queries'),
    outgoing: of('outgoing'),
    queues: of('queues'),
    caches: of('caches'),
    resources: of('resources'),
  }
}

const isSpan = ({ metric }: MeasuredSpans): boolean => metric === 'span'
const totalOf = (rows: readonly MeasuredSpans[]): number => rows.reduce((sum, { sketch }) => sum + sketch.sum, 0)
const isNamed = ({ transaction }: MeasuredSpans): boolean => transaction !== '' && transaction !== OTHER

function operationOf(group: readonly MeasuredSpans[], requests: ReadonlyMap<string, number>): Operation {
  const spans = group.filter(isSpan)
  const all = new DDSketch()
  for (const { sketch } of spans) all.merge(sketch)
  const [p50 = null, p75 = null, p95 = null] = all.count < MIN_VALUES ? [] : all.quantiles([0.5, 0.75, 0.95])
  const callers = spans.filter(isNamed).sort((a, b) => b.sketch.sum - a.sketch.sum)
  const counted = callers.filter(({ transaction }) => requests.has(transaction))
  const hits = group.filter(({ metric }) => metric === 'cache_hit')
  const [first] = group
  return {
    name: first?.span ?? '',
    op: first?.op ?? '',
    count: all.count,
    per_request: ratio(
      counted.reduce((sum, { sketch }) => sum + sketch.count, 0),
      counted.reduce((sum, { transaction }) => sum + (requests.get(transaction) ?? 0), 0),
    ),
    p50_ms: p50,
    p75_ms: p75,
    p95_ms: p95,
    total_ms: all.sum,
    failures: spans.reduce((sum, { failures }) => sum + failures, 0),
    hit_rate: ratio(
      totalOf(hits),
      hits.reduce((sum, { sketch }) => sum + sketch.count, 0),
    ),
    transaction: callers[0]?.transaction ?? null,
    transactions: callers.length,
  }
}

/** Time of the spans of a kind without their children. */
export type TimeShare = {
  readonly name: string
  readonly share: number
  /** Mean per request, also of those without such a span. */
  readonly ms_per_request: number
  readonly spans_per_request: number
}

const MAX_SHARES = 12

/** The parts of a transaction's time, largest first; the shares add up to 1. */
export function timeShares(rows: readonly MeasuredSpans[]): TimeShare[] {
  // Every transaction has one span of its own.
  const requests = rows.find(({ span }) => span === OWN_CODE)?.sketch.count ?? 0
  const all = rows
    .map(({ span, sketch }) => ({ name: span, ms: sketch.sum, spans: sketch.count }))
    .sort((a, b) => b.ms - a.ms || (a.name < b.name ? -1 : 1))
  const shown = all.filter(({ name }) => name !== REST).slice(0, MAX_SHARES)
  const rest = all.filter((one) => !shown.includes(one))
  if (rest.length > 0)
    shown.push({
      name: REST,
      ms: rest.reduce((sum, { ms }) => sum + ms, 0),
      spans: rest.reduce((sum, { spans }) => sum + spans, 0),
    })
  const total = all.reduce((sum, { ms }) => sum + ms, 0)
  return shown.map(({ name, ms, spans }) => ({
    name,
    share: ratio(ms, total) ?? 0,
    ms_per_request: ratio(ms, requests) ?? 0,
    spans_per_request: ratio(spans, requests) ?? 0,
  }))
}
