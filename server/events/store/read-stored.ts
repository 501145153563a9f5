import type { StoredEvent } from './event.ts'
import { decodeBodySync } from '../protocol/decode.ts'
import type { Event } from '../protocol/event.api.ts'
import { exactJson } from '#shared/exact-json.ts'
import { isRecord } from '../protocol/json.ts'
import { parseGuarded } from '../protocol/json-guard.ts'
import { normalizeEvent } from '../protocol/normalize.ts'

/** The scrubbed JSON of a stored event. @throws AppError invalid when the body is damaged */
const storedJson = (stored: StoredEvent): unknown =>
  parseGuarded(decodeBodySync(stored.body, stored.encoding), stored.bodyStart, stored.bodyEnd).value

/** The same for a response: JSON.stringify writes its numbers as they are stored. @throws AppError as above */
export function storedPayload(stored: StoredEvent): unknown {
  const body = decodeBodySync(stored.body, stored.encoding)
  const { value, dropped } = parseGuarded(body, stored.bodyStart, stored.bodyEnd)
  // Forbidden keys are never stored; if there were any, the value without them is returned.
  return dropped > 0 ? value : exactJson(body.toString('utf8', stored.bodyStart, stored.bodyEnd), value)
}

/**
 * A stored event, normalised again by the rules of digestion.
 * @throws AppError invalid when the body is damaged
 */
export function readStoredEvent(stored: StoredEvent): Event {
  const value = storedJson(stored)
  return normalizeEvent(isRecord(value) ? value : {}, {
    eventId: stored.eventId,
    receivedAt: stored.receivedAt,
    sentAt: stored.sentAt,
    clientIp: stored.clientIp,
    userAgent: stored.userAgent,
    defaultEnvironment: stored.environment,
  })
}
