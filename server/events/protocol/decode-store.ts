import type { ContentEncoding } from '../../platform/kernel/inflate.ts'
import { invalid, tooLarge } from '../../platform/kernel/errors.ts'
import { decodeBodySync } from './decode.ts'

/** Maximum size of an event, decoded (docs/protocol.md §6); `/store/` takes exactly one. */
export const MAX_EVENT_BYTES = 1024 * 1024
/** Base64 and form encoding make a body larger; above this size its event is over the limit. */
const MAX_STORE_WIRE_BYTES = 4 * 1024 * 1024

type StoreBody = {
  /** The event's JSON text; starts with `{`. */
  readonly json: Buffer
  /** True when the bytes are `json` with a Content-Encoding, without base64 or form encoding. */
  readonly plain: boolean
}

const FORM_FIELD = 'sentry_data='

/**
 * Decodes a body of `/store/`: JSON, base64 of zlib (raven), or a form field `sentry_data` holding either
 * (docs/protocol.md §3.2). Takes at most a few milliseconds, because everything above an event's limit is refused.
 * @throws AppError `invalid` when it contains no JSON object, `too_large` above 1 MiB
 */
export function decodeStoreBody(raw: Buffer, encoding: ContentEncoding): StoreBody {
  if (raw.length > MAX_STORE_WIRE_BYTES) throw tooMuch()
  if (raw.length === 0) throw invalid('The request has no body.')
  const decoded = decodeBodySync(raw, encoding, MAX_STORE_WIRE_BYTES)
  if (beginsObject(decoded)) {
    if (decoded.length > MAX_EVENT_BYTES) throw tooMuch()
    return { json: decoded, plain: true }
  }
  if (encoding !== 'none') throw invalid('The decoded body does not begin with {.')
  return { json: unwrap(decoded), plain: false }
}

function unwrap(body: Buffer): Buffer {
  const text =
    body.subarray(0, FORM_FIELD.length).toString('latin1') === FORM_FIELD
      ? formValue(body)
      : body.toString('latin1').trim()
  if (text.startsWith('{')) return within(Buffer.from(text))
  // Form decoding turns + into a space; both base64 alphabets occur.
  const base64 = text.replace(/ /g, '+').replace(/[\r\n]/g, '')
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64))
    throw invalid('The body does not begin with { and is not base64 either.')
  const bytes = Buffer.from(base64, 'base64')
  if (beginsObject(bytes)) return within(bytes)
  const json = decodeBodySync(bytes, 'deflate', MAX_STORE_WIRE_BYTES)
  if (!beginsObject(json)) throw invalid('The decoded body does not begin with {.')
  return within(json)
}

function formValue(body: Buffer): string {
  const text = body.toString('latin1', FORM_FIELD.length)
  const end = text.indexOf('&')
  const value = (end === -1 ? text : text.slice(0, end)).replace(/\+/g, ' ')
  try {
    return decodeURIComponent(value).trim()
  } catch {
    throw invalid('sentry_data is not valid form encoding.')
  }
}

function within(json: Buffer): Buffer {
  if (json.length > MAX_EVENT_BYTES) throw tooMuch()
  return json
}

const tooMuch = () => tooLarge('An event must be at most 1 MiB.')

/** Whether the first byte after white space is `{`. */
function beginsObject(bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === 0x7b) return true
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false
  }
  return false
}
