import { type AppError, invalid, tooLarge } from '../../platform/kernel/errors.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import type { JsonRecord, JsonValue } from './json.ts'
import { checkJson, parseJson } from './json-guard.ts'

/** Maximum header line of an envelope or item; real ones are below 4 KiB. */
export const MAX_HEADER_BYTES = 64 * 1024
/** Maximum items of an envelope; SDKs send a few, and use containers for more. */
export const MAX_ITEMS = 10_000
/** Maximum bytes of all item headers together, which bounds the work of parsing. */
const MAX_HEADERS_BYTES = 2 * 1024 * 1024

/** First line of an envelope (docs/protocol.md §4.2). Fields of a wrong type count as absent. */
export type EnvelopeHeader = {
  /** 32 lower-case hex digits; null when the header has none. */
  readonly eventId: string | null
  readonly dsn: string | null
  readonly sentAt: string | null
  readonly sdk: JsonRecord | null
  /** The dynamic sampling context. */
  readonly trace: JsonRecord | null
  /** All fields of the line. */
  readonly fields: JsonRecord
}

/** The position of an item in the decoded bytes; its payload is not parsed. */
export type RawItem = {
  readonly type: string
  /** All of the item's header fields. */
  readonly headers: JsonRecord
  /** First byte of its header line. */
  readonly headerStart: number
  /** First byte of the payload. */
  readonly start: number
  /** One past the last byte of the payload. */
  readonly end: number
  /**
   * True when an earlier item is the event or transaction of this envelope; this one is then dropped (docs/protocol.md
   * §4.1 rule 10).
   */
  readonly surplus: boolean
}

export type Envelope = { readonly header: EnvelopeHeader; readonly items: readonly RawItem[] }

const NEWLINE = 0x0a

/** Item types that make the envelope's event; only the first item is kept. */
const EVENT_MAKING = new Set(['event', 'transaction', 'raw_security', 'form_data', 'unreal_report'])
/** Item types whose payload may carry the event id when the header does not. */
const EVENT_SHAPED = new Set(['event', 'transaction', 'feedback'])

/** Whether items of a type make the envelope's event. */
export const makesEvent = (type: string): boolean => EVENT_MAKING.has(type)
/** Whether payloads of a type are events, with an `event_id`. */
export const isEventShaped = (type: string): boolean => EVENT_SHAPED.has(type)

/** The payload, sharing memory with the envelope. */
export const itemPayload = (decoded: Buffer, item: RawItem): Buffer => decoded.subarray(item.start, item.end)

/** The end of the line that starts at `start`, exclusive and without its newline. */
function lineEnd(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(NEWLINE, start)
  return end === -1 ? bytes.length : end
}

/**
 * Reads only the first line, for authentication before the rest of a body is read.
 * @throws AppError `invalid` with the reason
 */
export function parseEnvelopeHeader(decoded: Buffer): EnvelopeHeader {
  if (decoded.length === 0) throw invalid('The request has no body.')
  const fields = parseHeaderLine(decoded, 0, lineEnd(decoded, 0), 'envelope header')
  const id = fields.event_id
  const eventId = eventIdFrom(id)
  if (eventId === null && id !== undefined && id !== null && !isNilId(id))
    throw invalid('event_id in the envelope header is not a UUID.')
  return {
    eventId,
    dsn: textOrNull(fields.dsn),
    sentAt: textOrNull(fields.sent_at),
    sdk: objectOrNull(fields.sdk),
    trace: objectOrNull(fields.trace),
    fields,
  }
}

/**
 * Splits an envelope by the grammar of docs/protocol.md §4.1. Payloads are neither copied nor parsed.
 * @param decoded the body without its Content-Encoding
 * @throws AppError `invalid` with the reason when the grammar is broken, `too_large` above {@link MAX_ITEMS}
 */
export function parseEnvelope(decoded: Buffer): Envelope {
  const header = parseEnvelopeHeader(decoded)
  const items: RawItem[] = []
  let eventSeen = false
  let headersBytes = 0
  let at = lineEnd(decoded, 0) + 1
  while (at < decoded.length) {
    // Blank lines are ignored, at the end and between items.
    if (decoded[at] === NEWLINE) {
      at = skipBlankLines(decoded, at)
      continue
    }
    if (items.length >= MAX_ITEMS)
      throw tooLarge(`An envelope may hold at most ${MAX_ITEMS.toLocaleString('en')} items.`)
    const headerEnd = lineEnd(decoded, at)
    headersBytes += headerEnd - at
    if (headersBytes > MAX_HEADERS_BYTES) throw tooLarge('The item headers of the envelope are longer than 2 MiB.')
    const headers = parseHeaderLine(decoded, at, headerEnd, 'item header')
    const type = headers.type
    if (typeof type !== 'string' || type === '') throw invalid('An item header has no type.')
    const start = Math.min(headerEnd + 1, decoded.length)
    const end = payloadEnd(decoded, start, headers.length)
    const making = EVENT_MAKING.has(type)
    items.push({ type, headers, headerStart: at, start, end, surplus: making && eventSeen })
    eventSeen ||= making
    at = end + 1
  }
  return { header, items }
}

const BLANK_LINES = Buffer.alloc(64 * 1024, NEWLINE)

/** The end of the newlines that start at `at`; in blocks, because there may be a hundred million. */
function skipBlankLines(bytes: Buffer, at: number): number {
  let end = at
  while (end + BLANK_LINES.length <= bytes.length && BLANK_LINES.compare(bytes, end, end + BLANK_LINES.length) === 0) {
    end += BLANK_LINES.length
  }
  while (end < bytes.length && bytes[end] === NEWLINE) end++
  return end
}

function payloadEnd(decoded: Buffer, start: number, length: JsonValue | undefined): number {
  if (length === undefined || length === null) return lineEnd(decoded, start)
  if (typeof length !== 'number' || !Number.isInteger(length) || length < 0) throw badLength()
  const end = start + length
  if (end > decoded.length) throw invalid('The body ends before an item of the announced length does.')
  if (end < decoded.length && decoded[end] !== NEWLINE)
    throw invalid('No newline follows an item of the announced length.')
  return end
}

const badLength = (): AppError => invalid('length in an item header is not a whole number of bytes.')

function parseHeaderLine(bytes: Buffer, start: number, end: number, what: string): JsonRecord {
  if (end - start > MAX_HEADER_BYTES) throw invalid(`The ${what} is longer than ${MAX_HEADER_BYTES / 1024} KiB.`)
  const text = bytes.toString('utf8', start, end)
  // Common short headers do not nest; only others are scanned.
  const problem = text.length > 100 ? checkJson(text) : null
  if (problem !== null) throw invalid(`The ${what} is refused: ${problem}.`)
  let value: JsonValue
  try {
    value = parseJson(text)
  } catch {
    throw invalid(`The ${what} is not valid JSON.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`The ${what} is not a JSON object.`)
  return value
}

const textOrNull = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null)

const objectOrNull = (value: JsonValue | undefined): JsonRecord | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null

const isNilId = (id: JsonValue): boolean => typeof id === 'string' && /^0{8}-?0{4}-?0{4}-?0{4}-?0{12}$/.test(id)

export type NewItem = { readonly type: string; readonly headers?: JsonRecord; readonly payload: Buffer | string }

/** Writes an envelope by the grammar of docs/protocol.md §4.1, each item with its length. */
export function writeEnvelope(header: JsonRecord, items: readonly NewItem[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`${JSON.stringify(header)}\n`)]
  for (const { type, headers, payload } of items) {
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
    parts.push(Buffer.from(`${JSON.stringify({ ...headers, type, length: bytes.length })}\n`), bytes, END_OF_ITEM)
  }
  return Buffer.concat(parts)
}

const END_OF_ITEM = Buffer.from('\n')

/** Categories of items in limits, outcomes and client reports (docs/protocol.md §5.2). */
export const CATEGORIES = [
  'default',
  'error',
  'transaction',
  'span',
  'session',
  'attachment',
  'monitor',
  'feedback',
  'log_item',
  'trace_metric',
  'replay',
  'profile',
  'profile_chunk',
  'security',
  'metric_bucket',
  'internal',
] as const
export type Category = (typeof CATEGORIES)[number]

const BY_TYPE = new Map<string, Category>([
  ['event', 'error'],
  ['form_data', 'error'],
  ['unreal_report', 'error'],
  ['transaction', 'transaction'],
  ['span', 'span'],
  ['otel_span', 'span'],
  // Created by the OTLP endpoint.
  ['otlp_traces', 'span'],
  ['session', 'session'],
  ['sessions', 'session'],
  ['attachment', 'attachment'],
  ['check_in', 'monitor'],
  ['feedback', 'feedback'],
  ['user_report', 'feedback'],
  ['user_report_v2', 'feedback'],
  ['log', 'log_item'],
  ['nel', 'log_item'],
  ['otlp_logs', 'log_item'],
  ['trace_metric', 'trace_metric'],
  ['replay_event', 'replay'],
  ['replay_recording', 'replay'],
  ['replay_video', 'replay'],
  ['profile', 'profile'],
  ['profile_chunk', 'profile_chunk'],
  ['raw_security', 'security'],
  ['statsd', 'metric_bucket'],
  ['metric_buckets', 'metric_bucket'],
  ['metric_meta', 'metric_bucket'],
  ['client_report', 'internal'],
])

/** The category of an item type; `default` for unknown types. */
export const itemCategory = (itemType: string): Category => BY_TYPE.get(itemType) ?? 'default'
