import { type AppError, rateLimited, tooLarge } from '../../platform/kernel/errors.ts'
import { eventIdFrom, newId, unhyphenate } from '../../platform/kernel/ids.ts'
import {
  type Category,
  isEventShaped,
  makesEvent,
  parseEnvelope,
  type Envelope,
  writeEnvelope,
} from '../../events/protocol/envelope.ts'
import { QUOTA_CATEGORIES } from '../limits/org-quota.ts'
import type { RejectedOutcomes } from '../outcomes/rejected-outcomes.ts'
import { decodeStoreBody, MAX_EVENT_BYTES } from '../../events/protocol/decode-store.ts'
import { topLevelString } from '../../events/protocol/json-guard.ts'
import { checkDsn } from '../../events/protocol/sentry-auth.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import type { Spool } from '../spool/write.ts'
import { keyLimits, rateLimitHeaders, type IntakeCounters } from './answers.ts'
import {
  countedIfRefused,
  countedIfTooLarge,
  countedIfUnreadable,
  countItem,
  countItems,
  countUnreceived,
  envelopeOutcomes,
  SECOND_EVENT,
} from './count-refused.ts'
import { DROP_OUTCOMES } from '../outcomes/dropped-items.ts'
import type { Bodies } from './intake-body.ts'
import { checkEvent, checkItems, type LimitCheck, type Limits } from './check-limits.ts'
import type { ProjectKey, ProjectKeys } from './project-keys.ts'

export type TakingDeps = Limits & {
  readonly keys: ProjectKeys
  readonly spool: Spool
  readonly rejected: RejectedOutcomes
  readonly bodies: Bodies
  readonly counters: IntakeCounters
}

/** An entry without the fields that depend on its items. */
export type Arrived = Omit<SpoolEntry, 'endpoint' | 'eventId' | 'dropped'>

/** The stored request, for the response. */
export type Taken = {
  /** For the response; null when the request holds no event. */
  readonly eventId: string | null
  /** The 429 that announces limited categories; the rest is stored. Null when nothing was limited. */
  readonly limited: AppError | null
  /** Headers of a 200 that announce limits which this request reached; null for none. */
  readonly announced: Readonly<Record<string, string>> | null
}

/**
 * Stores a single event of the old store endpoint.
 * @throws AppError `invalid` when it cannot be read
 */
export async function takeStore(deps: TakingDeps, arrived: Arrived, key: ProjectKey): Promise<Taken> {
  const { json } = countedIfTooLarge(deps, key, () => decodeStoreBody(arrived.body, arrived.encoding))
  const eventId = eventIdFrom(topLevelString(json, 'event_id')) ?? unhyphenate(newId())
  const { refused, letThrough } = checkEvent(deps, key, { decoded: json, start: 0, end: json.length })
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
  countLetThrough(deps, key, letThrough)
  return { eventId, limited: null, announced: null }
}

type EnvelopeToTake = {
  /** The decoded body, if it was decoded before. */
  readonly decoded: Buffer | null
  /** The project in the path, to be compared with the envelope's own `dsn`. */
  readonly projectNumber: string | null
  readonly maxAttachmentBytes?: number | undefined
}

/**
 * Checks the grammar and items of an envelope and stores it with a list of dropped items.
 * @throws AppError `invalid` when its grammar is broken, `too_large` when every item is over its size limit
 */
export async function takeEnvelope(
  deps: TakingDeps,
  arrived: Arrived,
  key: ProjectKey,
  { decoded: known, projectNumber, maxAttachmentBytes }: EnvelopeToTake,
): Promise<Taken> {
  let hasLooked = false
  const look = (decoded: Buffer) => {
    hasLooked = true
    const envelope = countedIfUnreadable(deps, key, decoded, () => parseEnvelope(decoded))
    checkDsn(envelope.header.dsn, key.publicKey, projectNumber ?? '')
    const checked = checkItems(deps, key, decoded, envelope.items, maxAttachmentBytes)
    return { envelope, checked, eventId: idOf(envelope, decoded) }
  }
  let looked: ReturnType<typeof look>
  try {
    looked = known === null ? await deps.bodies.decode(arrived.body, arrived.encoding, look) : look(known)
  } catch (error) {
    // It decodes to too many bytes, or there is no memory for it at the moment.
    if (!hasLooked) countUnreceived(deps, key, error)
    throw error
  }
  const { envelope, checked, eventId } = looked
  const { dropped, kept } = checked
  for (const { reason } of dropped) deps.counters.dropped[reason]++
  const limited = limitedBy(checked.limited, checked.quotaWait)
  if (kept === 0 && dropped.length > 0) {
    const files = limited === null && eventId !== null ? withoutContents(envelope, eventId) : null
    if (files !== null) {
      // The event of the files names them, when it is stored.
      const noted = { ...arrived, ...files, endpoint: 'envelope' as const, eventId, dropped }
      await countedIfRefused(deps, key, deps.spool.append(noted, key.orgId), () => envelope.items.map(countItem))
      throw tooLarge('Every item of the envelope is over its size limit.')
    }
    countItems(deps, key, envelopeOutcomes(envelope.items, dropped, SECOND_EVENT))
    if (limited === null) throw tooLarge('Every item of the envelope is over its size limit.')
    return { eventId, limited, announced: null }
  }
  const stored = store(deps, { ...arrived, endpoint: 'envelope', eventId, dropped }, key)
  await countedIfRefused(deps, key, stored, () => envelope.items.map(countItem))
  countLetThrough(deps, key, checked.letThrough)
  return {
    eventId,
    limited,
    announced: checked.spent.size === 0 ? null : rateLimitHeaders(keyLimits(checked.spent)),
  }
}

/**
 * An envelope of files only, with their names and sizes instead of their contents; null for another envelope. Files above
 * the limit of size are so few that each may have its item.
 */
function withoutContents({ items }: Envelope, eventId: string): Pick<SpoolEntry, 'body' | 'encoding'> | null {
  if (items.some(({ type, surplus }) => type !== 'attachment' || surplus)) return null
  const files = items.map(({ headers, start, end }) => ({
    type: 'attachment',
    headers: {
      filename: headerText(headers.filename),
      content_type: headerText(headers.content_type),
      attachment_type: headerText(headers.attachment_type),
      refused_length: end - start,
    },
    payload: '',
  }))
  return { body: writeEnvelope({ event_id: eventId }, files), encoding: 'none' }
}

const headerText = (value: unknown): string => (typeof value === 'string' ? value.slice(-2_000) : '')

async function store(deps: TakingDeps, entry: SpoolEntry, key: ProjectKey): Promise<void> {
  await deps.spool.append(entry, key.orgId)
  deps.keys.markSeen(key)
  deps.counters.accepted++
  deps.counters.acceptedBytes += entry.body.length
}

function countLetThrough(deps: TakingDeps, key: ProjectKey, letThrough: LimitCheck['letThrough']): void {
  if (letThrough === null) return
  deps.counters.letThrough++
  deps.rejected.addLetThrough(key.projectId, key.id, letThrough === 'first')
}

/** The 429 for items over their rate limit or over the quota; null when there are none. */
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

/**
 * The header's id, else the payload's, else a new one; null when no item makes an event (docs/protocol.md §4.1 rule
 * 11).
 */
function idOf({ header, items }: Envelope, decoded: Buffer): string | null {
  if (header.eventId !== null) return header.eventId
  const item = items.find(({ type }) => makesEvent(type) || isEventShaped(type))
  if (item === undefined) return null
  // An event over the size limit is dropped anyway, and scanning it would block other requests.
  const isScanned = isEventShaped(item.type) && item.end - item.start <= MAX_EVENT_BYTES
  const inPayload = isScanned ? topLevelString(decoded, 'event_id', item.start, item.end) : null
  return eventIdFrom(inPayload) ?? unhyphenate(newId())
}
