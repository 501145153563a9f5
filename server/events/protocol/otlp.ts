import { isList, isRecord } from './json.ts'
import { toLogLevel } from './level.ts'

/**
 * OTLP records (from JSON, or decoded by otlp-wire.ts) → raw spans in the form of docs/protocol.md §10.2 and raw log entries in
 * the form of §11.1, so that one set of rules reads them all.
 */

/** Maximum entries of an export request; a collector sends batches of 8,192 by default. */
export const MAX_OTLP_ENTRIES = 10_000

type Raw = Record<string, unknown>
export type OtlpEntries = { readonly entries: readonly unknown[]; readonly surplus: number }

/** Spans of `{resourceSpans: […]}`. Elements that are no objects stay, and reading refuses them. */
export function otlpSpans(value: unknown): OtlpEntries {
  return eachEntry(value, ['resourceSpans', 'scopeSpans', 'spans'], rawSpan)
}

/** Log records of `{resourceLogs: […]}`. */
export function otlpLogs(value: unknown): OtlpEntries {
  return eachEntry(value, ['resourceLogs', 'scopeLogs', 'logRecords'], rawLog)
}

function eachEntry(
  value: unknown,
  [resources, scopes, entries]: readonly [string, string, string],
  map: (entry: Raw, common: Raw) => Raw,
): OtlpEntries {
  const found: unknown[] = []
  let count = 0
  for (const resource of listIn(value, resources)) {
    const shared = resourceAttributes(resource)
    for (const scope of listIn(resource, scopes)) {
      const common = { ...shared, ...scopeAttributes(scope) }
      for (const entry of listIn(scope, entries)) {
        count += 1
        if (count <= MAX_OTLP_ENTRIES) found.push(isRecord(entry) ? map(entry, common) : entry)
      }
    }
  }
  return { entries: found, surplus: count - found.length }
}

const listIn = (value: unknown, name: string): readonly unknown[] => {
  const list = isRecord(value) ? value[name] : null
  return isList(list) ? list : []
}

function rawSpan(span: Raw, common: Raw): Raw {
  const attributes = { ...common, ...attributesOf(span['attributes']) }
  const kind = kindOf(span['kind'])
  const op = operation(kind, attributes)
  if (op !== null) attributes['sentry.op'] ??= op
  attributes['sentry.origin'] ??= 'auto.otlp.spans'
  if (kind !== null) attributes['sentry.kind'] ??= kind
  const status = span['status']
  const code = isRecord(status) ? status['code'] : null
  if (isRecord(status) && typeof status['message'] === 'string' && status['message'] !== '')
    attributes['sentry.status.message'] ??= status['message']
  const parent = idOf(span['parentSpanId'])
  return {
    trace_id: idOf(span['traceId']),
    span_id: idOf(span['spanId']),
    ...(parent === undefined ? {} : { parent_span_id: parent }),
    name: span['name'],
    status: code === 2 || code === 'STATUS_CODE_ERROR' ? 'error' : 'ok',
    is_segment: parent === undefined || (isEntry(kind) && hasRemoteParent(span['flags'])),
    start_timestamp: secondsOf(span['startTimeUnixNano']),
    end_timestamp: secondsOf(span['endTimeUnixNano']),
    attributes,
  }
}

function rawLog(log: Raw, common: Raw): Raw {
  const number = severityOf(log['severityNumber'])
  const attributes: Raw = {
    ...common,
    'sentry.origin': 'auto.otlp.logs',
    ...attributesOf(log['attributes']),
  }
  const event = log['eventName']
  if (typeof event === 'string' && event !== '') attributes['event.name'] ??= event
  const body = anyValue(log['body'])
  return {
    timestamp: secondsOf(log['timeUnixNano']) ?? secondsOf(log['observedTimeUnixNano']),
    trace_id: idOf(log['traceId']),
    span_id: idOf(log['spanId']),
    level: toLogLevel(number) ?? log['severityText'] ?? 'info',
    severity_number: number,
    // An event may have only attributes.
    body: body ?? event ?? '',
    attributes,
  }
}

/** Attributes of all entries of a resource; name, release and environment with the names that SDKs use. */
function resourceAttributes(resource: unknown): Raw {
  const given = isRecord(resource) ? resource['resource'] : null
  const attributes = attributesOf(isRecord(given) ? given['attributes'] : null)
  const release = attributes['service.version']
  if (release !== undefined) attributes['sentry.release'] ??= release
  const environment = attributes['deployment.environment.name'] ?? attributes['deployment.environment']
  if (environment !== undefined) attributes['sentry.environment'] ??= environment
  return attributes
}

function scopeAttributes(scope: unknown): Raw {
  const given = isRecord(scope) ? scope['scope'] : null
  if (!isRecord(given)) return {}
  const attributes: Raw = {}
  if (typeof given['name'] === 'string' && given['name'] !== '') attributes['otel.scope.name'] = given['name']
  if (typeof given['version'] === 'string' && given['version'] !== '')
    attributes['otel.scope.version'] = given['version']
  return attributes
}

/** `[{key, value: {stringValue}}]` → `{key: {value, type}}`; the last of a repeated key counts. */
function attributesOf(list: unknown): Raw {
  const attributes: Raw = {}
  if (!isList(list)) return attributes
  for (const pair of list) {
    if (!isRecord(pair) || typeof pair['key'] !== 'string' || pair['key'] === '') continue
    const value = attributeValue(pair['value'])
    if (value !== undefined && isOwnable(pair['key'])) attributes[pair['key']] = value
  }
  return attributes
}

/** Keys are values here, so the guard before parsing did not check them. */
const isOwnable = (key: string): boolean => key !== '__proto__' && key !== 'constructor' && key !== 'prototype'

function attributeValue(value: unknown): unknown {
  if (!isRecord(value)) return undefined
  const { stringValue, intValue, doubleValue, boolValue } = value
  if (stringValue !== undefined) return { value: stringValue, type: 'string' }
  if (intValue !== undefined) return { value: intValue, type: 'integer' }
  if (doubleValue !== undefined) return { value: doubleValue, type: 'double' }
  if (boolValue !== undefined) return { value: boolValue, type: 'boolean' }
  const plain = anyValue(value)
  if (plain === undefined) return undefined
  return isList(plain) ? { value: plain, type: 'array' } : { value: plain, type: 'string' }
}

/** An AnyValue as plain JSON; undefined when it is empty. */
function anyValue(value: unknown): unknown {
  if (!isRecord(value)) return undefined
  const { stringValue, intValue, doubleValue, boolValue, bytesValue, arrayValue, kvlistValue } = value
  if (arrayValue !== undefined) return listIn(arrayValue, 'values').map((element) => anyValue(element) ?? null)
  if (kvlistValue !== undefined) {
    const record: Raw = {}
    for (const pair of listIn(kvlistValue, 'values')) {
      if (isRecord(pair) && typeof pair['key'] === 'string' && isOwnable(pair['key']))
        record[pair['key']] = anyValue(pair['value']) ?? null
    }
    return record
  }
  return stringValue ?? intValue ?? doubleValue ?? boolValue ?? bytesValue
}

/**
 * Seconds from nanoseconds, exact to the microsecond; in two steps, because a number cannot represent the nanoseconds.
 * Undefined without a time; zero means unknown.
 */
function secondsOf(nanoseconds: unknown): number | undefined {
  if (typeof nanoseconds !== 'string' && typeof nanoseconds !== 'number') return undefined
  if (!/^\d{1,20}$/.test(String(nanoseconds))) return undefined
  const microseconds = BigInt(nanoseconds) / 1_000n
  return microseconds === 0n ? undefined : Number(microseconds) / 1_000_000
}

/** An empty or all-zero id means none. */
const idOf = (id: unknown): unknown => (id === '' || (typeof id === 'string' && /^0+$/.test(id)) ? undefined : id)

const KINDS = ['internal', 'server', 'client', 'producer', 'consumer'] as const
type Kind = (typeof KINDS)[number]

/** As numbers, or as names in hand-written JSON. */
function kindOf(kind: unknown): Kind | null {
  if (typeof kind === 'number') return KINDS[kind - 1] ?? null
  if (typeof kind !== 'string') return null
  return KINDS.find((name) => kind === `SPAN_KIND_${name.toUpperCase()}`) ?? null
}

const isEntry = (kind: Kind | null): boolean => kind === 'server' || kind === 'consumer'

const KNOWS_REMOTE = 0x100
const IS_REMOTE = 0x200

/** Without flags the parent of a server is remote. */
function hasRemoteParent(flags: unknown): boolean {
  const bits = typeof flags === 'number' && Number.isInteger(flags) ? flags : 0
  return (bits & KNOWS_REMOTE) === 0 || (bits & IS_REMOTE) !== 0
}

/** The operation of the span, in the terms of SDKs. */
function operation(kind: Kind | null, attributes: Raw): string | null {
  if ('http.request.method' in attributes || 'http.method' in attributes)
    return kind === 'server' ? 'http.server' : 'http.client'
  if ('db.system.name' in attributes || 'db.system' in attributes) return 'db'
  if ('rpc.system' in attributes) return 'rpc'
  if ('messaging.system' in attributes) return kind === 'consumer' ? 'queue.process' : 'queue.publish'
  return kind === null || kind === 'internal' ? null : kind
}

/** The number, also by its name in hand-written JSON; zero means unset. */
function severityOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined
}
