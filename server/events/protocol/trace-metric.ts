import { attributeText, readAttributes, type Attributes } from './attributes.ts'
import { isEntryTooLarge } from './container.ts'
import { isRecord, nearestNumber } from './json.ts'
import { noted, type EntryContext } from './log.ts'
import { readEnvironment, readRelease } from './release.ts'
import { tidy, Notes, type Note } from './strings.ts'
import { METRIC_TYPES, type MetricType } from './telemetry.api.ts'
import { eventTime } from './time.ts'
import { readSpanId, readTraceId } from './span.ts'

/** A measurement with its trace (docs/protocol.md §11.2) for storage. */
export type TraceMetric = {
  readonly occurredAt: Date
  readonly name: string
  readonly type: MetricType
  readonly value: number
  readonly unit: string | null
  readonly traceId: string | null
  readonly spanId: string | null
  readonly release: string | null
  readonly environment: string
  readonly attributes: Attributes
  readonly notes: readonly Note[]
}

const MAX_METRIC_BYTES = 1024 * 1024
const MAX_NAME = 200
const MAX_UNIT = 64

/** Scrubs an entry. Its number is not passed to the scrubber: with a name like `auth.tokens` it would be removed. */
export function cleanMetric(entry: unknown, scrub: (parts: Record<string, unknown>) => void): unknown {
  if (!isRecord(entry)) return entry
  const { value, ...parts } = entry
  scrub(parts)
  return { ...parts, value }
}

/** Reads a scrubbed entry; returns a reason when it is invalid. Pure. */
export function readTraceMetric(raw: unknown, context: EntryContext): TraceMetric | { readonly invalid: string } {
  if (!isRecord(raw)) return { invalid: 'not_an_object' }
  if (isEntryTooLarge(raw, MAX_METRIC_BYTES, context.containerBytes)) return { invalid: 'too_large' }
  const { name, type, unit } = raw
  const value = nearestNumber(raw['value'])
  const named = typeof name === 'string' ? tidy(name.trim(), MAX_NAME) : ''
  if (named === '') return { invalid: 'no_name' }
  const known = METRIC_TYPES.find((one) => one === type)
  if (known === undefined) return { invalid: 'bad_type' }
  if (typeof value !== 'number' || !Number.isFinite(value)) return { invalid: 'bad_value' }
  const notes = new Notes()
  if (named.endsWith('…') && named !== name) notes.add('name', `Cut to ${MAX_NAME} characters.`)
  const attributes = readAttributes(raw['attributes'], notes)
  return {
    occurredAt: new Date(eventTime(raw['timestamp'], context.receivedAt, context.sentAt, notes).occurredAt),
    name: named,
    type: known,
    value,
    unit: typeof unit === 'string' && unit !== '' ? tidy(unit, MAX_UNIT) : null,
    traceId: noted(readTraceId(raw['trace_id']), raw['trace_id'], notes, 'trace_id'),
    spanId: noted(readSpanId(raw['span_id']), raw['span_id'], notes, 'span_id'),
    release: readRelease(attributeText(attributes, 'sentry.release'), notes),
    environment: readEnvironment(attributeText(attributes, 'sentry.environment'), notes) ?? context.defaultEnvironment,
    attributes,
    notes: notes.list,
  }
}
