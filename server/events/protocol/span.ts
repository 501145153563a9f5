import { isRecord, nearestNumber } from './json.ts'
import { storable } from './strings.ts'
import { parseTime } from './time.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'

/**
 * A finished span (docs/protocol.md §10.2) from any format: an entry of a v2 container, a standalone v1 span, a
 * transaction or a child of one, a span of OTLP.
 */
export type Span = {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** 16 lower-case hex digits. */
  readonly spanId: string
  readonly parentSpanId: string | null
  /** As sent; span-origin.ts has the name for display. */
  readonly name: string
  readonly status: 'ok' | 'error'
  /** The first span of a trace in a service, like a transaction. */
  readonly isSegment: boolean
  /** Milliseconds since 1970 by the sender's clock, with fractions. */
  readonly startMs: number
  readonly endMs: number
  /** By name: `{value, type, unit?}` or the plain value, as sent, not scrubbed. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** `{name: {value, unit?}}` of old spans and transactions, as sent; empty in v2. */
  readonly measurements: Readonly<Record<string, unknown>>
}

export type InvalidSpan = { readonly invalid: string }

/** Maximum spans of a transaction (docs/protocol.md §6). */
export const MAX_SPANS = 1_000
/** Maximum size of an entry (docs/protocol.md §6). */
export const MAX_SPAN_BYTES = 10 * 1024 * 1024

const MAX_NAME = 2_048
const NO_MEASUREMENTS = {}

/** Reads an entry of a v2 container; returns a reason when it is invalid. Never throws. */
export function readSpan(raw: unknown): Span | InvalidSpan {
  if (!isRecord(raw)) return { invalid: 'not_an_object' }
  const basis = readBasis(raw, raw['end_timestamp'])
  if ('invalid' in basis) return basis
  return {
    ...basis,
    name: nameText(raw['name']),
    status: raw['status'] === 'error' ? 'error' : 'ok',
    isSegment: raw['is_segment'] === true,
    attributes: isRecord(raw['attributes']) ? raw['attributes'] : {},
    measurements: NO_MEASUREMENTS,
  }
}

/**
 * Reads a span of the older format: a standalone one, or a child of a transaction. Its fields become attributes with the
 * names of v2. Never throws.
 */
export function readOldSpan(raw: unknown): Span | InvalidSpan {
  if (!isRecord(raw)) return { invalid: 'not_an_object' }
  const basis = readBasis(raw, raw['timestamp'])
  if ('invalid' in basis) return basis
  const data = isRecord(raw['data']) ? raw['data'] : {}
  const attributes: Record<string, unknown> = { ...data }
  const { op, segment_id: segmentId } = raw
  if (typeof op === 'string' && op !== '') attributes['sentry.op'] = op
  if (typeof segmentId === 'string') attributes['sentry.segment.id'] ??= segmentId
  attributes['sentry.segment.name'] ??= data['sentry.transaction'] ?? data['transaction']
  attributes['sentry.segment.name.source'] ??= data['sentry.source']
  attributes['sentry.release'] ??= data['release']
  attributes['sentry.environment'] ??= data['environment']
  return {
    ...basis,
    name: nameText(raw['description']),
    status: hasFailed(raw['status']) ? 'error' : 'ok',
    isSegment: raw['is_segment'] === true,
    attributes,
    measurements: isRecord(raw['measurements']) ? raw['measurements'] : NO_MEASUREMENTS,
  }
}

type Basis = Pick<Span, 'traceId' | 'spanId' | 'parentSpanId' | 'startMs' | 'endMs'>

/** Ids and times by the rules of docs/protocol.md §10.1, for all formats. */
export function readBasis(raw: Record<string, unknown>, end: unknown): Basis | InvalidSpan {
  const traceId = readTraceId(raw['trace_id'])
  if (traceId === null) return { invalid: 'bad_trace_id' }
  const spanId = readSpanId(raw['span_id'])
  if (spanId === null) return { invalid: 'bad_span_id' }
  const startMs = parseTimePrecise(raw['start_timestamp'])
  const endMs = parseTimePrecise(end)
  if (startMs === null || endMs === null) return { invalid: 'bad_timestamp' }
  if (startMs > endMs) return { invalid: 'ends_before_start' }
  return { traceId, spanId, parentSpanId: readSpanId(raw['parent_span_id']), startMs, endMs }
}

/** Cuts a name roughly; it is cut again without its parameters. */
export const nameText = (value: unknown): string =>
  typeof value === 'string' ? storable(value.length > MAX_NAME ? value.slice(0, MAX_NAME) : value).trim() : ''

/** Statuses that are no failure of the app; `cancelled` is an action of the user. */
const NOT_FAILED = new Set(['', 'ok', 'cancelled', 'unknown', 'unset'])

/** Whether a status is a failure; Node SDK 7 sends an object with OpenTelemetry's code. */
export function hasFailed(status: unknown): boolean {
  if (isRecord(status)) return status['code'] === 2 && hasFailed(status['message'] ?? 'error')
  return typeof status === 'string' && !NOT_FAILED.has(status)
}

/** The value of an attribute, wrapped or plain; undefined when there is none. */
export function unwrapAttribute(attributes: Readonly<Record<string, unknown>>, name: string): unknown {
  if (!Object.hasOwn(attributes, name)) return undefined
  const given = attributes[name]
  return isRecord(given) && 'value' in given ? given['value'] : given
}

/** A text attribute; null when it is missing, empty or no text. */
export function textAttribute(attributes: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = unwrapAttribute(attributes, name)
  return typeof value === 'string' && value !== '' ? value : null
}

/** A finite number attribute, also as decimal text; else null. */
export function numberAttribute(attributes: Readonly<Record<string, unknown>>, name: string): number | null {
  return finite(unwrapAttribute(attributes, name))
}

export function finite(raw: unknown): number | null {
  const value = nearestNumber(raw)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string' || !/^-?\d{1,15}(?:\.\d{1,20})?$/.test(value)) return null
  return Number(value)
}

/**
 * Like {@link parseTime}, with the fractions of a millisecond that durations of spans need. Numbers in seconds are
 * exact to about a quarter of a microsecond. Null when it is no time.
 */
export function parseTimePrecise(value: unknown): number | null {
  const wholeMs = parseTime(value)
  if (wholeMs === null) return null
  if (typeof value === 'number') return nearTo(wholeMs, value)
  if (typeof value !== 'string') return wholeMs
  const number = Number(value)
  if (!Number.isNaN(number)) return nearTo(wholeMs, number)
  const fraction = /[.,](\d{1,9})/.exec(value)?.[1]
  // parseTime cuts the fraction in text after three digits.
  return fraction === undefined || fraction.length <= 3 ? wholeMs : wholeMs + Number(`0.${fraction.slice(3)}`)
}

/** The number in milliseconds, with the unit that `parseTime` chose. */
function nearTo(wholeMs: number, value: number): number {
  for (const scale of [1_000, 1, 1e-3, 1e-6]) {
    const exactMs = value * scale
    if (Math.abs(exactMs - wholeMs) <= 1) return exactMs
  }
  return wholeMs
}

/** Trace and span ids: lower-case hex; an all-zero id means none. */

export const readTraceId = (value: unknown): string | null => eventIdFrom(value)

export function readSpanId(value: unknown): string | null {
  if (typeof value !== 'string' || value.length !== 16) return null
  const id = value.toLowerCase()
  return /^[0-9a-f]{16}$/.test(id) && id !== '0000000000000000' ? id : null
}
