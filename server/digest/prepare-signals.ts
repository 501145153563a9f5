import type { StoredEvent } from '../events/event.ts'
import { measureAnr, measureSignals } from '../performance/measure-signals.ts'
import type { PerformanceFact } from '../performance/fact.ts'
import { isRecord } from '../protocol/json.ts'
import { anrCause } from '../protocol/anr-cause.ts'
import { deviceSignals } from '../protocol/device-signals.ts'
import type { Event } from '../protocol/event.api.ts'
import { originOfEvent } from '../protocol/event-origin.ts'
import { Notes } from '../protocol/notes.ts'
import { eventTime } from '../protocol/time.ts'
import { hashUser } from '../protocol/user-hash.ts'
import type { ItemInput } from './item.ts'
import { isErased } from './project-facts.ts'

/**
 * What an error event adds to performance figures: its cause as an ANR, and its device's warnings and battery levels.
 * @param raw the scrubbed payload
 */
export function signalsOfEvent(
  raw: Record<string, unknown>,
  event: Event,
  stored: Pick<StoredEvent, 'projectId' | 'eventId' | 'receivedAt' | 'sentAt' | 'occurredAt' | 'userHash'>,
  fingerprint: Buffer,
): PerformanceFact[] {
  const { projectId, eventId, occurredAt, receivedAt, sentAt, userHash } = stored
  const about = { projectId, id: eventId, at: occurredAt, user: userHash, origin: originOfEvent(event) }
  const facts: PerformanceFact[] = []
  const cause = anrCause(event)
  if (cause !== null) facts.push(measureAnr(about, cause, fingerprint.toString('hex')))
  const { shiftMs } = eventTime(raw['timestamp'], receivedAt, sentAt, new Notes())
  const signals = deviceSignals(raw, occurredAt, shiftMs)
  if (signals !== null) facts.push(measureSignals({ ...about, screen: screenOf(event) }, signals))
  return facts
}

/** The screen that was open: the newest of those that the app names, else the transaction. */
function screenOf({ contexts, transaction }: Event): string {
  const views = contexts['app']?.['view_names']
  const newest: unknown = Array.isArray(views) ? views.at(-1) : null
  return typeof newest === 'string' && newest !== '' ? newest.slice(0, MAX_SCREEN) : (transaction ?? '')
}

const MAX_SCREEN = 200

/** What a transaction says about its device; null when nothing. Its screen is its own name. */
export function signalsOfTransaction(
  { project, receivedAt, sentAt }: ItemInput,
  raw: Record<string, unknown>,
  { dimensions, identities, at }: PerformanceFact,
): PerformanceFact | null {
  if (dimensions === null) return null
  const { shiftMs } = eventTime(raw['timestamp'], receivedAt, sentAt, new Notes())
  const signals = deviceSignals(raw, at, shiftMs)
  if (signals === null) return null
  const key = isRecord(raw['user']) ? userKey(raw['user']) : null
  const user = key === null ? null : hashUser(project.projectId, key)
  if (isErased(project, user, receivedAt)) return null
  const about = { projectId: project.projectId, id: String(identities[0]), at, user, origin: dimensions }
  return measureSignals({ ...about, screen: dimensions.name }, signals)
}

/** The key that events of the same user have. */
function userKey(user: Record<string, unknown>): string | null {
  for (const key of [user['id'], user['username'], user['email']]) {
    if (typeof key === 'number') return String(key)
    if (typeof key === 'string' && key !== '') return key
  }
  return null
}
