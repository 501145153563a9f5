import { createHmac } from 'node:crypto'

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
export function standardSignature(secrets: readonly string[], id: string, timestamp: number, body: Buffer): string {
  const signed = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return signed.join(' ')
}
