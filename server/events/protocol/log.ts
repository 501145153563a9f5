import { attributeText, readAttributes, type Attributes } from './attributes.ts'
import { isEntryTooLarge } from './container.ts'
import { isRecord } from './json.ts'
import { toLogLevel, parseLogLevel, toSeverityNumber } from './level.ts'
import { readEnvironment, readRelease } from './release.ts'
import { cut, storable, tidy, Notes, type Note } from './strings.ts'
import type { LogLevel } from './telemetry.api.ts'
import { eventTime } from './time.ts'
import { readSpanId, readTraceId } from './span.ts'

/** A structured log entry (docs/protocol.md §11.1) for storage. */
export type LogEntry = {
  readonly occurredAt: Date
  readonly level: LogLevel
  /** OpenTelemetry's, 1 to 24. */
  readonly severityNumber: number
  readonly body: string
  readonly traceId: string | null
  readonly spanId: string | null
  readonly release: string | null
  readonly environment: string
  readonly attributes: Attributes
  /** Values that were dropped or corrected. */
  readonly notes: readonly Note[]
}

/** Context of an entry from its request. */
export type EntryContext = {
  readonly receivedAt: Date
  readonly sentAt: Date | null
  readonly defaultEnvironment: string
  /** Size of its container. */
  readonly containerBytes: number
}

const MAX_LOG_BYTES = 2 * 1024 * 1024
const MAX_BODY = 32_768

/** Scrubs an entry in place. When a rule removes its body, it is still an entry. */
export function cleanLog(entry: unknown, scrub: (parts: Record<string, unknown>) => void): unknown {
  if (!isRecord(entry)) return entry
  const hadBody = entry['body'] !== undefined && entry['body'] !== null
  scrub(entry)
  if (hadBody) entry['body'] ??= ''
  return entry
}

/** Reads a scrubbed entry; returns a reason when it is invalid. Pure. */
export function readLog(raw: unknown, context: EntryContext): LogEntry | { readonly invalid: string } {
  if (!isRecord(raw)) return { invalid: 'not_an_object' }
  if (isEntryTooLarge(raw, MAX_LOG_BYTES, context.containerBytes)) return { invalid: 'too_large' }
  const notes = new Notes()
  const body = readBody(raw['body'], notes)
  if (body === null) return { invalid: 'no_body' }
  const attributes = readAttributes(raw['attributes'], notes)
  const level = readLevel(raw, notes)
  return {
    occurredAt: new Date(eventTime(raw['timestamp'], context.receivedAt, context.sentAt, notes).occurredAt),
    ...level,
    body,
    traceId: noted(readTraceId(raw['trace_id']), raw['trace_id'], notes, 'trace_id'),
    spanId: noted(readSpanId(raw['span_id']), raw['span_id'], notes, 'span_id'),
    release: readRelease(attributeText(attributes, 'sentry.release'), notes),
    environment: readEnvironment(attributeText(attributes, 'sentry.environment'), notes) ?? context.defaultEnvironment,
    attributes,
    notes: notes.list,
  }
}

function readBody(raw: unknown, notes: Notes): string | null {
  if (raw === null || raw === undefined) return null
  const text = typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? '')
  if (text.length > MAX_BODY) notes.add('body', `Cut to ${MAX_BODY.toLocaleString('en')} characters.`)
  return storable(cut(text, MAX_BODY))
}

function readLevel(raw: Record<string, unknown>, notes: Notes): Pick<LogEntry, 'level' | 'severityNumber'> {
  const number = raw['severity_number']
  const byNumber = toLogLevel(number)
  const level = parseLogLevel(raw['level']) ?? byNumber
  if (level === null) {
    notes.add('level', `Not a level: ${typeof raw['level'] === 'string' ? tidy(raw['level'], 40) : 'none'}.`)
    return { level: 'info', severityNumber: toSeverityNumber('info') }
  }
  return { level, severityNumber: byNumber === level && typeof number === 'number' ? number : toSeverityNumber(level) }
}

/** Returns the id, and adds a note if the raw value was no id. */
export function noted(id: string | null, raw: unknown, notes: Notes, name: string): string | null {
  if (id === null && raw !== null && raw !== undefined && raw !== '' && !isNil(raw)) notes.add(name, 'Not an id.')
  return id
}

const isNil = (raw: unknown): boolean => typeof raw === 'string' && /^[0-]+$/.test(raw)
