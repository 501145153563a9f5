import { type OwnHeader, MASK } from '#shared/webhook-headers.ts'
import { createHmac } from 'node:crypto'

/** Data from which the headers of a request are made. */
type RequestParts = {
  readonly eventId: string
  readonly deliveryId: string
  readonly type: string
  readonly body: Buffer
  /** Newest first. */
  readonly secrets: readonly string[]
  /** Adds the headers of Standard Webhooks. */
  readonly isStandard: boolean
  readonly ownHeaders: readonly OwnHeader[]
  readonly version: string
  /** When it is sent. */
  readonly at: Date
}

/** The headers of a request, beside those that the connection needs. */
export function requestHeaders(parts: RequestParts): Record<string, string> {
  const { eventId, deliveryId, type, body, secrets, ownHeaders, version, at } = parts
  const timestamp = Math.floor(at.getTime() / 1_000)
  return {
    'Content-Type': 'application/json',
    'User-Agent': `faultline-webhooks/${version}`,
    'Svc-Event': type,
    'Svc-Delivery': deliveryId,
    'Svc-Timestamp': String(timestamp),
    'Svc-Signature': signature(secrets, timestamp, body),
    ...(parts.isStandard
      ? {
          'webhook-id': eventId,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': standardSignature(secrets, eventId, timestamp, body),
        }
      : {}),
    ...Object.fromEntries(ownHeaders.map(({ name, value }) => [name, value])),
  }
}

/** The headers as the log shows them: values of own headers are masked. */
export function loggedHeaders(
  headers: Readonly<Record<string, string>>,
  ownHeaders: readonly OwnHeader[],
): [name: string, value: string][] {
  const own = new Set(ownHeaders.map(({ name }) => name))
  return Object.entries(headers).map(([name, value]) => [name, own.has(name) ? MASK : value])
}

/**
 * `t=<seconds>,v1=<hex>`, as Stripe signs: HMAC-SHA256 over `<seconds>.<body>`. The key is the whole displayed secret,
 * prefix included, as UTF-8.
 * @param secrets each gives a `v1`; the newest is first
 */
export function signature(secrets: readonly string[], timestamp: number, body: Buffer): string {
  const signed = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`,
  )
  return [`t=${timestamp}`, ...signed].join(',')
}

/**
 * The signatures of Standard Webhooks: HMAC-SHA256 over `<id>.<seconds>.<body>` in base64. The key is what follows the
 * prefix of the secret, decoded.
 */
function standardSignature(secrets: readonly string[], id: string, timestamp: number, body: Buffer): string {
  const signed = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return signed.join(' ')
}
