import { categoryOf, type Category } from '../protocol/categories.ts'
import { MOST_EVENT_BYTES } from '../protocol/decode-store.ts'
import type { RawItem } from '../protocol/envelope.ts'
import type { DroppedItem } from '../spool/entry.ts'
import type { RateLimiter } from './limits.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Largest payload by item type (ingest.md §8); types without an entry are bounded by the request alone. */
const MOST_BYTES = new Map<string, number>([
  ['event', MOST_EVENT_BYTES],
  ['transaction', MOST_EVENT_BYTES],
  ['feedback', MOST_EVENT_BYTES],
  ['user_report', MOST_EVENT_BYTES],
  ['raw_security', MOST_EVENT_BYTES],
  ['session', MIB],
  ['sessions', 10 * MIB],
  ['client_report', 100 * KIB],
  ['check_in', 100 * KIB],
  ['attachment', 20 * MIB],
  ['log', 12 * MIB],
  ['trace_metric', 12 * MIB],
  ['span', 12 * MIB],
  ['profile', 50 * MIB],
  ['profile_chunk', 50 * MIB],
  ['replay_event', MIB],
  ['replay_recording', 10 * MIB],
  ['replay_video', 10 * MIB],
])

/** Most items of a type in one envelope. */
const MOST_COUNT = new Map<string, number>([
  ['attachment', 30],
  ['session', 100],
  ['sessions', 100],
  ['client_report', 100],
])

/** What limits need to know of a project key. */
export type LimitedKey = { readonly id: string; readonly ratePerMinute: number | null }

export type Judgement = {
  readonly dropped: readonly DroppedItem[]
  /** Items that go on. */
  readonly kept: number
  /** Categories over their limit, with the seconds to wait. */
  readonly limited: ReadonlyMap<Category, number>
}

const NOTHING: ReadonlyMap<Category, number> = new Map()

/**
 * Judges the items of one envelope by size, number and rate (ingest.md §7.3, §8): what is over a limit is dropped, the
 * rest goes on. Attachments of a rate-limited event go with it, minidumps stay.
 * @param mostAttachmentBytes where an endpoint allows more than an envelope does
 */
export function judgeItems(
  items: readonly RawItem[],
  key: LimitedKey,
  limiter: RateLimiter,
  mostAttachmentBytes?: number,
): Judgement {
  let dropped: DroppedItem[] | null = null
  let limited: Map<Category, number> | null = null
  let counts: Map<string, number> | null = null
  let kept = 0
  const tooLarge = (item: RawItem): boolean =>
    item.type === 'attachment' && mostAttachmentBytes !== undefined
      ? item.end - item.start > mostAttachmentBytes
      : isTooLarge(item)
  const eventWait = waitOfEvent(items, key, limiter)
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    // Surplus events are digestion's to record as such; they are no reason to refuse anything.
    if (item === undefined || item.surplus) continue
    const most = MOST_COUNT.get(item.type)
    if (most !== undefined) {
      const count = ((counts ??= new Map<string, number>()).get(item.type) ?? 0) + 1
      counts.set(item.type, count)
      if (count > most) {
        ;(dropped ??= []).push({ index, reason: 'too_large' })
        continue
      }
    }
    if (tooLarge(item)) {
      ;(dropped ??= []).push({ index, reason: 'too_large' })
      continue
    }
    const category = categoryOf(item.type)
    let wait: number
    if (category === 'error') wait = eventWait
    else if (item.type === 'attachment' && eventWait > 0)
      wait = item.headers.attachment_type === 'event.minidump' ? 0 : eventWait
    else wait = limiter.takeItem(key.id, category, key.ratePerMinute)
    if (wait > 0) {
      ;(dropped ??= []).push({ index, reason: 'rate_limited' })
      // An attachment that goes with its event says nothing about attachments.
      if (item.type !== 'attachment' || eventWait === 0)
        (limited ??= new Map()).set(category, Math.max(limited.get(category) ?? 0, wait))
      continue
    }
    kept++
  }
  return { dropped: dropped ?? [], kept, limited: limited ?? NOTHING }
}

const isTooLarge = (item: RawItem): boolean =>
  item.end - item.start > (MOST_BYTES.get(item.type) ?? Number.POSITIVE_INFINITY)

/** Takes the event first, wherever it stands: attachments before it depend on it as well. */
function waitOfEvent(items: readonly RawItem[], key: LimitedKey, limiter: RateLimiter): number {
  for (const item of items) {
    if (categoryOf(item.type) === 'error' && !item.surplus && !isTooLarge(item))
      return limiter.takeItem(key.id, 'error', key.ratePerMinute)
  }
  return 0
}
