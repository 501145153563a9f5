import type { RawItem } from '../protocol/envelope.ts'
import type { DroppedItem } from '../spool/entry.ts'

export type DropReason = DroppedItem['reason']

/** What becomes of items the door refused, whether their envelope went on or not. */
export const DROP_OUTCOMES: Readonly<
  Record<DropReason, { readonly outcome: 'invalid' | 'rate_limited'; readonly reason: string }>
> = {
  too_large: { outcome: 'invalid', reason: 'too_large' },
  /** Over the limit of the key. */
  rate_limited: { outcome: 'rate_limited', reason: 'key' },
  /** The same, and looked at: more of what had come already. */
  storm: { outcome: 'rate_limited', reason: 'storm' },
  /** Over the quota of the organisation. */
  quota: { outcome: 'rate_limited', reason: 'organization' },
}

/** More entries than that nobody puts into one container; a claim must not fill a limit for ever. */
const MOST_ENTRIES = 10_000
/** The shortest an entry can be: `{}`. */
const LEAST_ENTRY_BYTES = 2

/** How many things an item holds, as its header claims (ingest.md §6.3): its payload is not looked at here. */
export function claimedQuantity({ headers, start, end }: Pick<RawItem, 'headers' | 'start' | 'end'>): number {
  const count = headers.item_count
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1) return 1
  return Math.max(1, Math.min(count, MOST_ENTRIES, Math.floor((end - start) / LEAST_ENTRY_BYTES)))
}
