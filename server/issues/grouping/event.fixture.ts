import type { Event } from '../../events/protocol/event.api.ts'
import { normalizeEvent } from '../../events/protocol/normalize.ts'

/** The Event of a raw payload. */
export function eventOf(raw: Record<string, unknown>): Event {
  return normalizeEvent(raw, {
    eventId: '9ec79c33ec9942ab8353589fcb2e04dc',
    receivedAt: new Date('2026-11-20T05:00:00Z'),
    sentAt: null,
    clientIp: null,
    userAgent: null,
  })
}

/** An error with one exception whose stack has these frames, outermost first. */
export function errorOf(platform: string, type: string, frames: object[], more: object = {}): Event {
  return eventOf({ platform, exception: { values: [{ type, value: 'it broke', stacktrace: { frames } }] }, ...more })
}
