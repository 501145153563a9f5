import { scrubEvent, type ScrubRules } from '../../events/protocol/scrub.ts'
import { Notes } from '../../events/protocol/strings.ts'
import {
  spanOp,
  scrubbableSpan,
  segmentName,
  spanSegment,
  spanOrigin,
  spanUserKey,
  withScrubbed,
  type OriginDefaults,
} from '../../events/protocol/span-origin.ts'
import {
  childValues,
  spanDuration,
  isWebVital,
  pickValues,
  segmentValues,
  type Candidate,
} from '../../events/protocol/span-values.ts'
import { textAttribute, type InvalidSpan, type Span } from '../../events/protocol/span.ts'
import { eventTime } from '../../events/protocol/time.ts'
import {
  readTransaction,
  scrubbableTransaction,
  type Origin,
  type Transaction,
} from '../../events/protocol/transaction.ts'
import { hashUser } from '../../events/protocol/user.ts'
import { eventKey, partKey, spanKey, valueKey, type MeasuredValue, type PerformanceFact } from './fact.ts'
import { bySegment, countSpans } from './measure-spans.ts'
import type { SpanNames } from './span-names.ts'

export { SpanNames } from './span-names.ts'

/** Data that the spans of a request have in common. */
export type MeasureContext = {
  readonly projectId: string
  readonly receivedAt: Date
  readonly sentAt: Date | null
  readonly scrubbing: ScrubRules
  readonly defaults: OriginDefaults
  readonly names: SpanNames
}

/** Returns the fact of a transaction's payload, or the reason why it is invalid. Pure, never throws. */
export function measureTransaction(
  raw: Record<string, unknown>,
  eventId: string | null,
  context: MeasureContext,
): PerformanceFact | InvalidSpan {
  const clean = scrubbableTransaction(raw)
  scrubEvent(clean, context.scrubbing)
  const transaction = readTransaction(raw, clean, context.defaults.fallback)
  if ('invalid' in transaction) return transaction
  const { segment, children, origin, userKey } = transaction
  const values = pickValues([...segmentValues(segment), ...children.flatMap(childValues)])
  const measured = segmentFact(segment, values, { origin, userKey }, context)
  const named = { transaction: segmentName(segment), environment: origin.environment }
  const fact = { ...measured, spans: [countSpans([segment, ...children], segment, named, context)] }
  return eventId === null ? fact : { ...fact, identities: [...fact.identities, eventKey(context.projectId, eventId)] }
}

/** Returns the fact of a span (v1, v2 or OTLP) that is not scrubbed yet. Pure, never throws. */
export function measureSpan(given: Span, context: MeasureContext): PerformanceFact {
  const isSegment = given.isSegment && !isWebVital(given)
  // Nine of ten spans are not recorded and need no scrubbing.
  const values = isSegment ? segmentValues(given) : childValues(given)
  if (!isSegment && values.length === 0) return plainFact(context)
  const clean = scrubbableSpan(given)
  scrubEvent(clean, context.scrubbing)
  const span = withScrubbed(given, clean)
  const origin = spanOrigin(span, context.defaults)
  return isSegment
    ? segmentFact(span, pickValues(values), { origin, userKey: spanUserKey(span) }, context)
    : childFact(span, pickValues(values), origin, context)
}

/**
 * The spans of one trace that arrived together, as a fact of its own; null without any. Spans are not remembered one by
 * one, so a repeated request is recognised by its first span.
 * @param facts of the spans
 */
export function measureSpansOfTrace(
  spans: readonly Span[],
  facts: ReadonlyMap<Span, PerformanceFact>,
  context: MeasureContext,
): PerformanceFact | null {
  const all = spans.filter((span) => !isWebVital(span))
  const [first] = all
  if (first === undefined) return null
  const counted = [...bySegment(all)].flatMap(([segment, group]) => {
    const known = segment === null ? null : facts.get(segment)?.dimensions
    if (known) return [countSpans(group, segment, namedBy(known), context)]
    // Children of several segments of a trace may arrive before these.
    const pieces = segment === null ? [...Map.groupBy(group, segmentId).values()] : [group]
    return pieces.map((piece) => countSpans(piece, segment, namedBySpan(piece[0] ?? first, context), context))
  })
  const key = partKey(context.projectId, 'spans', `${first.traceId}/${first.spanId}`)
  return { ...plainFact(context), identities: [key], at: timeOf(first, context), spans: counted }
}

const segmentId = ({ attributes }: Span): string => textAttribute(attributes, 'sentry.segment.id') ?? ''

const namedBy = ({ name, environment }: { readonly name: string; readonly environment: string }) => ({
  transaction: name,
  environment,
})

/** The transaction that a span names; empty where it names none. */
function namedBySpan(given: Span, { scrubbing, defaults }: MeasureContext) {
  const clean = scrubbableSpan(given)
  scrubEvent(clean, scrubbing)
  const span = withScrubbed(given, clean)
  const { name, isGeneric } = spanSegment(span)
  return { transaction: isGeneric ? '' : name, environment: spanOrigin(span, defaults).environment }
}

function segmentFact(
  span: Span,
  values: readonly Candidate[],
  { origin, userKey }: Pick<Transaction, 'origin' | 'userKey'>,
  context: MeasureContext,
): PerformanceFact {
  const key = spanKey(context.projectId, span.traceId, span.spanId)
  return {
    projectId: context.projectId,
    identities: [key],
    role: 'segment',
    segmentKey: key,
    dimensions: { name: segmentName(span), op: spanOp(span), ...origin },
    waits: false,
    at: timeOf(span, context),
    failed: span.status === 'error' && !isCancelled(span),
    ...(userKey === null ? {} : { user: hashUser(context.projectId, userKey) }),
    values: [spanDuration(span), ...values, ...stalledOf(span, values)].map((one) =>
      measured(one, span, span.spanId, context),
    ),
  }
}

/** The duration of a segment that reports stalls, which are a share of it. */
const stalledOf = (span: Span, values: readonly Candidate[]): Candidate[] =>
  values.some(({ metric, leftOut }) => metric === 'stall_total_time' && leftOut === null)
    ? [{ ...spanDuration(span), metric: 'stall_duration' }]
    : []

function childFact(span: Span, values: readonly Candidate[], origin: Origin, context: MeasureContext): PerformanceFact {
  const segment = spanSegment(span)
  const isOwn = segment.spanId === span.spanId
  return {
    projectId: context.projectId,
    identities: [spanKey(context.projectId, span.traceId, span.spanId)],
    role: isOwn ? 'own' : 'child',
    segmentKey: isOwn ? null : spanKey(context.projectId, span.traceId, segment.spanId),
    dimensions: { name: segment.name, op: opOfSegment(values), ...origin },
    waits: !isOwn && segment.isGeneric,
    at: timeOf(span, context),
    failed: false,
    values: values.map((one) => measured(one, span, segment.spanId, context)),
  }
}

function plainFact(context: MeasureContext): PerformanceFact {
  return {
    projectId: context.projectId,
    identities: [],
    role: 'plain',
    segmentKey: null,
    dimensions: null,
    waits: false,
    at: context.receivedAt,
    failed: false,
    values: [],
  }
}

/** The op of the segment, derived from its values: children do not name it. */
const opOfSegment = (values: readonly Candidate[]): string =>
  values.some(({ metric }) => metric === 'lcp' || metric === 'cls' || metric === 'inp') ? 'pageload' : 'ui.load'

function measured(one: Candidate, span: Span, segmentId: string, context: MeasureContext): MeasuredValue {
  const { metric, value, leftOut, rank, slot } = one
  const onceKey = slot === null ? null : valueKey(context.projectId, span.traceId, segmentId, slot)
  return { metric, value, leftOut, rank, onceKey }
}

/** Newer SDKs send the former status `cancelled` as `error` with this message. */
function isCancelled({ attributes }: Span): boolean {
  const message = attributes['sentry.status.message']
  const text = typeof message === 'object' && message !== null && 'value' in message ? message.value : message
  return text === 'cancelled' || text === 'unknown'
}

/** End of the span by the corrected clock. */
const timeOf = (span: Span, { receivedAt, sentAt }: MeasureContext): Date =>
  new Date(eventTime(span.endMs / 1_000, receivedAt, sentAt, new Notes()).occurredAt)
