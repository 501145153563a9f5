import { type AppError, rateLimited, tooLarge } from '../kernel/errors.ts'
import { eventIdFrom, newId, unhyphenate } from '../kernel/ids.ts'
import type { Category } from '../protocol/categories.ts'
import { QUOTA_CATEGORIES } from '../limits/org-quota.ts'
import type { RejectedOutcomes } from '../outcomes/rejected-outcomes.ts'
import { decodeStoreBody, MAX_EVENT_BYTES } from '../protocol/decode-store.ts'
import { isEventShaped, makesEvent, parseEnvelope, type Envelope } from '../protocol/envelope.ts'
import { topLevelString } from '../protocol/json-guard.ts'
import { checkDsn } from '../protocol/sentry-auth.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import type { Spool } from '../spool/write.ts'
import { keyLimits, rateLimitHeaders } from './answers.ts'
import {
  countedIfRefused,
  countedIfTooLarge,
  countedIfUnreadable,
  countedOf,
  countItems,
  countUnreceived,
  outcomesOf,
  SECOND_EVENT,
} from './count-refused.ts'
import { DROP_OUTCOMES } from '../outcomes/dropped-items.ts'
import type { Bodies } from './intake-body.ts'
import type { IntakeCounters } from './intake-counters.ts'
import { judgeEvent, judgeItems, type Judgement, type Judges } from './judge-items.ts'
import type { ProjectKey, ProjectKeys } from './project-keys.ts'

export type TakingDeps = Judges & {
  readonly keys: ProjectKeys
  readonly spool: Spool
  readonly rejected: RejectedOutcomes
  readonly bodies: Bodies
  readonly counters: IntakeCounters
}

/** An entry without the fields that depend on its items. */
export type Arrived = Omit<SpoolEntry, 'endpoint' | 'eventId' | 'dropped'>

/** What was put on the spool. */
export type Taken = {
  /** For the response; null when the request holds no event. */
  readonly eventId: string | null
  /** The 429 that announces limited categories; the rest is stored. Null when nothing was limited. */
  readonly limited: AppError | null
  /** Headers that go with a 200 to announce limits which were just reached; null for none. */
  readonly announced: Readonly<Record<string, string>> | null
}

/**
 * A single event of the old store endpoint.
 * @throws AppError `invalid` when it cannot be read
 */
export async function takeStore(deps: TakingDeps, arrived: Arrived, key: ProjectKey): Promise<Taken> {
  const { json } = countedIfTooLarge(deps, key, () => decodeStoreBody(arrived.body, arrived.encoding))
  const eventId = eventIdFrom(topLevelString(json, 'event_id')) ?? unhyphenate(newId())
  const { refused, letThrough } = judgeEvent(deps, key, { decoded: json, start: 0, end: json.length })
  if (refused !== null) {
    const { reason, wait } = refused
    deps.counters.dropped[reason]++
    countItems(deps, key, [{ category: 'error', quantity: 1, ...DROP_OUTCOMES[reason] }])
    const isQuota = reason === 'quota'
    const limited = limitedBy(isQuota ? new Map() : new Map([['error', wait]]), isQuota ? wait : 0)
    return { eventId, limited, announced: null }
  }
  const stored = store(deps, { ...arrived, endpoint: 'store', eventId, dropped: [] }, key)
  await countedIfRefused(deps, key, stored, () => [{ category: 'error', quantity: 1 }])
  tellLetThrough(deps, key, letThrough)
  return { eventId, limited: null, announced: null }
}

export type EnvelopeToTake = {
  /** The decoded body, if it was decoded before. */
  readonly decoded: Buffer | null
  /** The project in the path, to be compared with the envelope's own `dsn`. */
  readonly projectNumber: string | null
  readonly mostAttachmentBytes?: number | undefined
}

/**
 * An envelope: checks grammar and items, stores it with a list of dropped items.
 * @throws AppError `invalid` when its grammar is broken, `too_large` when nothing of it is left
 */
export async function takeEnvelope(
  deps: TakingDeps,
  arrived: Arrived,
  key: ProjectKey,
  { decoded: known, projectNumber, mostAttachmentBytes }: EnvelopeToTake,
): Promise<Taken> {
  let hasLooked = false
  const look = (decoded: Buffer) => {
    hasLooked = true
    const envelope = countedIfUnreadable(deps, key, decoded, () => parseEnvelope(decoded))
    checkDsn(envelope.header.dsn, key.publicKey, projectNumber ?? '')
    const judgement = judgeItems(deps, key, decoded, envelope.items, mostAttachmentBytes)
    return { envelope, judgement, eventId: idOf(envelope, decoded) }
  }
  let looked: ReturnType<typeof look>
  try {
    looked = known === null ? await deps.bodies.decode(arrived.body, arrived.encoding, look) : look(known)
  } catch (error) {
    // It decodes to too many bytes, or there is no memory for it at the moment.
    if (!hasLooked) countUnreceived(deps, key, error)
    throw error
  }
  const { envelope, judgement, eventId } = looked
  const { dropped, kept } = judgement
  for (const { reason } of dropped) deps.counters.dropped[reason]++
  const limited = limitedBy(judgement.limited, judgement.quotaWait)
  if (kept === 0 && dropped.length > 0) {
    countItems(deps, key, outcomesOf(envelope.items, dropped, SECOND_EVENT))
    if (limited === null) throw tooLarge('Every item of the envelope is over its size limit.')
    return { eventId, limited, announced: null }
  }
  const stored = store(deps, { ...arrived, endpoint: 'envelope', eventId, dropped }, key)
  await countedIfRefused(deps, key, stored, () => envelope.items.map(countedOf))
  tellLetThrough(deps, key, judgement.letThrough)
  return {
    eventId,
    limited,
    announced: judgement.spent.size === 0 ? null : rateLimitHeaders(keyLimits(judgement.spent)),
  }
}

async function store(deps: TakingDeps, entry: SpoolEntry, key: ProjectKey): Promise<void> {
  await deps.spool.append(entry)
  deps.keys.markSeen(key)
  deps.counters.accepted++
  deps.counters.acceptedBytes += entry.body.length
}

function tellLetThrough(deps: TakingDeps, key: ProjectKey, letThrough: Judgement['letThrough']): void {
  if (letThrough === null) return
  deps.counters.letThrough++
  deps.rejected.addStorm(key.projectId, key.id, letThrough === 'first')
}

/** The 429 for items over their rate or over the quota, null when none were. */
function limitedBy(waits: ReadonlyMap<Category, number>, quotaWait: number): AppError | null {
  const limits = keyLimits(waits)
  if (quotaWait > 0)
    limits.push({ categories: QUOTA_CATEGORIES, seconds: quotaWait, scope: 'organization', reason: 'quota' })
  if (limits.length === 0) return null
  const message =
    waits.size === 0
      ? "The organisation's quota of events for today is used up."
      : `Too many items from this key: ${[...waits.keys()].join(', ')}.`
  return rateLimited(message, Math.max(...limits.map(({ seconds }) => seconds)), rateLimitHeaders(limits))
}

/** The header's id, else the payload's, else a new one; null where nothing makes an event (docs/protocol.md §4.1 rule 11). */
function idOf({ header, items }: Envelope, decoded: Buffer): string | null {
  if (header.eventId !== null) return header.eventId
  const item = items.find(({ type }) => makesEvent(type) || isEventShaped(type))
  if (item === undefined) return null
  // An event over the size limit is dropped anyway, and scanning it would block other requests.
  const isLookedAt = isEventShaped(item.type) && item.end - item.start <= MAX_EVENT_BYTES
  const inPayload = isLookedAt ? topLevelString(decoded, 'event_id', item.start, item.end) : null
  return eventIdFrom(inPayload) ?? unhyphenate(newId())
}
