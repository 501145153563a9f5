import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Checks of signatures over the bytes of a delivery, in constant time. */

/** For the form with a time: refused when it lies further from now, in either direction. */
const MAX_SKEW_SECONDS = 300

export const readHeader = (headers: IncomingHttpHeaders, name: string): string | null => {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}

/** `X-Hub-Signature-256: sha256=<hex>` over the body. */
export function isHubSigned(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(readHeader(headers, 'x-hub-signature-256') ?? '') ?? []
  if (hex === undefined) return false
  return timingSafeEqual(Buffer.from(hex, 'hex'), createHmac('sha256', secret).update(body).digest())
}

/** The secret itself in a header, as GitLab sends it. */
export function isSecretSent(headers: IncomingHttpHeaders, name: string, secret: string): boolean {
  const given = readHeader(headers, name)
  return given !== null && timingSafeEqual(digestOf(given), digestOf(secret))
}

/** `webhook-signature: v1,<base64>` over id, time and body, the form of Standard Webhooks. */
export function isStandardSigned(headers: IncomingHttpHeaders, body: Buffer, secret: string, now: Date): boolean {
  const id = readHeader(headers, 'webhook-id')
  const time = readHeader(headers, 'webhook-timestamp')
  if (id === null || time === null || !/^\d{1,12}$/.test(time)) return false
  if (Math.abs(now.getTime() / 1000 - Number(time)) > MAX_SKEW_SECONDS) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const made = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest()
  return (readHeader(headers, 'webhook-signature') ?? '').split(' ').some((one) => {
    const given = Buffer.from(one.startsWith('v1,') ? one.slice(3) : '', 'base64')
    return given.length === made.length && timingSafeEqual(given, made)
  })
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
