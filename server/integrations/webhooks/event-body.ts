import { COMMON_FIELDS, type WebhookEvent } from '#shared/webhook-events.ts'

const MAX_BODY_BYTES = 64 * 1024

/** The occurrence that an event describes. */
export type EventContent = {
  readonly id: string
  readonly appId: string
  /** Whom it is about. */
  readonly userId: string | null
  readonly occurredAt: Date
  /** Fields that the type does not have are left out, missing ones become null. */
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * The bytes of an event, which every attempt sends unchanged and signs. The keys have a fixed order. Of what is known only
 * the fields of the type leave the service.
 */
export function eventBody(event: WebhookEvent, { id, appId, userId, occurredAt, data }: EventContent): Buffer {
  const bytesWith = (content: Readonly<Record<string, unknown>>): Buffer =>
    Buffer.from(
      JSON.stringify({
        id,
        type: event.type,
        app_id: appId,
        user_id: userId,
        occurred_at: occurredAt.toISOString(),
        data: content,
      }),
    )
  const fields = [...COMMON_FIELDS, ...event.fields]
  const whole = bytesWith(Object.fromEntries(fields.map((name) => [name, data[name] ?? null])))
  if (whole.length <= MAX_BODY_BYTES) return whole
  const ids = fields.filter((name) => name.endsWith('_id') && typeof data[name] === 'string')
  return bytesWith({ ...Object.fromEntries(ids.map((name) => [name, data[name]])), truncated: true })
}
