import type { StoredEvent } from '../events/event.ts'
import { decodeBodySync } from './decode.ts'
import type { Event } from './event.api.ts'
import { isRecord } from './json.ts'
import { parseGuarded } from './json-guard.ts'
import { normalizeEvent } from './normalize.ts'

/**
 * A stored event as people and programs read it: what digestion saw, normalised again by the same rules.
 * @throws AppError invalid when the body is damaged
 */
export function readStoredEvent(stored: StoredEvent): Event {
  const decoded = decodeBodySync(stored.body, stored.encoding)
  const { value } = parseGuarded(decoded, stored.bodyStart, stored.bodyEnd)
  return normalizeEvent(isRecord(value) ? value : {}, {
    eventId: stored.eventId,
    receivedAt: stored.receivedAt,
    sentAt: stored.sentAt,
    clientIp: stored.clientIp,
    userAgent: stored.userAgent,
    defaultEnvironment: stored.environment,
  })
}
