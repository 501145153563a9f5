import { filteredTransaction, type FilterReason } from '../filters/compile-filters.ts'
import type { PerformanceFact } from '../../telemetry/performance/fact.ts'
import {
  measureSpan,
  measureSpansOfTrace,
  measureTransaction,
  type MeasureContext,
} from '../../telemetry/performance/measure.ts'
import { isEntryTooLarge, parseEntries, readContainer } from '../../events/protocol/container.ts'
import { MAX_EVENT_BYTES } from '../../events/protocol/decode-store.ts'
import { readDevice, UNKNOWN_DEVICE } from '../../events/protocol/device.ts'
import { isList, isRecord, textField } from '../../events/protocol/json.ts'
import { Notes } from '../../events/protocol/strings.ts'
import { scrubEvent } from '../../events/protocol/scrub.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { isErased } from './project-facts.ts'
import { isWebVital } from '../../events/protocol/span-values.ts'
import { MAX_NODES } from '../../events/protocol/json-guard.ts'
import { requestUserAgent, spansOfTransaction } from '../../events/protocol/transaction.ts'
import {
  unwrapAttribute,
  MAX_SPAN_BYTES,
  readOldSpan,
  readSpan,
  textAttribute,
  type InvalidSpan,
  type Span,
  readTraceId,
} from '../../events/protocol/span.ts'
import { buildTracePart } from '../../telemetry/traces/trace-part.ts'
import type { Counted } from '../../events/items/recorder.ts'
import { itemsOfSignals, signalsOfTransaction } from './prepare-event.ts'
import type { ItemInput, PreparedItem, Preparer } from './item.ts'

const TRANSACTION: Counted = { category: 'transaction', quantity: 1 }
const V2 = 'application/vnd.sentry.items.span.v2+json'

/** A `transaction` item (docs/protocol.md §10.1). */
export const prepareTransaction: Preparer = (input) => {
  const { decoded, item } = input
  const invalid = (reason: string): PreparedItem[] => [{ ...TRANSACTION, outcome: 'invalid', reason }]
  if (item.end - item.start > MAX_EVENT_BYTES) return invalid('too_large')
  const parsed = parseEntries(decoded, item.start, item.end, MAX_NODES)
  if ('invalid' in parsed) return invalid(parsed.invalid)
  if (!isRecord(parsed.value)) return invalid('not_an_object')
  const measured = measureTransaction(parsed.value, input.eventId, contextOf(input))
  if ('invalid' in measured) return invalid(measured.invalid)
  const fact = withoutErased(input, measured)
  const request = isRecord(parsed.value['request']) ? parsed.value['request'] : {}
  const unwanted = filterReason(input, fact, { url: request['url'], userAgent: requestUserAgent(request) })
  if (unwanted !== null) return [{ ...TRANSACTION, outcome: 'filtered', reason: unwanted }]
  const signals = signalsOfTransaction(input, parsed.value, fact)
  return [
    { ...TRANSACTION, kind: 'performance', fact },
    ...itemsOfSignals(TRANSACTION.category, signals),
    traceOfTransaction(input, parsed.value, fact),
    ...deviceOfTransaction(input, parsed.value),
  ]
}

/** A transaction of an erased user is counted without the user. */
function withoutErased({ project, receivedAt }: ItemInput, fact: PerformanceFact): PerformanceFact {
  if (!isErased(project, fact.user ?? null, receivedAt)) return fact
  const { user: _, ...rest } = fact
  return rest
}

/** The device of a phone's user, for sessions, which do not name it. */
function deviceOfTransaction({ project, receivedAt }: ItemInput, raw: Record<string, unknown>): PreparedItem[] {
  if (!isRecord(raw['user']) || !isRecord(raw['contexts']) || isRecord(raw['contexts']['browser'])) return []
  const { os, device } = raw['contexts']
  const clean: Record<string, unknown> = { user: { id: raw['user']['id'] }, contexts: { os, device } }
  scrubEvent(clean, project.scrubbing)
  const id = isRecord(clean['user']) ? textField(clean['user']['id'], 256, new Notes(), 'user.id') : null
  const seen = isRecord(clean['contexts']) ? readDevice(clean['contexts']) : UNKNOWN_DEVICE
  if (id === null || id === '' || seen.device === '') return []
  const userHash = hashUser(project.projectId, id)
  if (isErased(project, userHash, receivedAt)) return []
  const fact = { projectId: project.projectId, userHash, device: seen }
  return [{ category: 'transaction', quantity: 0, kind: 'user_device', fact }]
}

/** A `span` item: a container of v2, or one span of the older shape (docs/protocol.md §10.2). */
export const prepareSpan: Preparer = (input) => {
  const { decoded, item } = input
  const type = item.headers['content_type']
  if (typeof type !== 'string' || !type.startsWith(V2)) {
    const parsed = parseEntries(decoded, item.start, item.end)
    if ('invalid' in parsed) return [invalidSpans(1, parsed.invalid)]
    // A container without content type.
    if (!isRecord(parsed.value) || !('items' in parsed.value)) return prepareSpans(input, [readOldSpan(parsed.value)])
  }
  const container = readContainer(decoded, item)
  if ('invalid' in container) return [invalidSpans(container.count, container.invalid)]
  const prepared = prepareSpans(
    input,
    container.entries.map((entry) => {
      const isTooLarge = isEntryTooLarge(entry, MAX_SPAN_BYTES, item.end - item.start)
      return isTooLarge ? { invalid: 'too_large' } : readSpan(entry)
    }),
  )
  return container.surplus === 0 ? prepared : [...prepared, invalidSpans(container.surplus, 'too_many')]
}

/**
 * Prepares the unscrubbed spans of one item in any format (OTLP included). Release and environment are from the span's
 * attributes, else from the envelope's header.
 */
export function prepareSpans(input: ItemInput, spans: readonly (Span | InvalidSpan)[]): PreparedItem[] {
  const context = contextOf(input)
  const reasons = new Map<string, number>()
  const unwanted = new Map<FilterReason, number>()
  const prepared: PreparedItem[] = []
  let plain: { fact: PerformanceFact; quantity: number } | null = null
  const wanted = new Map<Span, PerformanceFact>()
  for (const span of spans) {
    if ('invalid' in span) {
      reasons.set(span.invalid, (reasons.get(span.invalid) ?? 0) + 1)
      continue
    }
    const fact = withoutErased(input, measureSpan(span, context))
    const reason = filterReason(input, fact, {
      name: textAttribute(span.attributes, 'sentry.segment.name'),
      url: textAttribute(span.attributes, 'url.full') ?? (isLocal(span) ? 'http://localhost/' : null),
      userAgent: textAttribute(span.attributes, 'user_agent.original'),
    })
    if (reason !== null) {
      unwanted.set(reason, (unwanted.get(reason) ?? 0) + 1)
      continue
    }
    wanted.set(span, fact)
    if (fact.role !== 'plain') prepared.push({ category: 'span', quantity: 1, kind: 'performance', fact })
    else if (plain === null) plain = { fact, quantity: 1 }
    else plain.quantity++
  }
  if (plain !== null) prepared.push({ category: 'span', kind: 'performance', ...plain })
  prepared.push(...tracesOfSpans(input, wanted, context))
  for (const [reason, quantity] of unwanted) prepared.push({ category: 'span', quantity, outcome: 'filtered', reason })
  for (const [reason, quantity] of reasons) prepared.push(invalidSpans(quantity, reason))
  return prepared
}

/** Web vitals sent separately do not have the page's address; newer SDKs send this attribute instead. */
const isLocal = ({ attributes }: Span): boolean => unwrapAttribute(attributes, 'sentry.is_localhost') === true

/** The spans of a transaction, counted with it. */
function traceOfTransaction(
  { project }: ItemInput,
  raw: Record<string, unknown>,
  { dimensions }: PerformanceFact,
): PreparedItem {
  const contexts = isRecord(raw['contexts']) ? raw['contexts'] : {}
  const trace = isRecord(contexts['trace']) ? contexts['trace'] : {}
  const traceId = readTraceId(trace['trace_id'])
  const spans = traceId !== null && project.traces.parts.takes(traceId) ? spansOfTransaction(raw) : null
  const sent = isList(raw['spans']) ? raw['spans'].length + 1 : 1
  const part =
    spans === null
      ? null
      : buildTracePart({
          spans: withTags(spans, raw['tags']),
          scrubbing: project.scrubbing,
          sent,
          // A transaction has no other segment.
          originOf: ({ spanId }) => (spanId === spans[0].spanId ? dimensions : null),
        })
  return { category: 'transaction', quantity: 0, kind: 'trace', fact: { segments: 1, part } }
}

/** The tags of a transaction are attributes of its segment. */
function withTags([segment, ...children]: [Span, ...Span[]], raw: unknown): [Span, ...Span[]] {
  const pairs: Iterable<unknown> = isList(raw) ? raw : isRecord(raw) ? Object.entries(raw) : []
  const tags: Record<string, unknown> = {}
  for (const pair of pairs) if (isList(pair) && typeof pair[0] === 'string') tags[pair[0]] = pair[1]
  return [{ ...segment, attributes: { ...tags, ...segment.attributes } }, ...children]
}

/** The spans of an item by trace, added up and stored; both count with the item. */
function tracesOfSpans(
  { project }: ItemInput,
  spans: ReadonlyMap<Span, PerformanceFact>,
  context: MeasureContext,
): PreparedItem[] {
  const prepared: PreparedItem[] = []
  for (const [traceId, [first, ...others]] of Map.groupBy(spans.keys(), ({ traceId }) => traceId)) {
    if (first === undefined) continue
    const counted = measureSpansOfTrace([first, ...others], spans, context)
    if (counted !== null) prepared.push({ category: 'span', quantity: 0, kind: 'performance', fact: counted })
    const segments = [first, ...others].filter((span) => span.isSegment && !isWebVital(span)).length
    const part = project.traces.parts.takes(traceId)
      ? buildTracePart({
          spans: [first, ...others],
          scrubbing: project.scrubbing,
          originOf: (segment) => spans.get(segment)?.dimensions ?? null,
        })
      : null
    if (part !== null || segments > 0)
      prepared.push({ category: 'span', quantity: 0, kind: 'trace', fact: { segments, part } })
  }
  return prepared
}

type Visited = { readonly name?: string | null; readonly url: unknown; readonly userAgent: string | null }

/** Applies inbound filters to a transaction or span; health checks are recognised by name. */
function filterReason(
  { project, entry }: ItemInput,
  { dimensions }: PerformanceFact,
  { name, url, userAgent }: Visited,
): FilterReason | null {
  return filteredTransaction(project.filters, {
    transaction: dimensions?.name ?? name ?? null,
    release: dimensions?.release ?? null,
    addresses: entry.clientIp === null ? [] : [entry.clientIp],
    url: typeof url === 'string' ? url : null,
    userAgent,
  })
}

const invalidSpans = (quantity: number, reason: string): PreparedItem => ({
  category: 'span',
  quantity,
  outcome: 'invalid',
  reason,
})

const contextOf = ({ project, header, receivedAt, sentAt }: ItemInput): MeasureContext => ({
  projectId: project.projectId,
  receivedAt,
  sentAt,
  scrubbing: project.scrubbing,
  defaults: {
    release: header.trace?.['release'],
    environment: header.trace?.['environment'],
    fallback: project.defaultEnvironment,
  },
  names: project.spanNames,
})
