import { AppError } from '../../platform/kernel/errors.ts'
import type { ContentEncoding } from '../../platform/kernel/inflate.ts'
import { decodeBodySync } from '../protocol/decode.ts'
import type { Event } from '../protocol/event.api.ts'
import { exactJson } from '#shared/exact-json.ts'
import { isRecord } from '../protocol/json.ts'
import { parseGuarded } from '../protocol/json-guard.ts'
import { normalizeEvent } from '../protocol/normalize.ts'

/** Values that many events of a project share: rows of events hold their numbers. Empty and null are unknown. */
export type EventValues = {
  /** Name of the operating system, without version. */
  readonly os: string | null
  /** Model of the device. */
  readonly device: string | null
  readonly exceptionType: string | null
}

/** A stored event: fields for queries, and its body. */
export type StoredEvent = {
  readonly projectId: string
  /** 32 lower-case hex digits. */
  readonly eventId: string
  readonly issueId: string
  readonly receivedAt: Date
  readonly occurredAt: Date
  readonly sentAt: Date | null
  readonly level: string
  readonly release: string | null
  readonly environment: string
  readonly clientIp: string | null
  readonly userAgent: string | null
  /** Hash of the user, as in `issue_users`: 52 bits, which a number represents exactly. */
  readonly userHash: number | null
  /** Absent: unknown. */
  readonly values?: EventValues
  readonly encoding: ContentEncoding
  /** The event's JSON is `decoded.subarray(bodyStart, bodyEnd)`. */
  readonly bodyStart: number
  readonly bodyEnd: number
  readonly body: Buffer
  /** The body is in object storage, which cannot be read now. */
  readonly isAway?: true
}

/** Event ids are unique per project during this number of received days. */
export const UNIQUE_DAYS = 7

/** A stored event on its way to another thread: a copy of a Buffer is a plain array there, and takes the memory around it. */
export type ClonedEvent = Omit<StoredEvent, 'body'> & { readonly body: Uint8Array }

export const eventForThread = (stored: StoredEvent): ClonedEvent => ({ ...stored, body: new Uint8Array(stored.body) })

export const eventFromThread = (cloned: ClonedEvent): StoredEvent => ({
  ...cloned,
  body: Buffer.from(cloned.body.buffer, cloned.body.byteOffset, cloned.body.byteLength),
})

const AWAY = 'The body of this event is in object storage, which cannot be read now.'

/** The scrubbed JSON of a stored event. @throws AppError invalid when the body is damaged, unavailable when it is away */
function storedJson(stored: StoredEvent): unknown {
  if (stored.isAway === true) throw new AppError('unavailable', AWAY)
  return parseGuarded(decodeBodySync(stored.body, stored.encoding), stored.bodyStart, stored.bodyEnd).value
}

/** The same for a response: JSON.stringify writes its numbers as they are stored. @throws AppError as above */
export function storedPayload(stored: StoredEvent): unknown {
  const body = decodeBodySync(stored.body, stored.encoding)
  const { value, dropped } = parseGuarded(body, stored.bodyStart, stored.bodyEnd)
  // Forbidden keys are never stored; if there were any, the value without them is returned.
  return dropped > 0 ? value : exactJson(body.toString('utf8', stored.bodyStart, stored.bodyEnd), value)
}

/** An event whose body is away, as its page shows it: what its row has, and why there is no more. */
export function eventWithoutBody({ level, release, environment, ...stored }: StoredEvent): Event {
  const known = { level, environment, message: AWAY, ...(release === null ? {} : { release }) }
  const event = normalizeEvent(known, contextOf({ ...stored, environment }))
  return { ...event, errors: [...event.errors, { name: 'body', reason: AWAY }] }
}

const contextOf = (stored: Omit<StoredEvent, 'level' | 'release'>) => ({
  eventId: stored.eventId,
  receivedAt: stored.receivedAt,
  sentAt: stored.sentAt,
  clientIp: stored.clientIp,
  userAgent: stored.userAgent,
  defaultEnvironment: stored.environment,
})

/**
 * A stored event, normalised again by the rules of digestion.
 * @throws AppError invalid when the body is damaged, unavailable when it is away
 */
export function readStoredEvent(stored: StoredEvent): Event {
  const value = storedJson(stored)
  return normalizeEvent(isRecord(value) ? value : {}, contextOf(stored))
}
