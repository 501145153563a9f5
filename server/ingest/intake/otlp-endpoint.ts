import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { AppError, type ErrorCode, tooLarge } from '../../platform/kernel/errors.ts'
import { MAX_OTLP_ENTRIES } from '../../events/protocol/otlp.ts'
import { countOtlpJson } from '../../events/protocol/otlp-json.ts'
import { countOtlp, type OtlpSignal, OTLP_ITEMS, PROTOBUF } from '../../events/protocol/otlp-wire.ts'
import { writeEnvelope } from '../../events/protocol/envelope.ts'
import { answerWith, toRefusalAnswer } from './answers.ts'
import type { ArrivalHead, Endpoint } from './endpoint.ts'

const JSON_TYPE = 'application/json'
/** Maximum size of a body, encoded and decoded; the same as for containers. */
const MAX_BYTES = 12 * 1024 * 1024

const PATHS: ReadonlyMap<string, OtlpSignal> = new Map<string, OtlpSignal>([
  ['integration/otlp/v1/traces', 'traces'],
  ['integration/otlp/v1/logs', 'logs'],
  ['otlp/v1/traces', 'traces'],
  ['otlp/v1/logs', 'logs'],
])

/** JSON field for the number of refused entries. */
const REJECTED: Readonly<Record<OtlpSignal, string>> = { traces: 'rejectedSpans', logs: 'rejectedLogRecords' }

/** Refused entries of a request until its response; the key is its headers object, which both calls receive. */
const rejected = new WeakMap<IncomingHttpHeaders, number>()

/**
 * OTLP over HTTP (docs/protocol.md §14): traces and logs, protobuf or JSON. Responses follow the OTLP specification: the
 * media type of the request, an Export…ServiceResponse on success, a google.rpc.Status on failure.
 */
export const otlpEndpoint: Endpoint = {
  methods: 'POST',
  match(path) {
    const signal = PATHS.get(path)
    return signal === undefined ? null : { signal }
  },
  maxWireBytes: MAX_BYTES,
  announcesLimits: true,
  check({ mediaType }) {
    if (mediaType !== PROTOBUF && mediaType !== JSON_TYPE)
      throw new AppError('unsupported_media', `Send OTLP as ${PROTOBUF} or ${JSON_TYPE}.`)
  },
  async toEnvelope(arrival) {
    const payload = await arrival.decoded()
    if (payload.length > MAX_BYTES) throw tooLarge(`An export request may hold at most ${MAX_BYTES / 1024 / 1024} MiB.`)
    const signal = signalOf(arrival)
    const isProtobuf = arrival.mediaType === PROTOBUF
    const count = isProtobuf ? countOtlp(payload) : countOtlpJson(payload.toString(), signal)
    if (count > MAX_OTLP_ENTRIES) rejected.set(arrival.headers, count - MAX_OTLP_ENTRIES)
    if (count === 0) return writeEnvelope({}, [])
    const headers = { item_count: count, content_type: isProtobuf ? PROTOBUF : JSON_TYPE }
    return writeEnvelope({}, [{ type: OTLP_ITEMS[signal], headers, payload }])
  },
  accepted(response, arrival) {
    const count = rejected.get(arrival.headers) ?? 0
    const message = `At most ${MAX_OTLP_ENTRIES.toLocaleString('en')} entries of one request are accepted.`
    if (arrival.mediaType === PROTOBUF)
      return answerWith(response, 200, PROTOBUF, count === 0 ? new Uint8Array() : partialSuccess(count, message))
    const partial = { partialSuccess: { [REJECTED[signalOf(arrival)]]: String(count), errorMessage: message } }
    return answerWith(response, 200, JSON_TYPE, count === 0 ? '{}' : JSON.stringify(partial))
  },
  refused,
}

const signalOf = ({ params }: ArrivalHead): OtlpSignal => (params.signal === 'logs' ? 'logs' : 'traces')

/** `Export…ServiceResponse { partial_success = 1 { rejected_… = 1; error_message = 2 } }`, the same for both signals. */
function partialSuccess(count: number, message: string): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).fork()
  writer.tag(1, WireType.Varint).int64(count).tag(2, WireType.LengthDelimited).string(message)
  return writer.join().finish()
}

/** Canonical codes of google.rpc. */
const RPC_CODES: Readonly<Record<ErrorCode, number>> = {
  invalid: 3,
  unauthenticated: 16,
  forbidden: 7,
  not_found: 5,
  conflict: 6,
  too_large: 3,
  unsupported_media: 3,
  rate_limited: 8,
  unavailable: 14,
}

/** `google.rpc.Status { code = 1; message = 2 }`; in JSON also with the field names of the other endpoints. */
function refused(response: ServerResponse, head: ArrivalHead, error: AppError): number {
  const { status, headers } = toRefusalAnswer(error)
  const code = RPC_CODES[error.code]
  const { message } = error
  if (head.mediaType === PROTOBUF) {
    const writer = new BinaryWriter().tag(1, WireType.Varint).int32(code)
    const body = writer.tag(2, WireType.LengthDelimited).string(message).finish()
    return answerWith(response, status, PROTOBUF, body, headers)
  }
  return answerWith(
    response,
    status,
    JSON_TYPE,
    JSON.stringify({ code, message, detail: message, error: message }),
    headers,
  )
}
