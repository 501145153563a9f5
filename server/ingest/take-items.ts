import { type AppError, rateLimited, tooLarge } from '../kernel/errors.ts'
import { eventIdFrom, newId, unhyphenate } from '../kernel/ids.ts'
import { categoryOf } from '../protocol/categories.ts'
import { decodeStoreBody, MOST_EVENT_BYTES } from '../protocol/decode-store.ts'
import { isEventShaped, makesEvent, parseEnvelope, type Envelope } from '../protocol/envelope.ts'
import { topLevelString } from '../protocol/json-guard.ts'
import { checkDsn } from '../protocol/sentry-auth.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import type { Spool } from '../spool/write.ts'
import { rateLimitHeaders } from './answers.ts'
import type { Bodies } from './intake-body.ts'
import type { IntakeCounters } from './intake-counters.ts'
import { judgeItems, type Judgement } from './judge-items.ts'
import type { RateLimiter } from './limits.ts'
import type { ProjectKey, ProjectKeys } from './project-keys.ts'
import type { Refusals } from './refusals.ts'

export type TakingDeps = {
  readonly keys: ProjectKeys
  readonly spool: Spool
  readonly limiter: RateLimiter
  readonly refusals: Refusals
  readonly bodies: Bodies
  readonly counters: IntakeCounters
}

/** An entry but for what its items decide. */
export type Arrived = Omit<SpoolEntry, 'endpoint' | 'eventId' | 'dropped'>

/** What was put on the spool. */
export type Taken = {
  /** To be answered; null when the request held nothing that makes an event. */
  readonly eventId: string | null
  /** The 429 that tells which categories to hold back; the rest is stored. Null when nothing was limited. */
  readonly limited: AppError | null
}

/**
 * A single event of the old store endpoint.
 * @throws AppError `invalid` when it cannot be read
 */
export async function takeStore(deps: TakingDeps, arrived: Arrived, key: ProjectKey): Promise<Taken> {
  const { json } = decodeStoreBody(arrived.body, arrived.encoding)
  const eventId = eventIdFrom(topLevelString(json, 'event_id')) ?? unhyphenate(newId())
  const wait = deps.limiter.takeItem(key.id, 'error', key.ratePerMinute)
  if (wait > 0) {
    deps.counters.dropped.rate_limited++
    deps.refusals.add(key.projectId, key.id, 'error', 'rate_limited')
    const headers = rateLimitHeaders(new Map([['error', wait]]), 'rate_limit')
    return { eventId, limited: rateLimited('Too many errors from this key.', wait, headers) }
  }
  await store(deps, { ...arrived, endpoint: 'store', eventId, dropped: [] }, key)
  return { eventId, limited: null }
}

export type EnvelopeToTake = {
  /** The body decoded, where that is known already. */
  readonly decoded: Buffer | null
  /** The project in the path, to be compared with the envelope's own `dsn`. */
  readonly projectNumber: string | null
  readonly mostAttachmentBytes?: number | undefined
}

/**
 * An envelope: judges grammar and items, stores it with a note of what was dropped.
 * @throws AppError `invalid` when its grammar is broken, `too_large` when nothing of it is left
 */
export async function takeEnvelope(
  deps: TakingDeps,
  arrived: Arrived,
  key: ProjectKey,
  { decoded: known, projectNumber, mostAttachmentBytes }: EnvelopeToTake,
): Promise<Taken> {
  const look = (decoded: Buffer) => {
    const envelope = parseEnvelope(decoded)
    checkDsn(envelope.header.dsn, key.publicKey, projectNumber ?? '')
    const judgement = judgeItems(envelope.items, key, deps.limiter, mostAttachmentBytes)
    return { envelope, judgement, eventId: idOf(envelope, decoded) }
  }
  const looked = known === null ? await deps.bodies.decode(arrived.body, arrived.encoding, look) : look(known)
  const { envelope, judgement, eventId } = looked
  for (const { reason } of judgement.dropped) deps.counters.dropped[reason]++
  const limited = limitedBy(judgement)
  if (judgement.kept === 0 && judgement.dropped.length > 0) {
    for (const { index, reason } of judgement.dropped)
      deps.refusals.add(key.projectId, key.id, categoryOf(envelope.items[index]?.type ?? ''), reason)
    if (limited === null) throw tooLarge('Every item of the envelope is over its size limit.')
  } else await store(deps, { ...arrived, endpoint: 'envelope', eventId, dropped: judgement.dropped }, key)
  return { eventId, limited }
}

async function store(deps: TakingDeps, entry: SpoolEntry, key: ProjectKey): Promise<void> {
  await deps.spool.append(entry)
  deps.keys.markSeen(key)
  deps.counters.accepted++
  deps.counters.acceptedBytes += entry.body.length
}

/** The 429 for items over their rate, null when none were. */
function limitedBy({ limited }: Judgement): AppError | null {
  if (limited.size === 0) return null
  return rateLimited(
    `Too many items from this key: ${[...limited.keys()].join(', ')}.`,
    Math.max(...limited.values()),
    rateLimitHeaders(limited, 'rate_limit'),
  )
}

/** The header's id, else the payload's, else a new one; null where nothing makes an event (§6.1 rule 11). */
function idOf({ header, items }: Envelope, decoded: Buffer): string | null {
  if (header.eventId !== null) return header.eventId
  const item = items.find(({ type }) => makesEvent(type) || isEventShaped(type))
  if (item === undefined) return null
  // One that is too large is dropped anyway, and looking through it would hold up everybody.
  const isLookedAt = isEventShaped(item.type) && item.end - item.start <= MOST_EVENT_BYTES
  const inPayload = isLookedAt ? topLevelString(decoded, 'event_id', item.start, item.end) : null
  return eventIdFrom(inPayload) ?? unhyphenate(newId())
}
