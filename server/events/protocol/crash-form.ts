import { Decoder } from '@msgpack/msgpack'
import { AppError } from '../../platform/kernel/errors.ts'
import { eventIdFrom } from '../../platform/kernel/ids.ts'
import { isList, isRecord, isSafeKey, nearestNumber } from './json.ts'
import { parseGuarded } from './json-guard.ts'

/**
 * Data that crash uploaders send with a minidump (docs/protocol.md §12): form fields, and files with the SDK's event and
 * breadcrumbs. Unreadable parts are left out; nothing here throws for any input.
 */

/** Form fields in their order, as in the `form_data` items of our envelopes. */
export type FormFields = readonly (readonly [name: string, value: string])[]

/** Files with these names are parts of the event, not attachments. */
export const EVENT_FILE = '__sentry-event'
export const BREADCRUMB_FILES = ['__sentry-breadcrumb1', '__sentry-breadcrumb2'] as const
export const isEventPart = (filename: unknown): boolean =>
  filename === EVENT_FILE || BREADCRUMB_FILES.some((name) => name === filename)

/** Larger files are left out, like larger events. */
const MAX_BYTES = 1024 * 1024
const MAX_DEPTH = 8
/** Maximum fields in `extra`; normalisation has the same limit. */
const MAX_EXTRA_CHARACTERS = 256 * 1024
/** Maximum breadcrumbs of both files; normalisation keeps the newest 100. */
const MAX_BREADCRUMBS = 1_000

const LIMITS = {
  useBigInt64: true,
  maxStrLength: MAX_BYTES,
  maxBinLength: MAX_BYTES,
  maxArrayLength: 10_000,
  maxMapLength: 10_000,
}

/** @throws AppError `invalid` when the payload is not a list of pairs of text */
export function readFormFields(payload: Buffer): FormFields {
  const { value } = parseGuarded(payload)
  if (!isList(value)) throw new AppError('invalid', 'The form is no list.')
  return value.flatMap((pair) =>
    isList(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string' ? [[pair[0], pair[1]] as const] : [],
  )
}

type CrashParts = {
  readonly fields: FormFields
  /** {@link EVENT_FILE}: msgpack, or JSON. */
  readonly event: Buffer | null
  /** {@link BREADCRUMB_FILES}: msgpack objects one after the other. */
  readonly breadcrumbs: readonly Buffer[]
}

/** Combines all parts into an event. Later parts take precedence: file, chunks, whole field, single fields. */
export function crashEvent({ fields, event, breadcrumbs }: CrashParts): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  merge(result, event === null ? null : decodeObject(event), 0)
  merge(result, jsonObject(chunksOf(fields)), 0)
  const extra: Record<string, unknown> = {}
  let extraLeft = MAX_EXTRA_CHARACTERS
  for (const [name, value] of fields) {
    if (name === 'sentry') merge(result, jsonObject(value), 0)
    else if (name.startsWith('sentry[')) setNested(result, name, value)
    else if (!name.startsWith('sentry__') && isSafeKey(name) && (extraLeft -= name.length + value.length) >= 0)
      extra[name] = value
  }
  if (Object.keys(extra).length > 0)
    result['extra'] = isRecord(result['extra']) ? { ...extra, ...result['extra'] } : extra
  const crumbs = ring(breadcrumbs)
  if (crumbs.length > 0 && !hasValues(result['breadcrumbs'])) result['breadcrumbs'] = { values: crumbs }
  return result
}

/** The event id in these parts, 32 hex digits; null without one. */
export function crashEventId(fields: FormFields, event: Buffer | null): string | null {
  return eventIdFrom(
    crashEvent({ fields: fields.filter(([name]) => name.startsWith('sentry')), event, breadcrumbs: [] })['event_id'],
  )
}

/** `sentry__1`, `sentry__2`, …: one JSON text in pieces. */
function chunksOf(fields: FormFields): string {
  const chunks = fields.flatMap(([name, text]) => {
    const number = /^sentry__(\d{1,4})$/.exec(name)?.[1]
    return number === undefined ? [] : [{ number: Number(number), text }]
  })
  return chunks
    .toSorted((a, b) => a.number - b.number)
    .map(({ text }) => text)
    .join('')
}

function jsonObject(text: string): Record<string, unknown> | null {
  if (text === '' || text.length > MAX_BYTES) return null
  return objectOf(Buffer.from(text))
}

function objectOf(json: Buffer): Record<string, unknown> | null {
  try {
    const { value } = parseGuarded(json)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

function decodeObject(bytes: Buffer): Record<string, unknown> | null {
  if (bytes.length === 0 || bytes.length > MAX_BYTES) return null
  if (bytes[0] === 0x7b) return objectOf(bytes)
  try {
    return plain(new Decoder(LIMITS).decode(viewOf(bytes)))
  } catch {
    return null
  }
}

/** A Uint8Array, because from a Buffer every binary value would be a Buffer, which has toJSON. */
const viewOf = ({ buffer, byteOffset, length }: Buffer): Uint8Array => new Uint8Array(buffer, byteOffset, length)

/** Converts msgpack values by way of JSON: no dates, binary values, special numbers, forbidden keys or deep nesting. */
function plain(value: unknown): Record<string, unknown> | null {
  const json = JSON.stringify(value, (_, element: unknown) =>
    typeof element === 'bigint' ? JSON.rawJSON(String(element)) : ArrayBuffer.isView(element) ? null : element,
  )
  return json === undefined ? null : objectOf(Buffer.from(json))
}

/** The breadcrumbs of both files by time; SDKs overwrite one file when the other is full. */
function ring(files: readonly Buffer[]): Record<string, unknown>[] {
  const crumbs: Record<string, unknown>[] = []
  for (const file of files) {
    if (file.length === 0 || file.length > MAX_BYTES) continue
    try {
      for (const value of new Decoder(LIMITS).decodeMulti(viewOf(file))) {
        const crumb = isRecord(value) ? plain(value) : null
        if (crumb !== null) crumbs.push(crumb)
        if (crumbs.length >= MAX_BREADCRUMBS) break
      }
    } catch {
      // The crash cut the file: the earlier breadcrumbs are valid.
    }
  }
  return crumbs.toSorted((a, b) => timeOf(a) - timeOf(b))
}

function timeOf(crumb: Record<string, unknown>): number {
  const timestamp = nearestNumber(crumb['timestamp'])
  if (typeof timestamp === 'number') return timestamp * 1_000
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(time) ? 0 : time
}

function hasValues(value: unknown): boolean {
  const list = isRecord(value) ? value['values'] : value
  return isList(list) && list.length > 0
}

/** Objects are merged, everything else is replaced. */
function merge(into: Record<string, unknown>, from: Record<string, unknown> | null, depth: number): void {
  for (const [key, value] of Object.entries(from ?? {})) {
    const before = into[key]
    if (depth < MAX_DEPTH && isRecord(before) && isRecord(value)) merge(before, value, depth + 1)
    else into[key] = value
  }
}

/** `sentry[tags][a]` = b. */
function setNested(into: Record<string, unknown>, name: string, value: string): void {
  const keys = [...name.slice('sentry'.length).matchAll(/\[([^[\]]{1,200})\]/g)].map(([, key = '']) => key)
  if (keys.length === 0 || keys.length > MAX_DEPTH || !keys.every(isSafeKey)) return
  let at = into
  for (const key of keys.slice(0, -1)) {
    const next = at[key]
    if (isRecord(next)) at = next
    else {
      const made: Record<string, unknown> = {}
      at[key] = made
      at = made
    }
  }
  at[keys.at(-1) ?? ''] = value
}
