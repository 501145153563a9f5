import { z } from 'zod'
import { MASK } from '#shared/webhook-headers.ts'
import type { EgressError, EgressResponse, EgressTimings } from '../context/egress.ts'
import { withoutEcho } from './mask-echo.ts'

const MAX_HEADER_BYTES = 4 * 1024
const MAX_BODY_BYTES = 16 * 1024

const Headers = z.array(z.tuple([z.string(), z.string()]))

/** Details that the log keeps of an attempt, beside the details that the outbox keeps of every attempt. */
export const AttemptDetails = z.object({
  dns_ms: z.number().nullable().default(null),
  connect_ms: z.number().nullable().default(null),
  tls_ms: z.number().nullable().default(null),
  remote_ip: z.string().nullable().default(null),
  /** Which step failed; null with an answer. */
  error_kind: z.string().nullable().default(null),
  request_headers: Headers.default([]),
  response_headers: Headers.default([]),
  response_body: z.string().nullable().default(null),
})
export type AttemptDetails = z.infer<typeof AttemptDetails>

type Sent = {
  readonly requestHeaders: [string, string][]
  /** Texts that are masked when the answer repeats them. */
  readonly confidential: RegExp | null
}

export const detailsOfAnswer = (answer: EgressResponse, { requestHeaders, confidential }: Sent): AttemptDetails => ({
  ...steps(answer.timings),
  remote_ip: answer.remoteIp,
  error_kind: null,
  request_headers: requestHeaders,
  response_headers: shortened(answer.headers, confidential),
  response_body: textOf(answer.body, confidential),
})

export const detailsOfError = (error: EgressError, { requestHeaders }: Sent): AttemptDetails => ({
  ...steps(error.timings),
  remote_ip: error.remoteIp,
  error_kind: error.kind,
  request_headers: requestHeaders,
  response_headers: [],
  response_body: null,
})

const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms * 10) / 10)

const steps = ({ dnsMs, connectMs, tlsMs }: EgressTimings) => ({
  dns_ms: rounded(dnsMs),
  connect_ms: rounded(connectMs),
  tls_ms: rounded(tlsMs),
})

/** Whole headers, as long as they fit. */
function shortened(
  headers: readonly (readonly [name: string, value: string])[],
  confidential: RegExp | null,
): [string, string][] {
  const masked = (text: string): string => (confidential === null ? text : text.replaceAll(confidential, MASK))
  let left = MAX_HEADER_BYTES
  return headers.flatMap((header): [string, string][] => {
    const [name, value] = [masked(header[0]), masked(header[1])]
    left -= Buffer.byteLength(name) + Buffer.byteLength(value)
    return left < 0 ? [] : [[name, value]]
  })
}

/** The beginning of a body as text; a character that is cut is left out. */
function textOf(body: Buffer, confidential: RegExp | null): string {
  const cut = withoutEcho(body, MAX_BODY_BYTES, confidential)
  return new TextDecoder().decode(cut, { stream: body.length > MAX_BODY_BYTES || cut.length === MAX_BODY_BYTES })
}
