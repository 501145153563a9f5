import type { DroppedItem } from '../spool/entry.ts'

export type DropReason = DroppedItem['reason']

/** Outcomes of items that intake drops, whether or not the rest of their envelope is stored. */
export const DROP_OUTCOMES: Readonly<
  Record<DropReason, { readonly outcome: 'invalid' | 'rate_limited'; readonly reason: string }>
> = {
  too_large: { outcome: 'invalid', reason: 'too_large' },
  /** Over the limit of the key. */
  rate_limited: { outcome: 'rate_limited', reason: 'key' },
  /** Over the limit of the key as well, and inspected: a kind that had arrived before. */
  storm: { outcome: 'rate_limited', reason: 'storm' },
  /** Over the quota of the organisation. */
  quota: { outcome: 'rate_limited', reason: 'organization' },
}

/** Its payload is not looked at here. */
export { announcedCount as claimedQuantity } from '../protocol/container.ts'
