import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Signatures of the chat platform: `v0=` and the HMAC-SHA256 of `v0:<timestamp>:<body>`, in hexadecimal. */

/** Slack's own verifier checks only the past. */
const MAX_SKEW_SECONDS = 300

/** How long a verified request can be repeated: one from the future stays in the window twice as long. */
export const REPLAY_WINDOW_MS = 2 * MAX_SKEW_SECONDS * 1000

/** Names of the header in the specification and at Slack; the first that is there counts. */
const SIGNATURE_HEADERS = ['x-chat-signature', 'x-slack-signature']
const TIMESTAMP_HEADERS = ['x-chat-request-timestamp', 'x-chat-timestamp', 'x-slack-request-timestamp']

export type SignedRequest = { readonly headers: IncomingHttpHeaders; readonly body: Buffer }

/** @returns the signature, by which a replay is known; null when the request is not signed for this moment */
export function verifyChatSignature({ headers, body }: SignedRequest, secret: string, now: Date): Buffer | null {
  const [, hex] = /^v0=([0-9a-f]{64})$/.exec(textOf(headers, SIGNATURE_HEADERS)) ?? []
  const [timestamp] = /^[0-9]{1,12}$/.exec(textOf(headers, TIMESTAMP_HEADERS)) ?? []
  if (hex === undefined || timestamp === undefined) return null
  const made = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest()
  const given = Buffer.from(hex, 'hex')
  if (!timingSafeEqual(given, made)) return null
  return Math.abs(now.getTime() / 1000 - Number(timestamp)) > MAX_SKEW_SECONDS ? null : made
}

function textOf(headers: IncomingHttpHeaders, names: readonly string[]): string {
  const name = names.find((one) => headers[one] !== undefined)
  const value = name === undefined ? undefined : headers[name]
  return typeof value === 'string' ? value : ''
}
