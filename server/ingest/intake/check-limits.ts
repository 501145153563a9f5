import { MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS } from '../../events/attachments/attachment.ts'
import { itemCategory, type Category, type RawItem } from '../../events/protocol/envelope.ts'
import { MAX_EVENT_BYTES } from '../../events/protocol/decode-store.ts'
import { QUOTA_CATEGORIES, type OrgQuota } from '../limits/org-quota.ts'
import { KEY_PER_MINUTE, type RateLimiter } from '../limits/rate-limiter.ts'
import type { EventBytes, FloodSampling } from '../limits/flood-sampling.ts'
import type { DroppedItem } from '../spool/entry.ts'
import { claimedQuantity, type DropReason } from '../outcomes/dropped-items.ts'
import type { ProjectKey } from './project-keys.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Maximum payload by item type (docs/protocol.md §6); other types are bounded by the request only. */
const MAX_BYTES = new Map<string, number>([
  ['event', MAX_EVENT_BYTES],
  ['transaction', MAX_EVENT_BYTES],
  ['feedback', MAX_EVENT_BYTES],
  ['user_report', MAX_EVENT_BYTES],
  ['raw_security', MAX_EVENT_BYTES],
  ['session', MIB],
  ['sessions', 10 * MIB],
  ['client_report', 100 * KIB],
  ['check_in', 100 * KIB],
  ['attachment', MAX_ATTACHMENT_BYTES],
  ['log', 12 * MIB],
  ['nel', MIB],
  ['otlp_logs', 12 * MIB],
  ['otlp_traces', 12 * MIB],
  ['trace_metric', 12 * MIB],
  ['span', 12 * MIB],
  ['profile', 50 * MIB],
  ['profile_chunk', 50 * MIB],
  ['replay_event', MIB],
  ['replay_recording', 10 * MIB],
  ['replay_video', 10 * MIB],
])

/** Maximum items of a type in one envelope. */
const MAX_COUNT = new Map<string, number>([
  ['attachment', MAX_ATTACHMENTS],
  ['session', 100],
  ['sessions', 100],
  ['client_report', 100],
])

/** The fields of a project key that limits read. */
export type LimitedKey = Pick<
  ProjectKey,
  'id' | 'projectId' | 'orgId' | 'ratePerMinute' | 'eventsPerDay' | 'spikeProtection' | 'grouping'
>

/** The limits that an item must pass. */
export type Limits = {
  readonly limiter: RateLimiter
  readonly quota: OrgQuota
  readonly floods: FloodSampling
}

export type LimitCheck = {
  readonly dropped: readonly DroppedItem[]
  /** Number of accepted items. */
  readonly kept: number
  /** Categories over the limit of the key, with the seconds to wait. */
  readonly limited: ReadonlyMap<Category, number>
  /** Seconds to wait for the organisation's quota; 0 when it is not reached. */
  readonly quotaWait: number
  /** Accepted categories that have reached their limit. */
  readonly spent: ReadonlyMap<Category, number>
  /** Set for an event accepted over its limit because its kind is new: `first` of its kind, or `again`. */
  readonly letThrough: 'first' | 'again' | null
}

const NOTHING: ReadonlyMap<Category, number> = new Map()

/** From this share of the limit on, kinds of events are remembered, so that a later flood shows which are new. */
const NEARLY_FULL = 0.5

/** Why an item is dropped and for how long; null when it is accepted. */
type Refused = { readonly reason: DropReason; readonly wait: number } | null
type EventCheck = { readonly refused: Refused; readonly letThrough: LimitCheck['letThrough'] }

const PASSED: EventCheck = { refused: null, letThrough: null }

/**
 * Decides about an error event by the limit of its key, flood sampling, and the quota.
 * @param event its JSON; null without one
 */
export function checkEvent({ limiter, quota, floods }: Limits, key: LimitedKey, event: EventBytes | null): EventCheck {
  const wait = limiter.takeItem(key.id, 'error', key.ratePerMinute)
  const subject = {
    projectId: key.projectId,
    grouping: key.grouping,
    perMinute: key.ratePerMinute ?? KEY_PER_MINUTE,
  }
  let letThrough: LimitCheck['letThrough'] = null
  if (wait > 0) {
    const kind = event === null || !key.spikeProtection ? 'uninspected' : floods.decide(subject, event)
    if (kind === 'known') return { refused: { reason: 'storm', wait }, letThrough }
    if (kind === 'uninspected') return { refused: { reason: 'rate_limited', wait }, letThrough }
    letThrough = kind
  } else if (event !== null && key.spikeProtection) {
    if (limiter.fillOf(key.id, 'error', key.ratePerMinute) >= NEARLY_FULL) floods.observe(subject, event)
  }
  const quotaWait = quota.take(key.orgId, key.eventsPerDay)
  if (quotaWait > 0) return { refused: { reason: 'quota', wait: quotaWait }, letThrough: null }
  return letThrough === null ? PASSED : { refused: null, letThrough }
}

/**
 * Decides about the items of one envelope by size, number and rate (docs/protocol.md §5.2, §6): items over a limit are dropped, the
 * others are accepted. Attachments of a dropped event are dropped with it, minidumps are not.
 * @param maxAttachmentBytes for endpoints that allow more than an envelope
 */
export function checkItems(
  limits: Limits,
  key: LimitedKey,
  decoded: Buffer,
  items: readonly RawItem[],
  maxAttachmentBytes?: number,
): LimitCheck {
  let dropped: DroppedItem[] | null = null
  let limited: Map<Category, number> | null = null
  let spent: Map<Category, number> | null = null
  let counts: Map<string, number> | null = null
  let kept = 0
  let quotaWait = 0
  const tooLarge = (item: RawItem): boolean =>
    item.type === 'attachment' && maxAttachmentBytes !== undefined
      ? item.end - item.start > maxAttachmentBytes
      : isTooLarge(item)
  const event = checkEventOf(limits, key, decoded, items)
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    // Digestion records surplus events; intake does not reject them.
    if (item === undefined || item.surplus) continue
    const max = MAX_COUNT.get(item.type)
    if (max !== undefined) {
      const count = ((counts ??= new Map<string, number>()).get(item.type) ?? 0) + 1
      counts.set(item.type, count)
      if (count > max) {
        ;(dropped ??= []).push({ index, reason: 'too_large' })
        continue
      }
    }
    if (tooLarge(item)) {
      ;(dropped ??= []).push({ index, reason: 'too_large' })
      continue
    }
    const category = itemCategory(item.type)
    // A minidump is a separate crash; the limit of attachments applies to it as well.
    const isDump = item.headers.attachment_type === 'event.minidump'
    const goesWithEvent = item.type === 'attachment' && event.refused !== null && !isDump
    let refused: Refused
    if (category === 'error' || goesWithEvent) refused = event.refused
    else refused = checkOther(limits, key, category, claimedQuantity(item))
    if (refused === null) {
      kept++
      // A container may exceed the limit: announce that, so that the client does not send the next one in vain.
      const wait =
        item.headers.item_count === undefined ? 0 : limits.limiter.waitOf(key.id, category, key.ratePerMinute)
      if (wait > 0) (spent ??= new Map()).set(category, wait)
      continue
    }
    const { reason, wait } = refused
    ;(dropped ??= []).push({ index, reason })
    if (reason === 'quota') quotaWait = Math.max(quotaWait, wait)
    // An attachment dropped with its event is not limited itself.
    else if (!goesWithEvent) (limited ??= new Map()).set(category, Math.max(limited.get(category) ?? 0, wait))
  }
  return {
    dropped: dropped ?? [],
    kept,
    limited: limited ?? NOTHING,
    quotaWait,
    spent: spent ?? NOTHING,
    letThrough: event.letThrough,
  }
}

function checkOther({ limiter, quota }: Limits, key: LimitedKey, category: Category, quantity: number): Refused {
  const wait = limiter.takeItem(key.id, category, key.ratePerMinute, quantity)
  if (wait > 0) return { reason: 'rate_limited', wait }
  const quotaWait = QUOTA_CATEGORIES.includes(category) ? quota.take(key.orgId, key.eventsPerDay) : 0
  return quotaWait > 0 ? { reason: 'quota', wait: quotaWait } : null
}

const isTooLarge = (item: RawItem): boolean =>
  item.end - item.start > (MAX_BYTES.get(item.type) ?? Number.POSITIVE_INFINITY)

/** Checks the event before the other items, in any position: attachments depend on it. */
function checkEventOf(limits: Limits, key: LimitedKey, decoded: Buffer, items: readonly RawItem[]): EventCheck {
  for (const item of items) {
    if (itemCategory(item.type) !== 'error' || item.surplus || isTooLarge(item)) continue
    const { start, end } = item
    return checkEvent(limits, key, item.type === 'event' ? { decoded, start, end } : null)
  }
  return PASSED
}
