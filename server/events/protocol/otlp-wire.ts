import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { AppError, invalid } from '../../platform/kernel/errors.ts'
import type { JsonRecord, JsonValue } from './json.ts'
import { MAX_CONTAINER_NODES, MAX_DEPTH } from './json-guard.ts'

/**
 * OTLP in protobuf → the same records as OTLP in JSON (docs/protocol.md §14): camelCase names, ids in hex, 64-bit
 * numbers as decimal text. Only fields that we use are listed; others are skipped. A library reads the wire format; the
 * few messages are declared here instead of generated.
 */

type Scalar = 'string' | 'bool' | 'int64' | 'fixed64' | 'double' | 'uint32' | 'fixed32' | 'hex' | 'base64'
/** A function, because messages refer to themselves (AnyValue). */
type FieldType = Scalar | (() => Message)
type Field = { readonly name: string; readonly type: FieldType; readonly repeated?: true }
type Message = ReadonlyMap<number, Field>

const one = (name: string, type: FieldType): Field => ({ name, type })
const many = (name: string, type: FieldType): Field => ({ name, type, repeated: true })

const AnyValue: Message = new Map([
  [1, one('stringValue', 'string')],
  [2, one('boolValue', 'bool')],
  [3, one('intValue', 'int64')],
  [4, one('doubleValue', 'double')],
  [5, one('arrayValue', () => new Map([[1, many('values', () => AnyValue)]]))],
  [6, one('kvlistValue', () => new Map([[1, many('values', () => KeyValue)]]))],
  [7, one('bytesValue', 'base64')],
])
const KeyValue: Message = new Map([
  [1, one('key', 'string')],
  [2, one('value', () => AnyValue)],
])
const Resource: Message = new Map([[1, many('attributes', () => KeyValue)]])
const Scope: Message = new Map([
  [1, one('name', 'string')],
  [2, one('version', 'string')],
])
const Status: Message = new Map([
  [2, one('message', 'string')],
  [3, one('code', 'uint32')],
])
const Span: Message = new Map([
  [1, one('traceId', 'hex')],
  [2, one('spanId', 'hex')],
  [4, one('parentSpanId', 'hex')],
  [5, one('name', 'string')],
  [6, one('kind', 'uint32')],
  [7, one('startTimeUnixNano', 'fixed64')],
  [8, one('endTimeUnixNano', 'fixed64')],
  [9, many('attributes', () => KeyValue)],
  [15, one('status', () => Status)],
  [16, one('flags', 'fixed32')],
])
const LogRecord: Message = new Map([
  [1, one('timeUnixNano', 'fixed64')],
  [2, one('severityNumber', 'uint32')],
  [3, one('severityText', 'string')],
  [5, one('body', () => AnyValue)],
  [6, many('attributes', () => KeyValue)],
  [9, one('traceId', 'hex')],
  [10, one('spanId', 'hex')],
  [11, one('observedTimeUnixNano', 'fixed64')],
  [12, one('eventName', 'string')],
])

/** `TracesData` and `LogsData`: resource → scope → entries. */
const request = (resources: string, scopes: string, entries: string, entry: Message): Message => {
  const scope: Message = new Map([
    [1, one('scope', () => Scope)],
    [2, many(entries, () => entry)],
  ])
  const resource: Message = new Map([
    [1, one('resource', () => Resource)],
    [2, many(scopes, () => scope)],
  ])
  return new Map([[1, many(resources, () => resource)]])
}
const REQUESTS = {
  traces: request('resourceSpans', 'scopeSpans', 'spans', Span),
  logs: request('resourceLogs', 'scopeLogs', 'logRecords', LogRecord),
} as const
export type OtlpSignal = keyof typeof REQUESTS

/** Item types of the OTLP endpoint; the payload is the body as received, with its media type as `content_type`. */
export const OTLP_ITEMS: Readonly<Record<OtlpSignal, string>> = { traces: 'otlp_traces', logs: 'otlp_logs' }
export const PROTOBUF = 'application/x-protobuf'

/** Remaining number of values while a body is read. */
type Budget = { left: number }

/**
 * Decodes an export request.
 * @throws AppError `invalid` when the bytes are no such message, nest too deep or have too many values
 */
export function decodeOtlp(bytes: Uint8Array, signal: OtlpSignal): JsonRecord {
  return guarded(() => readMessage(new BinaryReader(bytes), REQUESTS[signal], 0, { left: MAX_CONTAINER_NODES }))
}

/** Maximum resources, scopes and entries together that {@link countOtlp} reads. */
const MAX_COUNTED = 100_000

/**
 * Counts the entries of an export request without decoding them, and checks its structure above them.
 * @throws AppError `invalid`
 */
export function countOtlp(bytes: Uint8Array): number {
  return guarded(() => {
    let count = 0
    let left = MAX_COUNTED
    const each = (message: Uint8Array, field: number, visit: (bytes: Uint8Array) => void): void => {
      const reader = new BinaryReader(message)
      while (reader.pos < reader.len) {
        if (--left < 0) throw invalid(`The message holds more than ${MAX_COUNTED.toLocaleString('en')} parts.`)
        const [number, wireType] = reader.tag()
        if (number === field && wireType === WireType.LengthDelimited) visit(reader.bytes())
        else skip(reader, wireType)
      }
    }
    each(bytes, 1, (resource) => each(resource, 2, (scope) => each(scope, 2, () => (count += 1))))
    return count
  })
}

function readMessage(reader: BinaryReader, message: Message, depth: number, budget: Budget): JsonRecord {
  if (depth > MAX_DEPTH) throw invalid(`The message is nested deeper than ${MAX_DEPTH} levels.`)
  const record: JsonRecord = {}
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    const field = message.get(number)
    // A field of an unexpected wire type is an unknown field.
    if (field === undefined || wireType !== wireTypeOf(field.type)) {
      skip(reader, wireType)
      continue
    }
    if (--budget.left < 0)
      throw invalid(`The message is too large: more than ${MAX_CONTAINER_NODES.toLocaleString('en')} values.`)
    const value = readValue(reader, field.type, depth, budget)
    if (field.repeated === undefined) {
      record[field.name] = value
      continue
    }
    const list = record[field.name]
    if (Array.isArray(list)) list.push(value)
    else record[field.name] = [value]
  }
  return record
}

function readValue(reader: BinaryReader, type: FieldType, depth: number, budget: Budget): JsonValue {
  if (typeof type === 'function') return readMessage(new BinaryReader(reader.bytes()), type(), depth + 1, budget)
  switch (type) {
    case 'string':
      return reader.string()
    case 'bool':
      return reader.bool()
    case 'int64':
      return String(reader.int64())
    case 'fixed64':
      return String(reader.fixed64())
    case 'double':
      return finite(reader.double())
    case 'uint32':
      return reader.uint32()
    case 'fixed32':
      return reader.fixed32()
    case 'hex':
      return Buffer.from(reader.bytes()).toString('hex')
    case 'base64':
      return Buffer.from(reader.bytes()).toString('base64')
  }
}

/** JSON has no NaN; OTLP in JSON writes it as text. */
const finite = (value: number): number | string => (Number.isFinite(value) ? value : String(value))

function wireTypeOf(type: FieldType): WireType {
  switch (type) {
    case 'bool':
    case 'int64':
    case 'uint32':
      return WireType.Varint
    case 'fixed64':
    case 'double':
      return WireType.Bit64
    case 'fixed32':
      return WireType.Bit32
    default:
      return WireType.LengthDelimited
  }
}

function skip(reader: BinaryReader, wireType: WireType): void {
  // Groups are deprecated since before OTLP, so only an attacker sends them.
  if (wireType === WireType.StartGroup || wireType === WireType.EndGroup) throw invalid('The message holds groups.')
  reader.skip(wireType)
}

/** The library throws RangeError and Error for bytes that are no message. */
function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw invalid('The body is not a valid protobuf message.')
  }
}
