import type { StoredEvent } from '../../events/store/event.ts'
import { measureAnr, measureSignals, type Reporter } from '../../telemetry/performance/measure-signals.ts'
import type { PerformanceFact } from '../../telemetry/performance/fact.ts'
import { type PrecursorReport, signsOfEvent, signsOfTransaction } from '../../telemetry/precursors/precursor.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { anrCause } from '../../events/protocol/anr.ts'
import { deviceSignals, type DeviceSignals } from '../../events/protocol/device-signals.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { originOfEvent } from '../../events/protocol/transaction.ts'
import { Notes } from '../../events/protocol/strings.ts'
import { eventTime } from '../../events/protocol/time.ts'
import { hashUser } from '../../events/protocol/user.ts'
import type { Counted } from '../../events/items/recorder.ts'
import type { ItemInput, PreparedItem } from './item.ts'
import { isErased } from './project-facts.ts'

/** Other facts that an error event or transaction carries. */
export type Signals = {
  /** For performance figures: the cause of an ANR, the device's warnings and battery levels. */
  readonly performance: readonly PerformanceFact[]
  readonly precursors: PrecursorReport | null
}

/**
 * The signals of an error event.
 * @param raw the scrubbed payload
 * @param isCrash whether the event ended the app
 */
export function signalsOfEvent(
  raw: Record<string, unknown>,
  event: Event,
  stored: Pick<StoredEvent, 'projectId' | 'eventId' | 'receivedAt' | 'sentAt' | 'occurredAt' | 'userHash'>,
  fingerprint: Buffer,
  isCrash: boolean,
): Signals {
  const { projectId, eventId, occurredAt, receivedAt, sentAt, userHash } = stored
  const about = { projectId, id: eventId, at: occurredAt, user: userHash, origin: originOfEvent(event) }
  const facts: PerformanceFact[] = []
  const cause = anrCause(event)
  if (cause !== null) facts.push(measureAnr(about, cause, fingerprint.toString('hex')))
  const { shiftMs } = eventTime(raw['timestamp'], receivedAt, sentAt, new Notes())
  const signals = deviceSignals(raw, occurredAt, shiftMs)
  if (signals !== null && isMeasured(signals))
    facts.push(measureSignals({ ...about, screen: screenOf(event) }, signals))
  const signs = signsOfEvent(event, isCrash, occurredAt, signals)
  return { performance: facts, precursors: precursorsOf(about, signs, signals) }
}

const isMeasured = ({ levels, warnings }: DeviceSignals): boolean => levels.length > 0 || warnings.length > 0

/**
 * Null when a report says nothing. Without a user the model stands for all devices of its kind: too few, never too many.
 * Memory counts on devices only: on a server it grows with the requests of all users.
 */
function precursorsOf(
  { projectId, user, origin }: Pick<Reporter, 'projectId' | 'user' | 'origin'>,
  signs: PrecursorReport['signs'],
  signals: DeviceSignals | null,
): PrecursorReport | null {
  const memory = user === null || origin.device === '' ? NO_MEMORY : (signals?.memory ?? NO_MEMORY)
  if (signs.length === 0 && memory.length === 0) return null
  const owner = user ?? hashUser(projectId, `device\n${origin.device}\n${origin.os}\n${origin.release}`)
  return { projectId, owner, signs, memory }
}

const NO_MEMORY: PrecursorReport['memory'] = []

/** The screen that was open: the newest of those that the app names, else the transaction. */
function screenOf({ contexts, transaction }: Event): string {
  const views = contexts['app']?.['view_names']
  const newest: unknown = Array.isArray(views) ? views.at(-1) : null
  return typeof newest === 'string' && newest !== '' ? newest.slice(0, MAX_SCREEN) : (transaction ?? '')
}

const MAX_SCREEN = 200

/** The signals of a transaction. Its screen is its own name. */
export function signalsOfTransaction(
  { project, receivedAt, sentAt }: ItemInput,
  raw: Record<string, unknown>,
  { dimensions, identities, values, at }: PerformanceFact,
): Signals {
  if (dimensions === null) return NO_SIGNALS
  const { shiftMs } = eventTime(raw['timestamp'], receivedAt, sentAt, new Notes())
  const signals = deviceSignals(raw, at, shiftMs)
  const signs = signsOfTransaction(values, at, signals)
  if (signals === null && signs.length === 0) return NO_SIGNALS
  const key = isRecord(raw['user']) ? userKey(raw['user']) : null
  const user = key === null ? null : hashUser(project.projectId, key)
  if (isErased(project, user, receivedAt)) return NO_SIGNALS
  const about = { projectId: project.projectId, id: String(identities[0]), at, user, origin: dimensions }
  const isWorth = signals !== null && isMeasured(signals)
  return {
    performance: isWorth ? [measureSignals({ ...about, screen: dimensions.name }, signals)] : [],
    precursors: precursorsOf(about, signs, signals),
  }
}

const NO_SIGNALS: Signals = { performance: [], precursors: null }

/** The key that events of the same user have. */
function userKey(user: Record<string, unknown>): string | null {
  for (const key of [user['id'], user['username'], user['email']]) {
    if (typeof key === 'number') return String(key)
    if (typeof key === 'string' && key !== '') return key
  }
  return null
}

/** The facts of signals, counted with their event or transaction. */
export function itemsOfSignals(category: Counted['category'], { performance, precursors }: Signals): PreparedItem[] {
  const items: PreparedItem[] = performance.map((fact) => ({ category, quantity: 0, kind: 'performance', fact }))
  if (precursors !== null) items.push({ category, quantity: 0, kind: 'precursors', fact: precursors })
  return items
}
